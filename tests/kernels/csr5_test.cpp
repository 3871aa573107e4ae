// Layout csr5: exact arrays, empty rows and rows that cross tiles, sigma, bytes, and refusals. kernels_test.cpp checks what
// all layouts have in common.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/csr5/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"
#include "support/rows_of_tiles.hpp"

namespace workbench {
namespace {

using HostIndices = HostArray<Index>;
using Offsets = std::vector<Offset>;
using DescriptorWords = std::vector<std::uint32_t>;

constexpr std::uint32_t mark = csr5_mark;

Given sizes(std::int64_t omega, std::int64_t sigma) { return {{"omega", omega}, {"sigma", sigma}}; }

std::unique_ptr<Layout<double>> build_tiles(const CsrMatrix& matrix, const Given& given) {
    return build(csr5_entry(), stage_input(matrix), given);
}

const Csr5<double, HostArray>& csr5(const std::unique_ptr<Layout<double>>& layout) {
    return std::get<0>(dynamic_cast<const Csr5Layout<double>&>(*layout).stored);
}

/// Rows of these lengths with values 1, 2, 3, ...
CsrMatrix numbered_rows(const Offsets& lengths, Index columns = 40) {
    std::vector<Entry> entries;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        for (Index k = 0; k < lengths[row]; ++k) entries.push_back({static_cast<Index>(row), k, 1.0 + entries.size()});
    }
    return csr_from_entries(static_cast<Index>(lengths.size()), columns, entries);
}

/// The fields of all descriptors.
struct Parts {
    DescriptorWords bit_flag, y_offset, seg_offset;

    explicit Parts(const Csr5<double, HostArray>& layout) {
        const int words = csr5_words(layout.sigma);
        for (Offset tile = 0; tile < layout.tile_count(); ++tile) {
            const std::uint32_t* const of_tile = layout.tile_desc.data() + tile * words * layout.omega;
            for (Index lane = 0; lane < layout.omega; ++lane) {
                const Csr5Lane one = unpacked(of_tile[lane], of_tile[(words - 1) * layout.omega + lane], words);
                bit_flag.push_back(one.bit_flag);
                y_offset.push_back(one.y_offset);
                seg_offset.push_back(one.seg_offset);
            }
        }
    }
};

std::vector<double> csr5_product(const Layout<double>& layout, double before, bool accumulate) {
    const std::unique_ptr<Device> host = make_host_device();
    std::vector<double> x;
    for (Index i = 0; i < layout.columns(); ++i) x.push_back(1 + i % 5);
    std::vector<double> y(layout.rows(), before);
    const auto kernel = csr5_entry().kernels.front().prepare.f64(layout, *host);
    for (int times = 0; times < 2; ++times) {
        std::fill(y.begin(), y.end(), before);
        kernel->run(x.data(), y.data(), accumulate);
    }
    return y;
}

/// The product row by row; all values are integers, so it is exact in any order.
std::vector<double> expected(const CsrMatrix& matrix, double before) {
    std::vector<double> y(matrix.rows, before);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            y[row] += matrix.values[k] * (1 + matrix.column_indices[k] % 5);
        }
    }
    return y;
}

void check_whole(const CsrMatrix& matrix, const Given& given) {
    const auto layout = build_tiles(matrix, given);
    CHECK_NOTHROW(check_layout(*layout, matrix));
    CHECK_NOTHROW(check_schedule<double>(*layout, csr5_entry().schedules.front().walk.f64));
    CHECK(csr5_product(*layout, -1, false) == expected(matrix, 0));
    CHECK(csr5_product(*layout, 3, true) == expected(matrix, 3));
}

}  // namespace

TEST_CASE("csr5: the arrays of the 6 x 6 matrix") {
    const auto layout = build_tiles(drawn(), sizes(2, 2));
    const auto& tiles = csr5(layout);
    CHECK(tiles.values == std::vector<double>{1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13});
    CHECK(tiles.column_indices == HostIndices{0, 2, 1, 1, 2, 2, 4, 3, 5, 4, 0, 5, 5});
    CHECK(tiles.row_offsets == Offsets{0, 3, 6, 7, 9, 12, 13});
    CHECK(tiles.tile_ptr == DescriptorWords{0, 1, 3, 5});
    CHECK(tiles.empty_offset_ptr == Offsets{0, 0, 0, 0});
    CHECK(tiles.empty_offset.empty());
    const Parts parts(tiles);
    CHECK(parts.bit_flag == DescriptorWords{1, 2, 0, 3, 2, 0});
    CHECK(parts.y_offset == DescriptorWords{0, 1, 0, 1, 0, 2});
    CHECK(parts.seg_offset == DescriptorWords{0, 0, 0, 0, 1, 0});
    CHECK(tiles.tile_desc == DescriptorWords{1, 65538, 0, 65539, 134217730, 131072});
    CHECK_NOTHROW(check_layout(*layout, drawn()));
}

