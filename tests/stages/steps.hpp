// Shared by the tests of stages: the run of one stage, and small matrices.
#pragma once

#include <string>
#include <vector>

#include "core/contract/stage.hpp"
#include "core/matrix/staged_matrix.hpp"
#include "support/given.hpp"

namespace workbench {

using Indices = std::vector<Index>;
using Offsets = std::vector<Offset>;

/// A stage's contract and result, and the matrix after it.
struct Step {
    StageContract contract;
    StageResult result;
    StagedMatrix after;

    [[nodiscard]] Indices order() const;
    [[nodiscard]] std::string note(const std::string& what) const;
};

[[nodiscard]] StageContract contract_of(const StageEntry& stage, const Given& given);

[[nodiscard]] Step run(const StageEntry& stage, const Given& given, const StagedMatrix& before,
                       const StageContext& context = {});

/// A matrix from the columns of each row; the value at (i, j) is 10 i + j + 1.
[[nodiscard]] CsrMatrix matrix_of(Index columns, const std::vector<Indices>& rows);

[[nodiscard]] CsrMatrix diagonal(Index size);

/// Row lengths 1, 3, 0, 2, 4, 1; column lengths 3, 2, 1, 2, 1, 2; row lengths inside the diagonal halves 1, 2, 0, 1, 2, 1.
/// Nonzeros 0 | 1 2 3 | | 4 5 | 6 7 8 9 | 10.
[[nodiscard]] CsrMatrix six_rows();

[[nodiscard]] StagedMatrix six_rows_cut_at(Indices boundaries);

[[nodiscard]] CsrMatrix find_in_battery(const std::string& name);

}  // namespace workbench
