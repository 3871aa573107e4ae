// Checks of a layout's kernels on a device, for the GPU tests.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/measure/measure.hpp"
#include "support/given.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/layouts/staircase.hpp"

namespace workbench {

/// Verifies the products of each kernel of the backend: exact and bounded, with several x, with a new y and added to y.
/// `build` makes the layout from a staged matrix. Throws Unsuitable if `build` does.
template <ValueType Value, typename Build>
std::vector<KernelOutcome> try_kernels(const LayoutEntry& entry, Backend backend, const CsrMatrix& input,
                                       const StagedMatrix& staged, const Build& build, Device& device,
                                       ExactValues kind = ExactValues::by_place) {
    const TimingOptions one_sample{CacheState::warm, 1, 0, 0};
    const Oracle<Value> oracle(input);
    const auto space = std::make_shared<const ProductSpace>(staged.row_order, staged.column_order);
    StagedMatrix integers = staged;
    integers.matrix.values = oracle.exact(kind).problem.values_of(staged.matrix, staged.row_order, staged.column_order);
    const std::shared_ptr<const Layout<Value>> exact = build(integers);
    const std::shared_ptr<const Layout<Value>> real = build(staged);
    std::vector<KernelOutcome> outcomes;
    for (const KernelEntry& kernel : entry.kernels) {
        if (kernel.backend != backend) continue;
        const Candidate<Value> candidate{
            .shares = {{&kernel, {.real = real, .exact = exact}}}, .space = space, .exact_values = kind};
        outcomes.push_back(Verifier<Value>{device, &oracle}.measure(candidate, one_sample));
    }
    return outcomes;
}

/// Like above, for a matrix in the input's order.
template <ValueType Value>
std::vector<KernelOutcome> try_kernels(const LayoutEntry& entry, Backend backend, const StagedMatrix& staged,
                                       const Given& given, Device& device) {
    const auto builder = [&](const StagedMatrix& matrix) { return build<Value>(entry, matrix, given); };
    return try_kernels<Value>(entry, backend, staged.matrix, staged, builder, device);
}

inline void check_verified(const std::vector<KernelOutcome>& outcomes, const std::string& layout, const std::string& matrix) {
    CHECK_MESSAGE(!outcomes.empty(), layout);
    for (const KernelOutcome& outcome : outcomes) {
        CHECK_MESSAGE(outcome.verified(), fmt::format("{} {} on {}: {}", layout, outcome.kernel, matrix, outcome.reason));
    }
}

/// Checks that all kernels of the layout suit the matrix and are right.
template <ValueType Value>
void check_cuda_kernels(const LayoutEntry& entry, const std::string& name, const StagedMatrix& staged, const Given& given,
                        Device& device) {
    check_verified(try_kernels<Value>(entry, Backend::cuda, staged, given, device), entry.name, name);
}

/// Checks that all CUDA kernels of the recipe's layout are right, if the recipe suits the matrix.
template <ValueType Value>
void check_recipe(const LayoutRecipe& one, const std::string& name, const CsrMatrix& matrix, Device& device) {
    if (!one.takes(matrix)) return;
    const StagedMatrix staged = one.stage(matrix);
    const auto builder = [&](const StagedMatrix& each) { return one.build_like<Value>(staged.matrix, each); };
    try {
        check_verified(
            try_kernels<Value>(one.layout(), Backend::cuda, matrix, staged, builder, device, exact_values_of(one.recipe)),
            one.name, name);
    } catch (const Unsuitable& reason) {
        MESSAGE(fmt::format("{} on {} is unsuitable: {}", one.name, name, reason.what()));
    }
}

/// Checks that a hybrid's GPU kernels are right, together and for each share alone, if the recipe suits the matrix. The
/// kernels are those of the recipe, otherwise the `turn`-th CUDA or cuSPARSE kernel of each layout.
template <ValueType Value>
void check_hybrid(const LayoutRecipe& one, int turn, const std::string& name, const CsrMatrix& matrix, Device& device) {
    if (!one.takes(matrix)) return;
    StagedMatrix staged = one.stage(matrix);
    const Oracle<Value> oracle(matrix);
    const auto space = std::make_shared<const ProductSpace>(staged.row_order, staged.column_order);
    const BuiltLayouts<Value> built = build_layouts<Value>(one.recipe, staged, {.exact = oracle.exact_problems()});
    std::vector<const KernelEntry*> kernels;
    for (const RecipeLayout& layout : one.recipe.layouts) {
        std::vector<const KernelEntry*> candidates;
        for (const KernelEntry& kernel : layout.entry->kernels) {
            const auto chosen = layout.kernels.find(kernel.backend);
            const bool fits = chosen == layout.kernels.end() || chosen->second == kernel.name;
            if (device_of(kernel.backend) == DeviceKind::gpu && fits) candidates.push_back(&kernel);
        }
        REQUIRE(!candidates.empty());
        kernels.push_back(candidates[turn % candidates.size()]);
    }
    const TimingOptions one_sample{CacheState::warm, 1, 0, 0};
    const auto check = [&](const Candidate<Value>& candidate, const Oracle<Value>& right, const std::string& what) {
        const KernelOutcome outcome = Verifier<Value>{device, &right}.measure(candidate, one_sample);
        // cuSPARSE does not support every matrix.
        const bool may_refuse = std::any_of(kernels.begin(), kernels.end(),
                                            [](const KernelEntry* kernel) { return kernel->backend == Backend::cusparse; });
        CHECK_MESSAGE((outcome.verified() || (may_refuse && outcome.status == KernelOutcome::Status::unsuitable)),
                      fmt::format("{}, {} {} on {}: {}", one.name, what, outcome.kernel, name, outcome.reason));
    };
    check(built.candidate(kernels, space, one.recipe.side_by_side), oracle, "all shares");
    for (std::size_t i = 0; i < built.shares.size(); ++i) {
        const auto& [share, layout, facts] = built.shares[i];
        const Oracle<Value> of_share(oracle, share_of_input(staged, *share), built.exact_values);
        check(built.candidate_of_share(i, kernels, space), of_share, facts.share);
    }
}

/// Checks that the layout's kernels of this backend are right with rows in the order of Staircase SELL.
template <ValueType Value>
void check_staircase(const LayoutEntry& entry, Backend backend, const std::string& name, const CsrMatrix& matrix, Index height,
                     double alpha, Device& device) {
    const StagedMatrix staged = staircase_of(matrix, height, alpha);
    const auto builder = [&](const StagedMatrix& each) {
        return build<Value>(entry, each, {{"slice_height", std::int64_t{height}}});
    };
    const std::string all = fmt::format("{}, slice height {}, alpha {}", name, height, alpha);
    check_verified(try_kernels<Value>(entry, backend, matrix, staged, builder, device), entry.name, all);
}

inline const std::vector<Index>& slice_heights() {
    static const std::vector<Index> heights{32, 1, 2, 7, 64, 100};
    return heights;
}

inline const std::vector<std::pair<Index, Index>>& block_shapes() {
    static const std::vector<std::pair<Index, Index>> shapes{{8, 8}, {32, 4}, {1, 1}, {5, 3}, {100, 7}};
    return shapes;
}

inline Given slice_height(Index height) { return {{"slice_height", std::int64_t{height}}}; }
inline Given sigma_of(Index sigma) { return {{"sigma", std::int64_t{sigma}}}; }
inline Given threads_per_row(Index threads, Index height) {
    return {{"threads_per_row", std::int64_t{threads}}, {"slice_height", std::int64_t{height}}};
}
inline Given blocks_of(Index size) { return {{"block_size", std::int64_t{size}}, {"slots_per_nonzero", 1e6}}; }
inline Given blocks_of(Index height, Index width) {
    return {{"block_height", std::int64_t{height}}, {"block_width", std::int64_t{width}}, {"slots_per_nonzero", 1e6}};
}
inline Given column_index(const char* word) { return {{"column_index", std::string(word)}}; }

}  // namespace workbench