TEST_CASE("csr5: exactly the tiles with empty rows between their rows are marked") {
    // Tiles of 4: rows 1 1 3 3 | 3 3 7 9 | 10 10 10 10 | 10 12
    const CsrMatrix matrix = numbered_rows({0, 2, 0, 4, 0, 0, 0, 1, 0, 1, 5, 0, 1, 0, 0});
    const auto layout = build_tiles(matrix, sizes(2, 2));
    const auto& tiles = csr5(layout);
    CHECK(tiles.tile_ptr == DescriptorWords{1 | mark, 3 | mark, 10, 10});
    CHECK(tiles.empty_offset_ptr == Offsets{0, 2, 5, 5});
    CHECK(tiles.empty_offset == HostIndices{0, 2, 0, 4, 6});
    const Parts parts(tiles);
    CHECK(parts.bit_flag == DescriptorWords{1, 1, 0, 3, 1, 0});
    CHECK(parts.y_offset == DescriptorWords{0, 1, 0, 1, 0, 1});
    CHECK(parts.seg_offset == DescriptorWords{0, 0, 0, 0, 1, 0});
    const RowsBesideTiles<HostArray> beside = rows_beside_tiles(dynamic_cast<const Csr5Layout<double>&>(*layout));
    CHECK(beside.tail_rows == HostIndices{10, 12});
    CHECK(beside.empty_rows == HostIndices{0, 2, 4, 5, 6, 8, 11, 13, 14});
    check_whole(matrix, sizes(2, 2));
}

TEST_CASE("csr5: a tile that is marked without empty rows between its rows is refused") {
    const auto layout = build_tiles(drawn(), sizes(2, 2));
    auto& tiles = std::get<0>(dynamic_cast<Csr5Layout<double>&>(*layout).stored);
    tiles.tile_ptr[0] |= mark;  // rows 0 and 1
    tiles.empty_offset_ptr = {0, 2, 2, 2};
    tiles.empty_offset = {0, 1};
    const std::string refused = message_of<std::logic_error>([&] { check_layout(*layout, drawn()); });
    CHECK_MESSAGE(refused.find("it is marked, but there are no empty rows between") != std::string::npos, refused);
}

TEST_CASE("csr5: a descriptor that contradicts the rows of its tile is refused") {
    const auto refusal_of = [](void (*change)(Csr5Lane&)) {
        const auto layout = build_tiles(drawn(), sizes(2, 2));
        auto& tiles = std::get<0>(dynamic_cast<Csr5Layout<double>&>(*layout).stored);
        Csr5Lane lane = lane_of_tile(tiles, 0, 1);
        change(lane);
        tiles.tile_desc[1] = packed(lane, csr5_words(2))[0];
        return message_of<std::logic_error>([&] { check_layout(*layout, drawn()); });
    };
    const auto names = [](const std::string& refusal, const char* reason) { return refusal.find(reason) != std::string::npos; };
    CHECK(names(refusal_of([](Csr5Lane& lane) { ++lane.y_offset; }), "y_offset is not the number of segments before"));
    CHECK(names(refusal_of([](Csr5Lane& lane) { ++lane.seg_offset; }),
                "seg_offset is not the number of lanes in which no row begins"));
    CHECK(names(refusal_of([](Csr5Lane& lane) { lane.bit_flag ^= 1U; }), "bit_flag is not where rows begin"));
}

TEST_CASE("csr5: a descriptor has one word up to sigma = 16 and two beyond, and separate bits for each field") {
    for (const Index sigma : csr5_sigmas) {
        const int words = csr5_words(sigma);
        CHECK(words == (sigma <= 16 ? 1 : 2));
        const std::uint64_t flags = (std::uint64_t{1} << sigma) - 1;
        for (const Csr5Lane& lane : {Csr5Lane{static_cast<std::uint32_t>(flags), static_cast<std::uint32_t>(31 * sigma), 0},
                                     Csr5Lane{1U << (sigma - 1), 1, 31}, Csr5Lane{0, 0, 1}}) {
            const auto both = packed(lane, words);
            CHECK(unpacked(both[0], both[words - 1], words) == lane);
            if (words == 1) CHECK(both[1] == 0);
        }
    }
}

