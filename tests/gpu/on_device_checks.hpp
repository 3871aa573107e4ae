// Compares what a GPU prepares with the stages and the layout on the host.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/planned_matrix.hpp"
#include "core/input/generators/generators.hpp"
#include "core/matrix/share_matrix.hpp"
#include "gpu/on_device_recipes.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/device_plan_of.hpp"
#include "support/given.hpp"

namespace workbench {

/// A matrix on the device, with row offsets of 32 or 64 bits.
template <ValueType Value>
struct OnDevice {
    OnDevice(Device& device, const CsrMatrix& matrix, bool long_offsets) {
        const std::vector<std::int32_t> narrow(matrix.row_offsets.begin(), matrix.row_offsets.end());
        const std::vector<Value> rounded(matrix.values.begin(), matrix.values.end());
        offsets = long_offsets ? to_device(device, std::span<const Offset>(matrix.row_offsets), "row offsets")
                               : to_device(device, std::span<const std::int32_t>(narrow), "row offsets");
        columns = to_device(device, std::span<const Index>(matrix.column_indices), "columns");
        values = to_device(device, std::span<const Value>(rounded), "values");
        view = {.rows = matrix.rows,
                .columns = matrix.columns,
                .nonzeros = matrix.nonzeros(),
                .row_offsets = offsets.address(),
                .long_offsets = long_offsets,
                .column_indices = columns.as<const Index>(),
                .values = values.template as<const Value>()};
    }
    DeviceMemory offsets, columns, values;
    CsrOnDevice<Value> view;
};

inline DevicePlan plan_of(const Recipe& recipe) {
    const auto plan = device_plan_of(recipe);
    if (const auto* reason = std::get_if<std::string>(&plan)) FAIL(*reason);
    return std::get<DevicePlan>(plan);
}

/// The order, the arrays and the kernel of a recipe on the device equal those of the host.
template <ValueType Value>
void check_like_host(Device& device, const std::string& text, const CsrMatrix& matrix, const std::string& where) {
    CAPTURE(text);
    CAPTURE(where);
    const Recipe recipe = parsed(text);
    const OnDevice<Value> there(device, matrix, matrix.rows % 2 == 0);
    const auto sliced = run_plan(device, plan_of(recipe), there.view);
    CHECK(sliced->difference(there.view) == "");

    StagedMatrix staged = stage_input(matrix, recipe.node_size);
    (void)apply_stages(recipe, staged, stage_context(recipe, precision_of<Value>, &device.properties()));
    const Cuts* const parts = staged.find_cuts(CutKind::partition);
    CHECK(sliced->facts().partition == (parts == nullptr ? std::vector<Index>() : parts->boundaries));
    CHECK(std::ranges::equal(sliced->row_order(), staged.row_order.old_of_new()));
    CHECK(std::ranges::equal(sliced->column_order(), staged.column_order.old_of_new()));
    std::int64_t bytes = 0;
    for (const RecipeLayout& layout : recipe.layouts) {
        ShareMatrix share;
        if (layout.share) share = matrix_of_share(staged, *layout.share, layout.entry->rows_of_share);
        const auto built = layout.entry->build_for<Value>(layout.share ? share.staged : staged, layout.parameters);
        for (const LayoutField& field : built->fields()) {
            if (!field.is_array()) continue;
            const std::string name = (layout.share ? name_of(*layout.share) + " " : "") + field.name;
            const std::vector<std::byte> found = sliced->array(name);
            const auto* const expected = static_cast<const std::byte*>(field.data);
            CHECK_MESSAGE(std::ranges::equal(found, std::span(expected, field.bytes())), name);
        }
        bytes += built->array_bytes() + std::ssize(share.rows) * static_cast<std::int64_t>(sizeof(Index));
    }
    CHECK(sliced->facts().bytes == bytes);
    if (!matrix.square()) return;

    std::vector<Value> diagonal(static_cast<std::size_t>(matrix.rows));
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            if (matrix.column_indices[k] == row) diagonal[row] = static_cast<Value>(matrix.values[k]);
        }
    }
    CHECK(sliced->diagonal(there.view) == diagonal);
}

/// Likewise, unless both refuse the matrix.
template <ValueType Value>
void check_like_host_or_refused(Device& device, const std::string& text, const CsrMatrix& matrix, const std::string& where) {
    const Recipe recipe = parsed(text);
    const RecipeLayout& layout = recipe.layouts.front();
    StagedMatrix staged = stage_input(matrix, recipe.node_size);
    try {
        (void)layout.entry->build_for<Value>(staged, layout.parameters);
    } catch (const Unsuitable&) {
        const OnDevice<Value> there(device, matrix, true);
        CHECK_THROWS_AS((void)run_plan(device, plan_of(recipe), there.view), Unsuitable);
        return;
    }
    check_like_host<Value>(device, text, matrix, where);
}

/// The reason why a recipe is left to the host, or "".
inline std::string left_to_host(Device& device, const std::string& text, const CsrMatrix& matrix) {
    const OnDevice<double> there(device, matrix, true);
    try {
        (void)run_plan(device, plan_of(parsed(text)), there.view);
    } catch (const Unsuitable& reason) {
        return reason.what();
    }
    return "";
}

inline CsrMatrix generated(const std::string& generator, const Given& given) {
    for (const GeneratorEntry& each : generators()) {
        if (each.name == generator) return each.generate(Parameters(each.parameters, given));
    }
    return {};
}

}  // namespace workbench
