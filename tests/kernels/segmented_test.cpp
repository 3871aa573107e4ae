// Layout segmented: exact arrays of the drawn matrix in all four formats, refusals, and the order of its blocks.
#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/segmented/layout.hpp"
#include "kernels/reads.hpp"
#include "stages/stages.hpp"
#include "support/drawn_matrix.hpp"
#include "support/free_memory.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

using Indices = std::vector<Index>;
using Offsets = std::vector<Offset>;

StagedMatrix in_segments(const CsrMatrix& matrix, std::int64_t width) {
    StagedMatrix staged = stage_input(matrix);
    pass(staged, column_segmentation_stage(), {{"width", width}});
    return staged;
}

StagedMatrix sorted_in_segments(const CsrMatrix& matrix, std::int64_t width) {
    StagedMatrix staged = in_segments(matrix, width);
    pass(staged, row_sort_stage(), {{"within", "segment"}});
    return staged;
}

StagedMatrix non_uniform(const CsrMatrix& matrix) {
    StagedMatrix staged = stage_input(matrix);
    pass(staged, column_sort_stage(), {});
    pass(staged, column_segmentation_stage(), {{"method", "non_uniform"}, {"segment_count", 1_i}, {"segment_size", 2_i}});
    pass(staged, row_sort_stage(), {{"within", "segment"}});
    return staged;
}

template <ValueType Value = double>
std::unique_ptr<Layout<Value>> build_segmented(const StagedMatrix& staged, const Given& given) {
    return build<Value>(segmented_entry(), staged, given);
}

const SegmentedLayout<double>& segmented(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const SegmentedLayout<double>&>(*layout);
}

using WideJagged = Segmented<JaggedPieces, double, Index, HostArray>;
using NarrowJagged = Segmented<JaggedPieces, double, std::uint16_t, HostArray>;
using WideSlices = Segmented<SlicedPieces, double, Index, HostArray>;

std::string refusal(const StagedMatrix& staged, const Given& given) {
    return message_of<Unsuitable>([&] { (void)build_segmented(staged, given); });
}

void check_rows(const SegmentRows<HostArray>& layout, const Indices& segment_columns, const std::vector<Offset>& piece_starts,
                const Indices& stored_rows, const std::vector<Offset>& row_starts, const std::vector<Offset>& row_places) {
    CHECK(std::equal(layout.segment_columns.begin(), layout.segment_columns.end(), segment_columns.begin(),
                     segment_columns.end()));
    CHECK(std::equal(layout.piece_starts.begin(), layout.piece_starts.end(), piece_starts.begin(), piece_starts.end()));
    CHECK(layout.stored_rows == stored_rows);
    CHECK(std::equal(layout.row_starts.begin(), layout.row_starts.end(), row_starts.begin(), row_starts.end()));
    CHECK(std::equal(layout.row_places.begin(), layout.row_places.end(), row_places.begin(), row_places.end()));
}

void check_segments_of_three(const SegmentRows<HostArray>& layout) {
    check_rows(layout, {0, 3, 6}, {0, 4, 8}, {0, 1, 2, 4, 3, 4, 1, 5}, {0, 1, 3, 4, 5, 7, 8}, {0, 1, 6, 2, 4, 3, 5, 7});
}

void check_jagged(const WideJagged& jagged, const std::vector<Offset>& group_diagonals,
                  const std::vector<Offset>& diagonal_offsets, const std::vector<double>& values, const Indices& columns) {
    CHECK(jagged.group_diagonals == group_diagonals);
    CHECK(jagged.diagonal_offsets == diagonal_offsets);
    CHECK(jagged.values == values);
    CHECK(jagged.column_indices == columns);
}

}  // namespace

