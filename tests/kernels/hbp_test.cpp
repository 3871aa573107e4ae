// Layout hbp: exact arrays, rows that are split, merged or empty, bytes, and refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/formats/hbp/check.hpp"
#include "kernels/formats/hbp/layout.hpp"
#include "kernels/formats/hbp/placement.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "stages/stages.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

using HostIndices = HostArray<Index>;
using HostOffsets = HostArray<Offset>;
using SmallNumbers = std::vector<std::uint8_t>;
using Masks = std::vector<std::uint32_t>;

StagedMatrix in_tiles(CsrMatrix matrix, std::int64_t height, std::int64_t width) {
    StagedMatrix staged = stage_input(std::move(matrix));
    pass(staged, row_blocks_stage(), {{"height", height}});
    pass(staged, column_segmentation_stage(), {{"width", width}});
    return staged;
}

StagedMatrix hashed(StagedMatrix staged) {
    pass(staged, nonlinear_hash_stage(), {{"within", std::string("tile")}});
    return staged;
}

template <ValueType Value = double>
std::unique_ptr<Layout<Value>> build_hbp(const StagedMatrix& staged, const Given& given = {}) {
    return build<Value>(hbp_entry(), staged, given);
}

using WideHbp = Hbp<double, Index, HostArray>;

const HbpLayout<double>& hbp_layout(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const HbpLayout<double>&>(*layout);
}

const WideHbp& as_hbp(const std::unique_ptr<Layout<double>>& layout) { return std::get<WideHbp>(hbp_layout(layout).stored); }

/// The thread and step that read each entry. [nonzeros]
std::vector<Read> readers(const Layout<double>& layout) {
    std::vector<Read> of_entry(layout.nonzeros());
    for_each_read_of<double>(hbp_entry(), "fixed", layout, [&](const Read& read) { of_entry[read.index] = read; });
    return of_entry;
}

/// Row i has i % 7 nonzeros, so some rows are empty.
CsrMatrix ragged(Index rows, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index k = 0; k < row % 7; ++k) entries.push_back({row, (row * 3 + k * 5) % columns, 1.0 + row + 0.5 * k});
    }
    return csr_from_entries(rows, columns, entries);
}

std::vector<double> hbp_product(const Layout<double>& layout, bool accumulate = false) {
    const std::unique_ptr<Device> host = make_host_device();
    std::vector<double> x;
    for (Index i = 0; i < layout.columns(); ++i) x.push_back(i + 1);
    std::vector<double> y(layout.rows(), -1);
    hbp_entry().kernels.front().prepare.f64(layout, *host)->run(x.data(), y.data(), accumulate);
    return y;
}

/// The product computed from the matrix.
std::vector<double> hbp_product(const CsrMatrix& matrix, bool accumulate = false) {
    std::vector<double> y;
    for (Index row = 0; row < matrix.rows; ++row) {
        double sum = accumulate ? -1 : 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            sum += matrix.values[i] * (matrix.column_indices[i] + 1);
        }
        y.push_back(sum);
    }
    return y;
}

/// Row i has lengths[i] nonzeros, from column i on, continued at column 0.
CsrMatrix with_lengths(const HostIndices& lengths, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < static_cast<Index>(lengths.size()); ++row) {
        for (Index k = 0; k < lengths[row]; ++k) entries.push_back({row, (row + k) % columns, 1.0 + row + 8 * k});
    }
    return csr_from_entries(static_cast<Index>(lengths.size()), columns, entries);
}

void check_right(const StagedMatrix& staged, const Given& given) {
    const auto layout = build_hbp(staged, given);
    CHECK_NOTHROW(check_layout(*layout, staged.matrix));
    CHECK(hbp_product(*layout) == hbp_product(staged.matrix));
    CHECK(hbp_product(*layout, true) == hbp_product(staged.matrix, true));
}

}  // namespace

