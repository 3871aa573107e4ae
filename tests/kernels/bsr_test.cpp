// Layout bsr: its arrays, its choice of a block size, and refusals. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/block_rows.hpp"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Layout<Value>> build_bsr(const CsrMatrix& matrix, const Given& given) {
    return build<Value>(bsr_entry(), stage_input(matrix), given);
}

template <ValueType Value>
const Bsr<Value, HostArray>& bsr(const std::unique_ptr<Layout<Value>>& layout) {
    return std::get<0>(dynamic_cast<const BsrLayout<Value>&>(*layout).stored);
}

/// With a limit on padding that no matrix exceeds.
Given blocks_of(std::int64_t size) { return {{"block_size", size}, {"slots_per_nonzero", 1e6}}; }

/// The product on the host with a vector that differs everywhere.
template <ValueType Value>
std::vector<Value> product_of(const Layout<Value>& layout) {
    std::vector<Value> x(layout.columns());
    std::vector<Value> y(layout.rows(), -1);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 / static_cast<Value>(i + 3);
    const auto device = make_host_device();
    bsr_entry().kernels.front().prepare.template get<Value>()(layout, *device)->run(x.data(), y.data(), false);
    return y;
}

/// Full blocks of this size on the diagonal and to the right of it.
CsrMatrix blocky(Index size, Index block_rows) {
    std::vector<Entry> entries;
    for (Index row = 0; row < size * block_rows; ++row) {
        for (const Index block : {row / size, (row / size + 1) % block_rows}) {
            for (Index c = 0; c < size; ++c) entries.push_back({row, block * size + c, 1.0 + row});
        }
    }
    return csr_from_entries(size * block_rows, size * block_rows, entries);
}

}  // namespace

TEST_CASE("bsr: the arrays of the 6 x 6 matrix") {
    const auto layout = build_bsr<double>(drawn(), {{"block_size", std::int64_t{2}}});
    const auto& blocks = bsr(layout);
    CHECK(blocks.block_offsets == std::vector<Index>{0, 3, 5, 7});
    CHECK(blocks.block_columns == std::vector<Index>{0, 1, 2, 1, 2, 0, 2});
    CHECK(blocks.values ==
          std::vector<double>{1, 2, 0, 4, 3, 0, 5, 0, 0, 0, 6, 0, 7, 0, 0, 8, 0, 0, 0, 9, 10, 0, 0, 0, 11, 12, 0, 13});
}

TEST_CASE("bsr: blocks exceed the edge if the block size does not divide the matrix") {
    // Rows 0 to 4, columns 0 to 6, blocks of 3.
    const CsrMatrix matrix = csr_from_entries(5, 7, std::vector<Entry>{{0, 6, 1}, {1, 2, 2}, {1, 3, 3}, {4, 6, 4}});
    const auto layout = build_bsr<double>(matrix, blocks_of(3));
    const auto& blocks = bsr(layout);
    CHECK(blocks.block_offsets == std::vector<Index>{0, 3, 4});
    CHECK(blocks.block_columns == std::vector<Index>{0, 1, 2, 2});
    CHECK(blocks.values == std::vector<double>{0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0,
                                               1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0});
    Offset outside = 0;
    layout->for_each_slot([&](const Slot& slot) {
        const bool beyond_rows = slot.index >= 27 && slot.index % 9 >= 6;
        const bool beyond_columns = slot.index >= 18 && slot.index % 3 >= 1;
        CHECK((slot.row == -1) == beyond_rows);
        CHECK((slot.column == -1) == beyond_columns);
        CHECK(slot.column_index == slot.index / 9);
        outside += beyond_rows || beyond_columns ? 1 : 0;
    });
    CHECK(outside == 13);
}

TEST_CASE("bsr: every block size keeps the contract on the battery") {
    for (const Index size : {2, 3, 4, 5, 6, 7, 8, 11, 16, 17, 32}) {
        for (const NamedMatrix& named : battery()) {
            CAPTURE(size);
            CAPTURE(named.name);
            const auto layout = build_bsr<float>(named.matrix, blocks_of(size));
            CHECK_NOTHROW(check_layout(*layout, named.matrix));
            CHECK_NOTHROW(check_schedule(*layout, bsr_entry().schedules.front().walk.f32));
        }
    }
}