TEST_SUITE("segmented") {
    TEST_CASE("S-JDS of the drawn matrix") {
        const auto built = build_segmented(sorted_in_segments(drawn(), 3), {});
        const auto& layout = std::get<WideJagged>(segmented(built).stored);
        check_segments_of_three(layout);
        check_jagged(layout, {0, 3, 5}, {0, 4, 6, 7, 11, 13}, {1, 4, 7, 10, 2, 5, 3, 8, 11, 6, 13, 9, 12},
                     {0, 1, 2, 0, 1, 2, 2, 0, 1, 1, 2, 2, 2});
    }

    TEST_CASE("S-SELL of the drawn matrix") {
        const auto built = build_segmented(sorted_in_segments(drawn(), 3), {{"piece", "sell"}, {"slice_height", 2_i}});
        const auto& slices = std::get<WideSlices>(segmented(built).stored);
        check_segments_of_three(slices);
        CHECK(slices.values == std::vector<double>{1, 4, 2, 5, 3, 0, 7, 10, 8, 11, 9, 12, 6, 13});
        CHECK(slices.group_slices == Indices{0, 2, 4});
        CHECK(slices.slice_offsets == std::vector<Offset>{0, 6, 8, 12, 14});
        CHECK(slices.column_indices == Indices{0, 1, 1, 2, 2, 2, 2, 0, 0, 1, 2, 2, 1, 2});
    }

    TEST_CASE("NUS-JDS of the drawn matrix") {
        const StagedMatrix staged = non_uniform(drawn());
        CHECK(staged.column_order == Permutation::from_old_of_new({2, 5, 0, 1, 4, 3}));
        const auto built = build_segmented(staged, {});
        check_rows(segmented(built).segments(), {0, 2, 6}, {0, 6, 10}, {0, 1, 2, 3, 4, 5, 0, 1, 4, 3}, {0, 2, 4, 5, 7, 9, 10},
                   {0, 6, 1, 7, 2, 3, 9, 4, 8, 5});
        check_jagged(std::get<WideJagged>(segmented(built).stored), {0, 1, 3}, {0, 6, 10, 13},
                     {3, 5, 7, 9, 12, 13, 1, 4, 10, 8, 2, 6, 11}, {0, 0, 0, 1, 1, 1, 0, 1, 0, 3, 1, 2, 2});
        std::vector<double> row_four(6, 0);
        for (Offset k = staged.matrix.row_offsets[4]; k < staged.matrix.row_offsets[5]; ++k) {
            row_four[staged.matrix.column_indices[k]] = staged.matrix.values[k];
        }
        CHECK(row_four == std::vector<double>{0, 12, 10, 0, 11, 0});
    }

    TEST_CASE("columns of 16 bits") {
        const auto built = build_segmented(sorted_in_segments(drawn(), 3), {{"column_index", "u16"}});
        const auto& jagged = std::get<NarrowJagged>(segmented(built).stored);
        CHECK(jagged.column_indices == std::vector<std::uint16_t>{0, 1, 2, 0, 1, 2, 2, 0, 1, 1, 2, 2, 2});
        const CsrMatrix wide = csr_from_entries(1, 70000, std::vector<Entry>{{0, 0, 1}, {0, 69999, 1}});
        CHECK(refusal(in_segments(wide, 65536), {{"column_index", "u16"}}) == "nothing was thrown");
        CHECK(refusal(in_segments(wide, 65537), {{"column_index", "u16"}}) ==
              "segment 0 has 65537 columns, but columns of 16 bits reach 65536: make the segments of column_segmentation "
              "narrower, or set column_index = \"u32\"");
        CHECK(refusal(in_segments(wide, 65537), {}) == "nothing was thrown");
    }

    TEST_CASE("a segment without nonzeros is a piece without rows") {
        const CsrMatrix matrix = csr_from_entries(3, 9, std::vector<Entry>{{0, 1, 1}, {2, 8, 2}});
        for (const char* piece : {"jds", "sell"}) {
            const auto built = build_segmented(in_segments(matrix, 3), {{"piece", piece}});
            CHECK(segmented(built).segments().piece_starts == Indices{0, 1, 1, 2});
            CHECK(segmented(built).segments().row_starts == Indices{0, 1, 1, 2});
            CHECK_NOTHROW(check_layout(*built, matrix));
        }
    }

    TEST_CASE("S-JDS: the nonzero, row and column of every slot") {
        const CsrMatrix matrix = drawn();
        const auto built = build_segmented(sorted_in_segments(matrix, 3), {{"column_index", "u16"}});
        const auto& jagged = std::get<NarrowJagged>(segmented(built).stored);
        std::set<Offset> nonzeros;
        built->for_each_slot([&](const Slot& slot) {
            CHECK(slot.index == static_cast<Offset>(nonzeros.size()));
            CHECK(matrix.values[slot.nonzero] == jagged.values[slot.index]);
            CHECK(matrix.column_indices[slot.nonzero] == slot.column);
            CHECK((matrix.row_offsets[slot.row] <= slot.nonzero && slot.nonzero < matrix.row_offsets[slot.row + 1]));
            CHECK(slot.array == array_number(jagged, jagged.values));
            CHECK(slot.column_array == array_number(jagged, jagged.column_indices));
            CHECK(slot.column_index == slot.index);
            nonzeros.insert(slot.nonzero);
        });
        CHECK(nonzeros.size() == 13);
    }

    TEST_CASE("reads: one thread per stored row, and each piece begins with a new block") {
        const auto reads = [](const Given& given) {
            const auto built = build_segmented(sorted_in_segments(drawn(), 3), given);
            std::string text;
            for_each_read_of<double>(segmented_entry(), "two_phase", *built, [&](const Read& read) {
                text += std::to_string(read.index) + ":" + std::to_string(read.warp) + "." + std::to_string(read.lane) + "/" +
                        std::to_string(read.step) + " ";
                CHECK(built->fields()[read.array].name == "values");
            });
            return text;
        };
        CHECK(reads({}) ==
              "0:0.0/0 4:0.0/1 6:0.0/2 1:0.1/0 5:0.1/1 2:0.2/0 3:0.3/0 7:8.0/0 11:8.0/1 8:8.1/0 12:8.1/1 9:8.2/0 10:8.3/0 ");
        CHECK(reads({{"piece", "sell"}, {"slice_height", 2_i}}) ==
              "0:0.0/0 2:0.0/1 4:0.0/2 1:0.1/0 3:0.1/1 5:0.1/2 6:0.2/0 7:0.3/0 8:8.0/0 10:8.0/1 9:8.1/0 11:8.1/1 12:8.2/0 "
              "13:8.3/0 ");
    }

    TEST_CASE("a tampered array is detected without invalid reads") {
        const StagedMatrix staged = sorted_in_segments(drawn(), 3);
        const auto built = build_segmented(staged, {{"column_index", "u16"}});
        auto& jagged = const_cast<NarrowJagged&>(std::get<NarrowJagged>(segmented(built).stored));
        const auto walk = [&] { built->for_each_slot([](const Slot&) {}); };
        const auto refuses = [&](auto& array, const auto& walk_or_check) {
            for (const Offset change : {Offset{-1}, Offset{1}, Offset{1} << 30}) {
                for (auto& element : array) {
                    const auto before = element;
                    element = static_cast<std::remove_reference_t<decltype(element)>>(element + change);
                    if (element != before) CHECK_THROWS_AS(walk_or_check(), std::logic_error);
                    element = before;
                }
            }
        };
        CHECK_NOTHROW(walk());
        refuses(jagged.group_diagonals, walk);
        refuses(jagged.piece_starts, walk);
        refuses(jagged.diagonal_offsets, walk);
        refuses(jagged.column_indices, [&] { check_layout(*built, staged.matrix); });
        jagged.values.pop_back();
        CHECK_THROWS_AS(walk(), std::logic_error);
    }

    TEST_CASE("blocks are ordered by segment, and reads contain the segment") {
        std::vector<Entry> entries;
        for (Index row = 0; row < 600; ++row) {
            entries.push_back({row, row % 4, 1});
            if (row % 2 == 0) entries.push_back({row, 4, 1});
        }
        const CsrMatrix matrix = csr_from_entries(600, 5, entries);
        for (const Given& given : {Given{}, Given{{"piece", "sell"}, {"slice_height", 48_i}}}) {
            const auto built = build_segmented(sorted_in_segments(matrix, 4), given);
            const SegmentRows<HostArray>& rows = segmented(built).segments();
            const std::vector<PieceBlock> blocks = segmented(built).blocks();
            REQUIRE(blocks.size() == 5);
            CHECK((blocks[2].piece == 0 && blocks[2].first_place == 512));
            CHECK((blocks[3].piece == 1 && blocks[3].first_place == 0));
            for (const char* kernel : {"two_phase", "atomic"}) {
                for_each_read_of<double>(segmented_entry(), kernel, *built, [&](const Read& read) {
                    const PieceBlock& block = blocks.at(read.warp / (rows_per_block / 32));
                    CHECK(block.piece == (read.column < 4 ? 0 : 1));
                    const Index place = block.first_place + static_cast<Index>(read.warp % 8) * 32 + read.lane;
                    CHECK(rows.stored_rows[rows.piece_starts[block.piece] + place] == read.row);
                });
            }
        }
    }

    TEST_CASE("bytes: partial sums are written and read; y is zeroed and added to") {
        const auto built = build_segmented(sorted_in_segments(drawn(), 3), {});
        const SegmentedLayout<double>& layout = segmented(built);
        // segment_columns, piece_starts; columns and values; group_diagonals and diagonal_offsets; x and y
        const std::int64_t both = 2 * 3 * 4 + 13 * (4 + 8) + (3 + 6) * 8 + 2 * 6 * 8;
        CHECK(layout.two_phase_bytes() == both + (7 + 8) * 4 + 2 * 8 * 8);  // row_starts, row_places; eight sums
        CHECK(layout.atomic_bytes() == both + 8 * 4 + 2 * 6 * 8);           // stored_rows; y
        CHECK(layout.bytes_to_move() == both + (7 + 8 + 8) * 4);
    }

    TEST_CASE("refuses rows that do not descend, and row blocks") {
        CHECK(refusal(in_segments(drawn(), 3), {{"piece", "sell"}}) == "nothing was thrown");
        CHECK(
            refusal(in_segments(drawn(), 3), {}) ==
            "jagged diagonals need rows in descending length, but row 3 of share 'segment 1' has 2 nonzeros and row 1, stored "
            "before it, has 1: put stage row_sort with within = \"segment\" before");
        StagedMatrix tiles = stage_input(drawn());
        pass(tiles, row_blocks_stage(), {{"height", 3_i}});
        pass(tiles, column_segmentation_stage(), {{"width", 3_i}});
        CHECK(refusal(tiles, {{"piece", "sell"}}).starts_with("there are row blocks"));
    }

    TEST_CASE("needs segments") {
        const LayoutEntry entry = segmented_entry();
        const Needs needs = entry.needs(Parameters(entry.parameters, {}));
        CHECK(needs.cuts == std::vector{CutKind::segment});
        CHECK(needs.shares == std::vector<ShareChoice>{{ShareKind::segment}});
    }
}

TEST_CASE("segmented: lanes that exceed memory are refused before they are allocated") {
    constexpr Index size = 1 << 12;
    std::vector<Entry> diagonal;
    for (Index i = 0; i < size; ++i) diagonal.push_back({i, i, 1});
    StagedMatrix staged = stage_input(csr_from_entries(size, size, diagonal));
    pass(staged, column_segmentation_stage(), {{"width", 1_i}});
    const FreeMemory memory(64 * mebibyte);
    const std::size_t most_before = memory_figure("VmHWM");
    const std::string message = refusal(staged, {{"piece", "sell"}, {"slice_height", 4096_i}});
    CHECK(message.find("4096 slices of height 4096 would have 16777216 lanes: 134217728 bytes, but ") == 0);
    CHECK(memory_figure("VmHWM") < most_before + 64 * mebibyte);
}

}  // namespace workbench