TEST_CASE("hbp: the arrays of the 6 x 6 matrix") {
    const auto layout = build_hbp(hashed(in_tiles(drawn(), 3, 3)), {{"row_limit", 2_i}, {"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.chunk_batches == HostIndices{0, 1, 2, 3, 4});
    CHECK(hbp.chunk_columns == HostIndices{0, 4, 0, 3});
    CHECK(hbp.begin_ptr == HostOffsets{0, 6, 7, 8, 13});
    CHECK(hbp.batch_rows == HostIndices{0, 4, 5, 6, 9});
    CHECK(hbp.zero_row == Masks{0xfffffff0, 0xfffffffe, 0xfffffffe, 0xfffffff8});
    CHECK(hbp.column_indices == HostIndices{2, 1, 0, 1, 2, 2, 0, 0, 2, 0, 1, 2, 2});
    CHECK(hbp.data == std::vector<double>{7, 4, 1, 2, 5, 3, 6, 10, 13, 8, 11, 9, 12});
    CHECK(hbp.add_sign == SmallNumbers{0, 3, 3, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0});
    CHECK(hbp.output_order == HostIndices{2, ~0, 0, 0, ~2, ~1, 5, 3, ~3});
    CHECK(hbp.absent_rows == HostIndices{});
    CHECK(hbp.merge_rows == HostIndices{0, 2});
    CHECK(hbp.merge_results == HostIndices{0, 4});
    CHECK(hbp.merged_rows == HostIndices{1, 4});
    CHECK(hbp.merged_counts == HostIndices{2, 2});
    CHECK_NOTHROW(check_layout(*layout, drawn()));
}

TEST_CASE("hbp: entries are stored by step and then by lane, in batches of 32 rows") {
    const CsrMatrix matrix = ragged(100, 60);
    const auto layout = build_hbp(hashed(in_tiles(matrix, 80, 60)), {{"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.batch_rows == HostIndices{0, 32, 64, 68, 85});  // the two tiles have 68 and 17 nonempty rows
    CHECK_NOTHROW(check_layout(*layout, matrix));
    for (Index chunk = 0; chunk < hbp.chunk_count(); ++chunk) {
        HbpEntryOwner before;
        for (const HbpEntryOwner& owner : owners_of_hbp_chunk(hbp, chunk)) {
            const bool new_batch = owner.k == 0 && std::count(hbp.batch_rows.begin(), hbp.batch_rows.end(), owner.stored) == 1;
            CHECK((new_batch || owner.k > before.k || (owner.k == before.k && owner.stored > before.stored)));
            before = owner;
        }
    }
}

TEST_CASE("hbp: a warp reads a chunk, 32 adjacent entries per step from a multiple of 32 on") {
    for (const std::int64_t chunk_limit : {std::int64_t{1}, std::int64_t{200}, std::int64_t{1} << 20}) {
        const auto layout = build_hbp(in_tiles(ragged(1300, 60), 1250, 60),
                                      {{"column_index", std::string("u32")}, {"chunk_limit", chunk_limit}});
        const WideHbp& hbp = as_hbp(layout);
        REQUIRE(hbp.chunk_count() > 3);
        REQUIRE(hbp.begin_ptr[hbp.chunk_batches[1]] % 32 != 0);
        Offset entry = 0;
        Index chunk = 0;
        for (const Read& read : readers(*layout)) {
            while (entry >= hbp.begin_ptr[hbp.chunk_batches[chunk + 1]]) ++chunk;
            CHECK(read.index == entry);
            CHECK(read.lane == entry % 32);
            CHECK(read.warp == chunk);
            CHECK(read.step == entry / 32 - hbp.begin_ptr[hbp.chunk_batches[chunk]] / 32);
            ++entry;
        }
    }
}

TEST_CASE("hbp: chunks are whole batches of one tile, up to the limit of entries and at most 16") {
    HostIndices lengths(32 * 20, 1);             // 20 batches of 32 nonzeros
    lengths.insert(lengths.end(), 32, 3);        // one batch of 96
    lengths.insert(lengths.end(), {200, 1, 1});  // one batch of 202
    const CsrMatrix matrix = with_lengths(lengths, 300);
    const auto chunks = [&](std::int64_t height, std::int64_t chunk_limit) {
        const Given given{{"chunk_limit", chunk_limit}, {"column_index", std::string("u32")}};
        check_right(in_tiles(matrix, height, 300), given);
        const auto layout = build_hbp(in_tiles(matrix, height, 300), given);
        return as_hbp(layout).chunk_batches;
    };
    CHECK(chunks(1000, 100000) == HostIndices{0, 16, 22});
    CHECK(chunks(1000, 128) == HostIndices{0, 4, 8, 12, 16, 20, 21, 22});
    CHECK(chunks(1000, 127) == HostIndices{0, 3, 6, 9, 12, 15, 18, 20, 21, 22});
    CHECK(chunks(1000, 160) == HostIndices{0, 5, 10, 15, 20, 21, 22});
    CHECK(chunks(1000, 161) == HostIndices{0, 5, 10, 15, 20, 21, 22});
    CHECK(chunks(1000, 394) == HostIndices{0, 12, 21, 22});
    CHECK(chunks(1000, 31).size() == 23);
    CHECK(chunks(1000, 1).size() == 23);
    CHECK(chunks(32 * 3, 1000) == HostIndices{0, 3, 6, 9, 12, 15, 18, 21, 22});
}

TEST_CASE("hbp: blocks of rows are placed in parallel unless their chunks are apart") {
    using Chunks = std::vector<std::size_t>;
    CHECK(hbp_block_chunks({}) == Chunks{0, 0});
    CHECK(hbp_block_chunks({4}) == Chunks{0, 1});
    CHECK(hbp_block_chunks({0, 0, 1, 3, 3, 3}) == Chunks{0, 2, 3, 6});
    CHECK(hbp_block_chunks({0, 1, 0, 1}) == Chunks{0, 4});  // two threads would write the results of one row
    CHECK(hbp_block_chunks({0, 2, 1, 3}) == Chunks{0, 4});
}

TEST_CASE("hbp: chunks are distributed to warps by their entries") {
    const HostOffsets first_entries = hbp_first_entries({0, 1, 3, 4, 5, 6}, {0, 500, 600, 1000, 1500, 1600, 2000});
    CHECK(first_entries == HostOffsets{0, 500, 1000, 1500, 1600, 2000});
    CHECK(deal_hbp_chunks(first_entries, 5, 1) == HostIndices{0, 5});
    CHECK(deal_hbp_chunks(first_entries, 5, 2) == HostIndices{0, 2, 5});
    CHECK(deal_hbp_chunks(first_entries, 5, 4) == HostIndices{0, 1, 2, 3, 5});
    CHECK(deal_hbp_chunks(first_entries, 3, 3) == HostIndices{0, 1, 2, 3});
    CHECK(deal_hbp_chunks(first_entries, 0, 2) == HostIndices{0, 0, 0});
    CHECK(deal_hbp_chunks({0}, 0, 3) == HostIndices{0, 0, 0, 0});
    // A chunk costs its entries plus 192: six chunks with one entry each cost 1158, the one with 600 costs 792.
    CHECK(deal_hbp_chunks({0, 600, 601, 602, 603, 604, 605, 606}, 7, 2) == HostIndices{0, 2, 7});
    for (const Index warps : {7, 64, 4224}) {
        const HostIndices deals = deal_hbp_chunks(first_entries, 5, warps);
        CHECK(deals.size() == static_cast<std::size_t>(warps) + 1);
        CHECK(deals.front() == 0);
        CHECK(deals.back() == 5);
        for (Index warp = 0; warp < warps; ++warp) {
            CHECK(deals[warp] <= deals[warp + 1]);
            CHECK(deals[warp + 1] <= deals[warp] + 1);  // with at least as many warps as chunks, no warp has two
        }
    }
}

TEST_CASE("hbp: columns are relative to the smallest of their chunk") {
    const CsrMatrix matrix = with_lengths(HostIndices(70, 2), 100);  // the nonzeros of row i begin at column i
    const auto layout = build_hbp(in_tiles(matrix, 70, 100), {{"chunk_limit", 64_i}, {"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.chunk_columns == HostIndices{0, 32, 64});
    CHECK(hbp.column_indices[64] == 0);
    CHECK(hbp.column_indices[65] == 1);
    CHECK(hbp.column_indices.back() == 6);
}

TEST_CASE("hbp: lanes read in the order of their steps, the same way in all kernels") {
    const auto layout = build_hbp(hashed(in_tiles(ragged(400, 60), 200, 30)));
    std::vector<Read> of_fixed;
    std::map<std::pair<std::int64_t, int>, std::int64_t> last;
    for_each_read_of<double>(hbp_entry(), "fixed", *layout, [&](const Read& read) {
        const auto [lane, is_first] = last.try_emplace({read.warp, read.lane}, -1);
        CHECK(read.step > lane->second);
        lane->second = read.step;
        of_fixed.push_back(read);
    });
    CHECK(of_fixed.size() == static_cast<std::size_t>(layout->nonzeros()));
    for (const char* kernel : {"competitive", "mixed"}) {
        std::vector<Read> reads;
        for_each_read_of<double>(hbp_entry(), kernel, *layout, [&](const Read& read) { reads.push_back(read); });
        CHECK(reads == of_fixed);
    }
}

TEST_CASE("hbp: the entries of a long row are distributed to several stored rows in turn") {
    const CsrMatrix matrix = with_lengths({7, 1, 3}, 9);
    const auto layout = build_hbp(in_tiles(matrix, 3, 9), {{"row_limit", 3_i}, {"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.output_order == HostIndices{0, 0, 0, 1, 2});
    CHECK(hbp.data == std::vector<double>{1, 9, 17, 2, 3, 25, 33, 41, 11, 49, 19});
    CHECK(hbp.add_sign == SmallNumbers{5, 5, 5, 0, 4, 4, 0, 0, 2, 0, 0});
    CHECK(hbp.column_indices == HostIndices{0, 1, 2, 1, 2, 3, 4, 5, 3, 6, 4});
    check_right(in_tiles(matrix, 3, 9), {{"row_limit", 3_i}});
}

TEST_CASE("hbp: up to 32 stored rows of one row are in one batch") {
    HostIndices lengths(30, 1);
    lengths.push_back(6);       // three stored rows, after 30 stored rows of the batch
    lengths.push_back(64);      // 32 stored rows
    lengths.push_back(2 * 70);  // 70 stored rows
    lengths.push_back(2);
    const StagedMatrix staged = in_tiles(with_lengths(lengths, 200), 40, 200);
    const auto layout = build_hbp(staged, {{"row_limit", 2_i}, {"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.batch_rows == HostIndices{0, 30, 33, 65, 97, 129, 136});
    CHECK(std::count(hbp.output_order.begin(), hbp.output_order.end(), 30) == 3);
    CHECK(std::count(hbp.output_order.begin(), hbp.output_order.end(), 31) == 32);
    CHECK(hbp.merged_rows == HostIndices{32});
    CHECK(hbp.merged_counts == HostIndices{3});
    CHECK(hbp.output_order.back() == 33);
    check_right(staged, {{"row_limit", 2_i}});
}

TEST_CASE("hbp: rows in one tile are written to y, rows in several have partial results, rows in no tile are listed") {
    // Segments of 10 columns: row 0 is in all four, row 1 in one, row 2 in none, row 3 in two.
    std::vector<Entry> entries;
    for (const Index column : {0, 5, 12, 25, 33}) entries.push_back({0, column, column + 1.0});
    entries.push_back({1, 7, 2});
    entries.push_back({3, 18, 3});
    entries.push_back({3, 39, 4});
    const StagedMatrix staged = in_tiles(csr_from_entries(4, 40, entries), 2, 10);
    const auto layout = build_hbp(staged, {{"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.absent_rows == HostIndices{2});
    CHECK(hbp.merged_rows == HostIndices{0, 3});
    CHECK(hbp.merged_counts == HostIndices{4, 2});
    CHECK(hbp.merge_rows == HostIndices{0, 2});
    CHECK(hbp.merge_results == HostIndices{0, 6});
    CHECK(hbp.output_order == HostIndices{~0, 1, ~2, ~4, ~5, ~1, ~3});
    check_right(staged, {});
}

TEST_CASE("hbp: a row with more than 32 partial results is merged separately, other rows in groups of 32") {
    HostIndices lengths(70, 2);  // two segments each, except for row 3, which is in all 40
    lengths[3] = 40;
    std::vector<Entry> entries;
    for (Index row = 0; row < 70; ++row) {
        for (Index k = 0; k < lengths[row]; ++k) entries.push_back({row, (row == 3 ? k : row % 20 + 20 * k), 1.0 + k});
    }
    const StagedMatrix staged = in_tiles(csr_from_entries(70, 40, entries), 7, 1);
    const auto layout = build_hbp(staged, {{"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.merge_rows == HostIndices{0, 32, 64, 69, 70});
    CHECK(hbp.merge_results == HostIndices{0, 64, 128, 138, 178});
    CHECK(hbp.merged_rows.back() == 3);
    CHECK(hbp.merged_counts.back() == 40);
    check_right(staged, {});
}

TEST_CASE("hbp: a row of 32 partial results is merged with others, one of 33 on its own") {
    std::vector<Entry> entries;
    for (const auto& [row, count] : {std::pair<Index, Index>{0, 31}, {1, 32}, {2, 33}, {3, 2}, {4, 1}}) {
        for (Index k = 0; k < count; ++k) entries.push_back({row, k, 1.0 + k});
    }
    const StagedMatrix staged = in_tiles(csr_from_entries(5, 40, entries), 5, 1);
    const auto layout = build_hbp(staged, {{"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.merged_rows == HostIndices{0, 1, 3, 2});
    CHECK(hbp.merged_counts == HostIndices{31, 32, 2, 33});
    CHECK(hbp.merge_rows == HostIndices{0, 3, 4});
    CHECK(hbp.merge_results == HostIndices{0, 65, 98});
    check_right(staged, {});
}

TEST_CASE("hbp: products are right for all tiles and limits") {
    for (const auto& [row_limit, chunk_limit] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {2, 40}, {5, 100}, {128, 1024}}) {
        for (const std::int64_t width : {7, 60}) {
            for (const std::int64_t height : {3, 64, 300}) {
                check_right(hashed(in_tiles(ragged(300, 60), height, width)),
                            {{"row_limit", row_limit}, {"chunk_limit", chunk_limit}});
            }
        }
    }
}

TEST_CASE("hbp: empty rows of a share are marked, and their result is 0") {
    const CsrMatrix matrix = csr_from_entries(4, 3, std::vector<Entry>{{0, 0, 2}, {2, 0, 3}, {2, 1, 4}, {2, 2, 5}});
    StagedMatrix staged = stage_input(matrix);
    staged.cuts = {{CutKind::row_block, {0, 4}}, {CutKind::segment, {0, 2, 3}}};
    staged.shares = {Share{{ShareKind::tile, 0, 0}, {3, 2, 1, 0}, {0, 0, 2, 2, 3}, {1, 2, 0}},
                     Share{{ShareKind::tile, 0, 1}, {2, 0}, {0, 1, 1}, {3}}};
    CHECK_NOTHROW(check_invariants(staged, matrix));
    const auto layout = build_hbp(staged, {{"column_index", std::string("u32")}});
    const WideHbp& hbp = as_hbp(layout);
    CHECK(hbp.zero_row == Masks{0xfffffff5, 0xfffffffe});
    CHECK(hbp.data == std::vector<double>{3, 2, 4, 5});
    CHECK(hbp.add_sign == SmallNumbers{2, 0, 0, 0});
    CHECK_NOTHROW(check_layout(*layout, matrix));
    CHECK(hbp_product(*layout) == std::vector<double>{2, 0, 3 + 8 + 15, 0});
}

TEST_CASE("hbp: the widest chunk for columns of 16 bits") {
    constexpr Index columns = 65536;
    const StagedMatrix fits =
        in_tiles(csr_from_entries(1, columns + 9, std::vector<Entry>{{0, 9, 2}, {0, columns + 8, 1}}), 1, columns + 9);
    const auto is_narrow = [](const StagedMatrix& staged, const char* column_index) {
        const auto layout = build_hbp(staged, {{"column_index", std::string(column_index)}});
        check_layout(*layout, staged.matrix);
        return !std::holds_alternative<WideHbp>(hbp_layout(layout).stored);
    };
    CHECK(is_narrow(fits, "auto"));
    CHECK(is_narrow(fits, "u16"));
    CHECK_FALSE(is_narrow(fits, "u32"));
    const StagedMatrix wide =
        in_tiles(csr_from_entries(1, columns + 9, std::vector<Entry>{{0, 8, 2}, {0, columns + 8, 1}}), 1, columns + 9);
    CHECK_FALSE(is_narrow(wide, "auto"));
    CHECK_FALSE(is_narrow(wide, "u32"));
    CHECK(
        message_of<Unsuitable>([&] { (void)is_narrow(wide, "u16"); }) ==
        "the nonzeros of a chunk of tile 0,0 span 65537 columns, but columns of 16 bits span 65536: make segments narrower, or "
        "set column_index = \"auto\"");
}

TEST_CASE("hbp: shares that are not the nonzeros of a tile are an internal error") {
    StagedMatrix staged = in_tiles(drawn(), 3, 3);
    SUBCASE("a share with entries in another segment") { staged.cuts[1].boundaries = {0, 2, 6}; }
    SUBCASE("a row in two shares of one tile") {
        staged = in_tiles(drawn(), 3, 6);
        staged.shares.push_back(Share{{ShareKind::tile, 0, 0}, {0}, {0, 1}, {1}});
        staged.shares[0] = Share{{ShareKind::tile, 0, 0}, {0, 1, 2}, {0, 2, 5, 6}, {0, 2, 3, 4, 5, 6}};
        CHECK_THROWS_AS(check_invariants(staged, drawn()), std::logic_error);
    }
    CHECK_THROWS_AS((void)build_hbp(staged), std::logic_error);
}

TEST_CASE("hbp: a tampered array is detected without invalid reads") {
    const StagedMatrix staged = hashed(in_tiles(drawn(), 3, 3));
    const auto layout = build_hbp(staged, {{"row_limit", 2_i}, {"column_index", std::string("u32")}});
    auto& hbp = const_cast<WideHbp&>(as_hbp(layout));
    const auto refuses = [&](auto& array) {
        for (const Offset change : {Offset{-1}, Offset{1}, Offset{2}, Offset{1} << 30}) {
            for (auto& element : array) {
                const auto before = element;
                element = static_cast<std::remove_reference_t<decltype(element)>>(element + change);
                if (element != before) CHECK_THROWS_AS(check_layout(*layout, staged.matrix), std::logic_error);
                element = before;
            }
        }
    };
    CHECK_NOTHROW(check_layout(*layout, staged.matrix));
    refuses(hbp.chunk_batches);
    refuses(hbp.chunk_columns);
    refuses(hbp.begin_ptr);
    refuses(hbp.batch_rows);
    refuses(hbp.zero_row);
    refuses(hbp.column_indices);
    refuses(hbp.data);
    refuses(hbp.add_sign);
    refuses(hbp.output_order);
    refuses(hbp.merge_rows);
    refuses(hbp.merge_results);
    refuses(hbp.merged_rows);
    refuses(hbp.merged_counts);
    hbp.absent_rows.push_back(2);
    CHECK_THROWS_AS(check_layout(*layout, staged.matrix), std::logic_error);
}

TEST_CASE("hbp: bytes count every partial result twice") {
    const auto layout = build_hbp(hashed(in_tiles(drawn(), 3, 3)), {{"row_limit", 2_i}, {"column_index", std::string("u32")}});
    const std::int64_t tiles = 5 * 4 + 4 * 4 + 5 * 8 + 5 * 4 + 4 * 4 + 13 * (4 + 8 + 1) + 9 * 4;
    const std::int64_t arrays = tiles + 4 * (2 + 2 + 2 + 2);
    CHECK(layout->bytes_to_move() == arrays + 8 * (6 + 6));
    CHECK(hbp_layout(layout).bytes_of_product() == arrays + 8 * (6 + 6) + 2 * 4 * 8);
    const std::unique_ptr<Device> host = make_host_device();
    CHECK(hbp_entry().kernels.front().prepare.f64(*layout, *host)->own_bytes_to_move() ==
          hbp_layout(layout).bytes_of_product());
}

TEST_CASE("hbp: its needs, and the share of the chunks that is distributed in advance") {
    const Needs needs = hbp_entry().needs({});
    CHECK(needs.cuts == std::vector<CutKind>{CutKind::row_block, CutKind::segment});
    CHECK(needs.shares == std::vector<ShareChoice>{{ShareKind::tile}});
    const StagedMatrix staged = in_tiles(drawn(), 3, 3);
    CHECK(as_hbp(build_hbp(staged, {{"column_index", std::string("u32")}})).fixed_chunks == 2);
    CHECK(as_hbp(build_hbp(staged, {{"fixed_share", 0.0}, {"column_index", std::string("u32")}})).fixed_chunks == 0);
    CHECK(as_hbp(build_hbp(staged, {{"fixed_share", 1.0}, {"column_index", std::string("u32")}})).fixed_chunks == 4);
}

}  // namespace workbench