TEST_CASE("csr5: products are exact for all row boundaries and tile sizes") {
    for (const std::int64_t omega : {2, 4, 8, 32}) {
        for (const Index sigma : csr5_sigmas) {
            CAPTURE(omega);
            CAPTURE(sigma);
            check_whole(rows_of_tiles(static_cast<Index>(omega) * sigma), sizes(omega, sigma));
        }
    }
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const std::int64_t omega : {2, 4, 32}) {
            const auto layout = build_tiles(named.matrix, sizes(omega, 2));
            CHECK_NOTHROW(check_layout(*layout, named.matrix));
        }
    }
    check_whole(numbered_rows({0, 0, 0}), sizes(2, 2));
    check_whole(numbered_rows({4}), sizes(2, 2));           // one tile, no tail
    check_whole(numbered_rows({3}), sizes(2, 2));           // no tile
    check_whole(numbered_rows({0, 0, 8, 0}), sizes(2, 2));  // two tiles of one row
}

TEST_CASE("csr5: the first warps process the rows of the tail, the others one tile each") {
    const CsrMatrix matrix = numbered_rows(Offsets(70, 3));  // 210 nonzeros: three tiles of 64, and rows 64 to 69
    const auto layout = build_tiles(matrix, sizes(32, 2));
    std::set<std::int64_t> warps;
    for_each_read_of<double>(csr5_entry(), "tiles", *layout, [&](const Read& read) {
        warps.insert(read.warp);
        if (read.index >= 192) {
            CHECK(read.warp == read.row - 64);
            CHECK(read.lane == read.index - std::max<Offset>(192, matrix.row_offsets[read.row]));
        } else {
            CHECK(read.warp == 8 + read.index / 64);  // the six rows of the tail take two whole blocks
            CHECK(read.step == read.index % 64 / 32);
            CHECK(read.lane == read.index % 32);
        }
    });
    CHECK(warps == std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 8, 9, 10});
}

TEST_CASE("csr5: a long row of the tail is read 32 neighbours a step") {
    const CsrMatrix matrix = numbered_rows({64, 3, 60}, 64);  // a tile of 64, and rows 1 and 2
    const auto layout = build_tiles(matrix, sizes(32, 2));
    Offset of_tail = 0;
    for_each_read_of<double>(csr5_entry(), "tiles", *layout, [&](const Read& read) {
        if (read.index < 64) return;
        ++of_tail;
        const Offset place = read.index - (read.row == 1 ? 64 : 67);
        CHECK(read.warp == read.row - 1);
        CHECK(read.lane == place % 32);
        CHECK(read.step == place / 32);
    });
    CHECK(of_tail == 63);
}

TEST_CASE("csr5: one lane zeroes each empty row, and none does if the product is added to y") {
    for (const Offset tail_rows : {0, 1, 4, 6}) {
        for (const Offset tiles : {0, 1, 2, 3, 4}) {
            for (const Index empty : {0, 1, 31, 32, 33, 200}) {
                const RowsBesideTiles<HostArray> beside{HostIndices(tail_rows), HostIndices(empty)};
                struct {
                    Offset tiles;
                    [[nodiscard]] Offset tile_count() const { return tiles; }
                } const csr5{tiles};
                for (const bool accumulate : {false, true}) {
                    const Csr5Grid grid = Csr5Grid::of(csr5, beside, accumulate);
                    Offsets zeroed;
                    for (Offset warp = 0; warp < grid.blocks() * csr5_warps; ++warp) {
                        for (int lane = 0; lane < 32; ++lane) {
                            const Offset row = grid.zeroed_row(warp, lane);
                            if (row < 0) continue;
                            CHECK(warp >= grid.first_tile() + tiles);
                            zeroed.push_back(row);
                        }
                    }
                    Offsets all(accumulate ? 0 : empty);
                    std::iota(all.begin(), all.end(), 0);
                    CHECK(zeroed == all);
                    CHECK(grid.blocks() * csr5_warps >= grid.first_zeroed());
                }
            }
        }
    }
}

