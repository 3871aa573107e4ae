// Layout ehyb: exact arrays, and refused partitions and shares. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/formats/ehyb/layout.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/partitioned.hpp"

namespace workbench {
namespace {

CsrMatrix diagonal(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) entries.push_back({i, i, 1});
    return csr_from_entries(size, size, entries);
}

}  // namespace

TEST_CASE("ehyb: the arrays of the 6 x 6 matrix") {
    const LayoutEntry entry = ehyb_entry();
    const auto built = build(entry, partitioned(drawn(), {0, 3, 6}));
    const auto& layout = std::get<0>(dynamic_cast<const EhybLayout<double>&>(*built).stored);
    CHECK(layout.partition_rows == std::vector<Index>{0, 3, 6});
    CHECK(layout.inside_group_slices == std::vector<Index>{0, 1, 2});
    CHECK(layout.inside.slice_offsets == std::vector<Offset>{0, 96, 160});
    const auto inside = [&](Offset first) {
        std::vector<std::pair<double, int>> slots;
        for (Offset slot = first; slot < first + 3; ++slot) {
            slots.emplace_back(layout.inside.values[slot], layout.inside.column_indices[slot]);
        }
        return slots;
    };
    using Slots = std::vector<std::pair<double, int>>;
    CHECK(inside(0) == Slots{{1, 0}, {4, 1}, {7, 2}});
    CHECK(inside(32) == Slots{{2, 1}, {5, 2}, {0, 2}});
    CHECK(inside(64) == Slots{{3, 2}, {0, 2}, {0, 2}});
    CHECK(inside(96) == Slots{{8, 0}, {11, 1}, {13, 2}});
    CHECK(inside(128) == Slots{{9, 2}, {12, 2}, {0, 2}});
    CHECK(layout.outside_rows == std::vector<Index>{1, 4});
    CHECK(layout.outside.slice_offsets == std::vector<Offset>{0, 32});
    CHECK(layout.outside.values[0] == 6);
    CHECK(layout.outside.values[1] == 10);
    CHECK(layout.outside.column_indices[0] == 4);
    CHECK(layout.outside.column_indices[1] == 0);
}

TEST_CASE("ehyb: the footprint is the arrays, padding included") {
    const auto ehyb = build(ehyb_entry(), partitioned(drawn(), {0, 3, 6}));
    CHECK(ehyb->bytes_to_move() == 3 * 3 * 4 + 3 * 8 + 160 * (2 + 8) + 2 * 4 + 2 * 8 + 32 * (4 + 8) + 8 * (6 + 6));
}

TEST_CASE("ehyb: refusals state the figure and the parameter") {
    SUBCASE("a partition beyond 16 bits") {
        const auto whole = [](const CsrMatrix& matrix) { return partitioned(matrix, {0, 0, matrix.rows}); };
        const CsrMatrix fits = diagonal(65536);
        const CsrMatrix matrix = diagonal(65537);
        CHECK_NOTHROW(check_layout(*build(ehyb_entry(), whole(fits)), fits));
        CHECK_NOTHROW(check_layout(*build(ehyb_entry(), whole(matrix), {{"column_index", "u32"}}), matrix));
        CHECK(message_of<Unsuitable>([&] { (void)build(ehyb_entry(), whole(matrix)); }) ==
              "partition 1 has 65537 columns, but columns of 16 bits reach 65536: raise parts of metis_partition, or set "
              "column_index = \"u32\"");
    }
    SUBCASE("an order of storage inside the partition") {
        StagedMatrix staged = partitioned(drawn(), {0, 3, 6});
        reverse_rows(staged.shares[0]);
        CHECK(message_of<Unsuitable>([&] { (void)build(ehyb_entry(), staged); }).find("within = \"partition\"") !=
              std::string::npos);
    }
    SUBCASE("a third share") {
        StagedMatrix staged = partitioned(drawn(), {0, 3, 6});
        staged.shares.push_back(staged.shares[1]);
        staged.shares[1] = {.id = {ShareKind::outside}, .rows = {}, .entries = {}};
        staged.shares[2].id = {ShareKind::rest};
        CHECK(message_of<Unsuitable>([&] { (void)build(ehyb_entry(), staged); }).find("hold 11 of 13 nonzeros") !=
              std::string::npos);
    }
    SUBCASE("an entry of share inside that lies outside its partition") {
        StagedMatrix staged = partitioned(drawn(), {0, 6});
        staged.cuts[0].boundaries = {0, 3, 6};
        CHECK_THROWS_AS((void)build(ehyb_entry(), staged), std::logic_error);
    }
}

TEST_CASE("ehyb: its needs") {
    const Needs ehyb = ehyb_entry().needs({});
    CHECK(ehyb.square);
    CHECK(ehyb.cuts == std::vector<CutKind>{CutKind::partition});
    CHECK(ehyb.shares == std::vector<ShareChoice>{{ShareKind::inside}, {ShareKind::outside}});
}

}  // namespace workbench