TEST_CASE("bsr: the lanes of blocks of any size, in short and long block rows") {
    for (Index size = 2; size <= largest_block; ++size) {
        for (const Offset blocks : {0, 100, 250, 1000, 100000}) {
            const BsrLanes lanes = bsr_lanes(size, 100, blocks);
            CHECK(lanes.tile == lanes.rows_at_once * size);
            CHECK(lanes.tile * lanes.blocks_at_once * lanes.groups_per_warp <= 32);
            CHECK(lanes.blocks_at_once >= 1);
            CHECK((lanes.rows_at_once == size || lanes.blocks_at_once == 1));
        }
    }
    CHECK(bsr_lanes(2, 100, 100).groups_per_warp == 8);
    CHECK(bsr_lanes(2, 100, 2000).blocks_at_once == 8);
    CHECK(bsr_lanes(3, 100, 2700).blocks_at_once == 3);
    CHECK(bsr_lanes(3, 100, 200).groups_per_warp == 3);
    CHECK(bsr_lanes(6, 100, 2000).rows_at_once == 5);
    CHECK(bsr_lanes(8, 100, 2000).tile == 32);
}

TEST_CASE("bsr: auto takes the size with the fewest bytes") {
    for (Index size = 2; size <= 8; ++size) {
        CAPTURE(size);
        const CsrMatrix matrix = blocky(size, 30);
        const auto layout = build_bsr<double>(matrix, {});
        CHECK(bsr(layout).block_size == size);
        CHECK(bsr(layout).values.size() == static_cast<std::size_t>(matrix.nonzeros()));
    }
    CHECK(bsr(build_bsr<float>(csr_from_entries(0, 0, {}), {})).block_size == 2);

    // Eight full blocks of 6 x 6, and six single entries. Blocks of 2: 78, in 42 rows; of 3: 38, in 28 rows. So f32 has
    // 78 * 20 + 43 * 4 = 1732 and 38 * 40 + 29 * 4 = 1636 bytes, f64 has 78 * 36 + 172 = 2980 and 38 * 76 + 116 = 3004.
    std::vector<Entry> entries;
    for (Index row = 0; row < 48; ++row) {
        for (Index c = 0; c < 6; ++c) entries.push_back({row, row / 6 * 6 + c, 1});
    }
    for (Index row = 48; row < 84; row += 6) entries.push_back({row, row, 1});
    const CsrMatrix matrix = csr_from_entries(84, 84, entries);
    CHECK(bsr(build_bsr<float>(matrix, {})).block_size == 3);
    CHECK(bsr(build_bsr<double>(matrix, {})).block_size == 2);
}

TEST_CASE("bsr: the footprint is Wikberg's eq. 4.3") {
    for (const NamedMatrix& named : battery()) {
        const auto layout = build_bsr<double>(named.matrix, blocks_of(3));
        const auto blocks = static_cast<std::int64_t>(bsr(layout).block_columns.size());
        const std::int64_t block_rows = (std::int64_t{named.matrix.rows} + 2) / 3;
        const std::int64_t vectors = 8 * (std::int64_t{named.matrix.rows} + named.matrix.columns);
        CHECK(layout->bytes_to_move() == 8 * blocks * 9 + 4 * (block_rows + 1 + blocks) + vectors);
    }
}

TEST_CASE("bsr: mostly padding is refused with the figures and the parameters") {
    std::vector<Entry> entries;
    for (Index i = 0; i < 300; ++i) entries.push_back({i, i * 7 % 300, 1});
    const CsrMatrix matrix = csr_from_entries(300, 300, entries);
    const auto with = [&](std::int64_t size, double slots_per_nonzero) {
        return message_of<Unsuitable>([&] {
            (void)build_bsr<double>(matrix, {{"block_size", size}, {"slots_per_nonzero", slots_per_nonzero}});
        });
    };
    CHECK(
        with(3, 8.5) ==
        "300 blocks of 3 x 3 would have 2700 slots for 300 nonzeros: 9 a nonzero, but at most 8.5 are allowed; smaller blocks "
        "(block_size) have fewer, and slots_per_nonzero allows more");
    CHECK(with(3, 9) == "nothing was thrown");
}

