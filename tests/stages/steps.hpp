// Shared by the tests of the stages: one stage run on a matrix, and small matrices to run it on.
#pragma once

#include <string>
#include <vector>

#include "pipeline/contract/stage.hpp"
#include "pipeline/matrix/staged_matrix.hpp"
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

/// Rows given by their columns; the value at (i, j) is 10 i + j + 1.
[[nodiscard]] CsrMatrix matrix_of(Index columns, const std::vector<Indices>& rows);

[[nodiscard]] CsrMatrix diagonal(Index size);

/// Lengths 1, 3, 0, 2, 4, 1 in rows; 3, 2, 1, 2, 1, 2 in columns; inside the halves 1, 2, 0, 1, 2, 1 in rows.
/// Nonzeros 0 | 1 2 3 | | 4 5 | 6 7 8 9 | 10.
[[nodiscard]] CsrMatrix six_rows();

[[nodiscard]] StagedMatrix six_rows_cut_at(Indices boundaries);

[[nodiscard]] CsrMatrix find_in_battery(const std::string& name);

}  // namespace workbench
