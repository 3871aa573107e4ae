// A hybrid: each share of the nonzeros in a layout of its own, built, and measured alone and together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"
#include "pipeline/run/build.hpp"
#include "pipeline/run/hybrid_kernel.hpp"

namespace workbench {

/// One share in its layout.
template <ValueType Value>
struct BuiltShare {
    ShareId share;
    std::vector<Index> rows;  // as in ShareMatrix
    Index present = 0;        // rows with nonzeros
    BuiltTwice<Value> built;  // empty where it is unsuitable
    LayoutOutcome outcome;
};

/// Builds the layout of each share. Each nonzero goes into exactly one of them, or std::logic_error is thrown. A layout that
/// the share does not suit says so in its outcome. `problem` null, and `keeping`: as in build_twice.
template <ValueType Value>
[[nodiscard]] std::vector<BuiltShare<Value>> build_shares(const Recipe& recipe, const StagedMatrix& staged,
                                                          const ExactProblem* problem, const Clock& clock,
                                                          const std::function<void(const std::string&)>& announce,
                                                          const Keeping& keeping = {});

/// All layouts of a hybrid as if they were one: their arrays with the names of their shares before them.
template <ValueType Value>
[[nodiscard]] LayoutOutcome outcome_of_whole(const Recipe& recipe, const std::vector<BuiltShare<Value>>& shares);

/// y = A x from some of the shares, each with its kernel, as something to measure; as HybridKernel, side by side or not.
/// `kernels` are those of the shares; all of it must outlive what is measured.
template <ValueType Value>
[[nodiscard]] Candidate<Value> candidate_of(std::span<const BuiltShare<Value>> shares,
                                            std::span<const KernelEntry* const> kernels, const CsrMatrix& matrix,
                                            const ProductSpace& space, bool side_by_side);

}  // namespace workbench