TEST_CASE("bsr: products are right for every block size, including blocks that exceed the edge") {
    const auto device = make_host_device();
    const LayoutEntry entry = bsr_entry();
    for (Index size = 2; size <= largest_block; ++size) {
        CAPTURE(size);
        const CsrMatrix matrix = blocky(5, 9);  // 45 rows
        const auto layout = build_bsr<double>(matrix, blocks_of(size));
        std::vector<double> x(45);
        std::vector<double> y(45, -1);
        std::vector<double> expected(45, 0);
        for (Index i = 0; i < 45; ++i) x[i] = i * i + 1;
        for (Index row = 0; row < 45; ++row) {
            for (const Index column : matrix.row_columns(row)) expected[row] += (1.0 + row) * x[column];
        }
        entry.kernels.front().prepare.f64(*layout, *device)->run(x.data(), y.data(), false);
        CHECK(y == expected);
    }
}

TEST_CASE("bsr: a code of 16 bits stands for the values of a block, which the CUDA kernel of all schedules reads") {
    // Blocks A B / - A.
    const std::vector<Entry> entries{{0, 0, 1}, {0, 1, 2}, {1, 1, 3}, {0, 2, 4}, {1, 3, -0.0}, {2, 2, 1}, {2, 3, 2}, {3, 3, 3}};
    const CsrMatrix matrix = csr_from_entries(4, 4, entries);
    const Given coded{{"block_size", 2_i}, {"values", std::string("dictionary")}};
    const auto layout = build_bsr<double>(matrix, coded);
    const auto& blocks = std::get<1>(dynamic_cast<const BsrLayout<double>&>(*layout).stored);
    CHECK(blocks.block_columns == std::vector<Index>{0, 1, 1});
    CHECK(blocks.values.codes == std::vector<std::uint16_t>{0, 1, 0});
    // By ascending bits. No block is padding.
    CHECK(blocks.values.dictionary == std::vector<double>{1, 2, 0, 3, 4, 0, 0, -0.0});
    CHECK(layout->bytes_to_move() == 3 * 4 + 3 * (4 + 2) + 8 * 8 + 8 * (4 + 4));
    CHECK_NOTHROW(check_layout(*layout, matrix));
    // Thread i has row i, block after block.
    std::vector<Offset> reads;
    for_each_read_of<double>(bsr_entry(), "groups", *layout, [&](const Read& read) {
        CHECK(read.lane == read.row);
        reads.push_back(read.index);
    });
    CHECK(reads == std::vector<Offset>{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 10, 11});
    for (const NamedMatrix& named : battery()) {
        const auto full = build_bsr<float>(named.matrix, blocks_of(2));
        Given all = blocks_of(2);
        all.emplace("values", std::string("dictionary"));
        CHECK(product_of(*build_bsr<float>(named.matrix, all)) == product_of(*full));
    }
}

TEST_CASE("bsr: auto takes codes where the blocks are those of nodes, and few") {
    const LayoutEntry entry = bsr_entry();
    const auto choice = [&](Index node_size, Given given) {
        given.emplace("values", std::string("auto"));
        return entry.settled(Parameters(entry.parameters, given), drawn(), Precision::f64, node_size).text("values");
    };
    CHECK(choice(2, {{"block_size", 2_i}}) == "dictionary");
    CHECK(choice(2, {{"block_size", 3_i}}) == "full");
    CHECK(choice(2, {}) == "full");  // the size is not known yet
    CHECK(choice(1, {{"block_size", 2_i}}) == "full");
}

TEST_CASE("bsr: kernels that write whole blocks of y take no rows of a share") {
    for (const KernelEntry& kernel : bsr_entry().kernels) {
        CAPTURE(kernel.name);
        CHECK_FALSE(static_cast<bool>(kernel.prepare_rows.f32));
        CHECK_FALSE(static_cast<bool>(kernel.prepare_rows.f64));
    }
    CHECK(static_cast<bool>(csr_entry().kernels.front().prepare_rows.f64));
}

}  // namespace workbench