TEST_CASE("csr5: sigma by the mean row length") {
    const auto sigma = [](Offset nonzeros) { return csr5_sigma_for(100, nonzeros); };
    CHECK(csr5_sigma_for(0, 0) == 4);
    CHECK(sigma(0) == 4);
    CHECK(sigma(400) == 4);
    CHECK(sigma(599) == 4);
    CHECK(sigma(600) == 6);
    CHECK(sigma(799) == 6);
    CHECK(sigma(800) == 8);
    CHECK(sigma(1500) == 12);
    CHECK(sigma(2399) == 16);
    CHECK(sigma(3199) == 24);
    CHECK(sigma(3200) == 32);
    CHECK(sigma(25600) == 32);
    CHECK(sigma(25601) == 6);
    CHECK(csr5_sigma_for(2000000000, Offset{16} << 30) == 8);
    CHECK(csr5(build_tiles(numbered_rows(Offsets(9, 13)), {})).sigma == 12);
    CHECK(csr5(build_tiles(numbered_rows(Offsets(9, 13)), {})).omega == 32);
}

TEST_CASE("csr5: the bytes of a product, by hand") {
    const auto layout = build_tiles(drawn(), sizes(2, 2));
    const std::int64_t arrays = 7 * 8 + 4 * 4 + 6 * 4 + 4 * 8 + 13 * (4 + 8);
    CHECK(layout->bytes_to_move() == arrays + 8 * (6 + 6));
    // Two elements of row_ptr for the one row of the tail, and its listed number; tile_ptr twice; one sum per tile and row.
    const std::int64_t of_product = arrays + 8 * (6 + 6) - 7 * 8 + 2 * 8 + 4 + 4 * 4 + 2 * 4 * 8;
    const auto& own = dynamic_cast<const Csr5Layout<double>&>(*layout);
    CHECK(csr5_bytes(own, rows_beside_tiles(own)) == of_product);
    const std::unique_ptr<Device> host = make_host_device();
    CHECK(csr5_entry().kernels.front().prepare.f64(*layout, *host)->own_bytes_to_move() == of_product);
    // In f32, 13 values, x, y and the four sums twice have half of their bytes.
    const auto narrow = build<float>(csr5_entry(), stage_input(drawn()), sizes(2, 2));
    CHECK(csr5_entry().kernels.front().prepare.f32(*narrow, *host)->own_bytes_to_move() ==
          of_product - 4 * (13 + 6 + 6 + 2 * 4));
}

TEST_CASE("csr5: sizes without a kernel are refused") {
    const auto refusal = [](const Given& given) {
        const LayoutEntry entry = csr5_entry();
        return message_of<ParameterError>([&] { (void)entry.needs(Parameters(entry.parameters, given)); });
    };
    CHECK(refusal({{"omega", 12_i}}) == "found 12; expected a power of two");
    CHECK(refusal({{"sigma", 7_i}}) == "found 7; expected one of 2, 4, 6, 8, 12, 16, 24, 32");
    const LayoutEntry entry = csr5_entry();
    CHECK(entry.needs(Parameters(entry.parameters, {})).unsplit);
}

TEST_CASE("csr5: equal values are not stored") {
    const LayoutEntry entry = csr5_entry();
    const auto host = make_host_device();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CsrMatrix equal = named.matrix;
        std::fill(equal.values.begin(), equal.values.end(), 3.0);
        const auto layout = build(entry, stage_input(equal), {{"values", std::string("auto")}});
        if (equal.nonzeros() > 0)
            CHECK(layout->notes() == std::vector<std::pair<std::string, std::string>>{{"values", "all are 3; none is stored"}});
        CHECK_NOTHROW(check_layout(*layout, equal));
        for (const ScheduleEntry& schedule : entry.schedules) CHECK_NOTHROW(check_schedule(*layout, schedule.walk.f64));
        std::vector<double> x(equal.columns), y(equal.rows, -1.0);
        for (Index column = 0; column < equal.columns; ++column) x[column] = 1 + column % 5;
        entry.kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
        for (Index row = 0; row < equal.rows; ++row) {
            double expected = 0;
            for (Offset k = equal.row_offsets[row]; k < equal.row_offsets[row + 1]; ++k)
                expected += 3 * x[equal.column_indices[k]];
            CHECK(y[row] == expected);
        }
    }
    CHECK(message_of<ParameterError>([&] {
              (void)entry.needs(Parameters(entry.parameters, {{"values", std::string("one")}, {"sigma", 6_i}}));
          }) == "equal values require that sigma is one of 4, 8, 16, or auto");
}

}  // namespace workbench
