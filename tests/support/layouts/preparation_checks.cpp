#include "support/layouts/preparation_checks.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/share_matrix.hpp"
#include "pipeline/engine/chain.hpp"

namespace workbench {
namespace {

bool same_bits(const HostArray<double>& a, const HostArray<double>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

void check_same(const StagedMatrix& host, const StagedMatrix& other, const std::string& where) {
    CHECK_MESSAGE(host.row_order == other.row_order, where);
    CHECK_MESSAGE(host.column_order == other.column_order, where);
    CHECK_MESSAGE(host.matrix.row_offsets == other.matrix.row_offsets, where);
    CHECK_MESSAGE(host.matrix.column_indices == other.matrix.column_indices, where);
    CHECK_MESSAGE(same_bits(host.matrix.values, other.matrix.values), where);
    CHECK_MESSAGE(host.cuts == other.cuts, where);
    CHECK_MESSAGE(host.shares == other.shares, where);
}

/// The bytes of all arrays of a layout, or the reason why it is unsuitable.
template <ValueType Value>
std::vector<std::string> built(const RecipeLayout& layout, const StagedMatrix& staged) {
    std::vector<std::string> arrays;
    try {
        const auto made = layout.entry->build_for<Value>(staged, layout.parameters);
        for (const LayoutField& field : made->fields()) {
            arrays.emplace_back(static_cast<const char*>(field.data), field.bytes());
        }
    } catch (const Unsuitable& reason) {
        arrays.emplace_back(reason.what());
    }
    return arrays;
}

template <ValueType Value>
void check_layouts(const Recipe& recipe, const StagedMatrix& host, const StagedMatrix& other, const std::string& where) {
    for (const RecipeLayout& layout : recipe.layouts) {
        const std::string name = fmt::format("{}: {}", where, layout.entry->name);
        if (!layout.share) {
            CHECK_MESSAGE(built<Value>(layout, host) == built<Value>(layout, other), name);
            continue;
        }
        const ShareMatrix of_host = matrix_of_share(host, *layout.share, layout.entry->rows_of_share);
        const ShareMatrix of_other = matrix_of_share(other, *layout.share, layout.entry->rows_of_share);
        CHECK_MESSAGE(of_other.staged.preparer == other.preparer, name);
        CHECK_MESSAGE(built<Value>(layout, of_host.staged) == built<Value>(layout, of_other.staged), name);
    }
}

}  // namespace

void check_preparer(Preparer& preparer, const LayoutRecipe& one, const std::string& matrix_name, const CsrMatrix& matrix) {
    if (!one.takes(matrix)) return;
    std::vector<StagedMatrix> after;  // the result of each stage on the host
    RunObserver observer;
    StagedMatrix host = stage_input(matrix, one.recipe.node_size);
    observer.stage_done = [&](const StagedMatrix& staged, StageOutcome&) { after.push_back(staged); };
    (void)run_stages(one.recipe, host, {}, observer);

    StagedMatrix other = stage_input(matrix, one.recipe.node_size);
    other.preparer = &preparer;
    std::size_t stage = 0;
    observer.stage_done = [&](const StagedMatrix& staged, StageOutcome& outcome) {
        check_same(after.at(stage++), staged, fmt::format("{} on {}, {}", one.name, matrix_name, outcome.name));
    };
    (void)run_stages(one.recipe, other, {}, observer);
    check_layouts<double>(one.recipe, host, other, fmt::format("{} on {}", one.name, matrix_name));
    check_layouts<float>(one.recipe, host, other, fmt::format("{} on {} f32", one.name, matrix_name));

    StagedMatrix at_once = stage_input(matrix, one.recipe.node_size);
    at_once.preparer = &preparer;
    (void)apply_stages(one.recipe, at_once, {});
    check_same(host, at_once, fmt::format("{} on {}, stages at once", one.name, matrix_name));
}

}  // namespace workbench
