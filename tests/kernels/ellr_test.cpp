// Layout ellr and PELLR, which is ellr after row_sort: the arrays, and the iterations of the warps (PELLR eq. 1).
// kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include <map>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/metrics.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/layouts/layout_recipes.hpp"

namespace workbench {
namespace {

std::unique_ptr<Layout<double>> build_ellr(const StagedMatrix& staged, double slots_per_nonzero = 200) {
    return build(ellr_entry(), staged, {{"slots_per_nonzero", slots_per_nonzero}});
}

/// The number of steps of all warps in the schedule: each warp takes as many as its longest row has nonzeros.
Offset iterations(const Layout<double>& layout) {
    std::map<std::int64_t, std::int64_t> of_warps;
    for_each_read_of<double>(ellr_entry(), "rows", layout, [&](const Read& read) {
        std::int64_t& steps = of_warps[read.warp];
        steps = std::max(steps, read.step + 1);
    });
    Offset sum = 0;
    for (const auto& [warp, steps] : of_warps) sum += steps;
    return sum;
}

const LayoutRecipe& pellr() {
    for (const LayoutRecipe& one : layout_recipes()) {
        if (one.name == "pellr") return one;
    }
    throw std::runtime_error("tests/layouts has no pellr.toml");
}

const RowsOfShape<ellr_shape, double, HostArray>& arrays_of(const Layout<double>& layout) {
    return std::get<0>(dynamic_cast<const EllrLayout<double>&>(layout).stored);
}

}  // namespace

TEST_CASE("ellr: the arrays of the 6 x 6 matrix") {
    const auto built = build_ellr(stage_input(drawn()));
    const RowsOfShape<ellr_shape, double, HostArray>& ellr = arrays_of(*built);
    CHECK(ellr.row_lengths == std::vector<Index>{3, 3, 1, 2, 3, 1});
    CHECK(ellr.values == std::vector<double>{1, 4, 7, 8, 10, 13, 2, 5, 0, 9, 11, 0, 3, 6, 0, 0, 12, 0});
    CHECK(ellr.column_indices == std::vector<Index>{0, 1, 2, 3, 0, 5, 1, 2, -1, 5, 4, -1, 2, 4, -1, -1, 5, -1});
    CHECK(built->bytes_to_move() == 6 * 4 + 18 * (4 + 8) + 8 * (6 + 6));
}

TEST_CASE("ellr: bytes to move exclude the padding") {
    const LayoutEntry entry = ellr_entry();
    const auto layout = build_ellr(stage_input(drawn()));
    const auto host = make_host_device();
    const auto kernel = entry.kernels.front().prepare.f64(*layout, *host);
    CHECK(kernel->own_bytes_to_move() == 6 * 4 + 13 * (4 + 8) + 8 * (6 + 6));
}

TEST_CASE("ellr: the warps take as many iterations as in equation 1, for any order") {
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CHECK(iterations(*build_ellr(stage_input(named.matrix))) == warp_iterations(named.matrix.row_offsets));
        const StagedMatrix sorted = pellr().stage(named.matrix);
        CHECK(iterations(*build_ellr(sorted)) == sorted_warp_iterations(named.matrix.row_offsets));
    }
}

TEST_CASE("pellr: all rows are sorted by descending length, and columns keep their order") {
    const StagedMatrix staged = pellr().stage(drawn());
    CHECK(std::vector<Index>(staged.row_order.old_of_new().begin(), staged.row_order.old_of_new().end()) ==
          std::vector<Index>{0, 1, 4, 3, 2, 5});
    CHECK(staged.column_order.is_identity());
    const auto built = build_ellr(staged);
    CHECK(arrays_of(*built).row_lengths == std::vector<Index>{3, 3, 3, 2, 1, 1});
}

TEST_CASE("ellr: too much padding is refused with the figures") {
    std::vector<Entry> entries;
    for (Index i = 0; i < 40; ++i) entries.push_back({3, i, 1});
    const CsrMatrix matrix = csr_from_entries(40, 40, entries);
    CHECK_NOTHROW((void)build_ellr(stage_input(matrix), 40));
    CHECK(message_of<Unsuitable>([&] {
              (void)build_ellr(stage_input(matrix), 39);
          }).find("40 rows as wide as the longest (40) would have 1600 slots for 40 nonzeros: 40 a nonzero, but at most 39") ==
          0);
}

}  // namespace workbench
