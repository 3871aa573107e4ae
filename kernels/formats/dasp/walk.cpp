// The nonzero of each slot, and the thread of the CUDA kernels that reads it.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/common/schedule/walk.hpp"
#include "kernels/formats/dasp/layout.hpp"

namespace workbench {
namespace {

[[noreturn]] void fail(std::string_view what) { throw std::logic_error(fmt::format("dasp: {}", what)); }

void require(bool condition, std::string_view what) {
    if (!condition) fail(what);
}

/// The lists of rows contain each row of the matrix once.
void require_each_row_once(const auto& dasp) {
    std::vector<bool> taken(dasp.row_count, false);
    Offset rows = 0;
    const auto take = [&](std::span<const Index> list, bool may_lack) {
        for (const Index row : list) {
            if (row == -1 && may_lack) continue;
            if (row < 0 || row >= dasp.row_count || taken[row])
                fail(fmt::format("row {} is listed twice, or does not exist", row));
            taken[row] = true;
            ++rows;
        }
    };
    take(dasp.long_rows, false);
    take(dasp.medium_rows, true);
    take(dasp.pair_rows, true);
    take(dasp.four_rows, true);
    take(dasp.single_rows, false);
    take(dasp.empty_rows, false);
    require(rows == dasp.row_count, "a row is not listed");
}

void require_sound_structure(const auto& dasp) {
    require_each_row_once(dasp);
    require(dasp.long_pieces.size() == dasp.long_rows.size() + 1 && tiles(dasp.long_pieces, dasp.piece_rows.size()),
            "long_pieces does not tile the pieces");
    require(dasp.piece_offsets.size() == dasp.piece_rows.size() + 1 && tiles(dasp.piece_offsets, dasp.long_values.size()),
            "piece_offsets does not tile the long slots");
    for (Offset piece = 0; piece < dasp.pieces(); ++piece) {
        const Index row = dasp.piece_rows[piece];
        const Offset slots = dasp.piece_offsets[piece + 1] - dasp.piece_offsets[piece];
        require(slots > 0 && slots % dasp_long_step == 0, "a piece is empty or torn");
        require(row >= 0 && row < static_cast<Index>(dasp.long_rows.size()) && dasp.long_pieces[row] <= piece &&
                    piece < dasp.long_pieces[row + 1],
                "a piece is of another row");
    }
    const auto blocks = static_cast<std::size_t>(dasp.row_blocks());
    require(dasp.block_fragments.size() == blocks + 1 && tiles(dasp.block_fragments, dasp.regular_values.size() / dasp_lanes),
            "block_fragments does not tile the fragments");
    require(dasp.irregular_offsets.size() == blocks + 1 && tiles(dasp.irregular_offsets, dasp.irregular_values.size()),
            "irregular_offsets does not tile the irregular entries");
    for (std::size_t block = 0; block < blocks; ++block) {
        Offset before = 0;
        for (int i = 0; i < dasp_rows; ++i) {
            const Offset end = dasp.irregular_ends[block * dasp_rows + i];
            require(end >= before, "irregular_ends descends in a row block");
            before = end;
        }
        require(before == dasp.irregular_offsets[block + 1] - dasp.irregular_offsets[block],
                "the irregular entries of a row block do not end where those of the next one begin");
    }
    require(dasp.one_three_fragments <= dasp.pair_fragments() &&
                dasp.pair_fragments() * dasp_lanes + static_cast<Offset>(dasp.four_rows.size()) * dasp_width ==
                    static_cast<Offset>(dasp.short_values.size()),
            "the short rows do not fill their fragments");
}

/// The value and column arrays of a class of rows.
struct ClassOfRows {
    ClassOfRows(const auto& dasp, const auto& value_array, const auto& column_array)
        : values(array_number(dasp, value_array)),
          columns(array_number(dasp, column_array)),
          column_of(column_array),
          column_count(dasp.column_count) {}

    [[nodiscard]] Slot slot(Offset index, Index row, Offset nonzero = -1) const {
        const Index column = column_of[index];
        if (column < 0 || column >= column_count) fail(fmt::format("slot {} reads a column that does not exist", index));
        return {.array = values,
                .column_array = columns,
                .index = index,
                .column_index = index,
                .nonzero = nonzero,
                .column = column,
                .row = row};
    }

    int values;
    int columns;
    std::span<const Index> column_of;
    Index column_count;
};

/// The k-th entry of a row, or -1.
Offset nonzero_at(const HostArray<Offset>& row_offsets, Index row, Offset k) {
    return row >= 0 && k < row_offsets[row + 1] - row_offsets[row] ? row_offsets[row] + k : -1;
}

void walk_long(const auto& dasp, const HostArray<Offset>& row_offsets, const std::function<void(const Slot&)>& visit) {
    const ClassOfRows slots(dasp, dasp.long_values, dasp.long_columns);
    for (std::size_t number = 0; number < dasp.long_rows.size(); ++number) {
        const Index row = dasp.long_rows[number];
        const Offset begin = dasp.piece_offsets[dasp.long_pieces[number]];
        const Offset end = dasp.piece_offsets[dasp.long_pieces[number + 1]];
        for (Offset slot = begin; slot < end; ++slot) {
            visit(slots.slot(slot, row, nonzero_at(row_offsets, row, slot - begin)));
        }
    }
}

void walk_medium(const auto& dasp, const HostArray<Offset>& row_offsets, const std::function<void(const Slot&)>& visit) {
    const ClassOfRows regular(dasp, dasp.regular_values, dasp.regular_columns);
    const ClassOfRows irregular(dasp, dasp.irregular_values, dasp.irregular_columns);
    for (Offset block = 0; block < dasp.row_blocks(); ++block) {
        const Offset first = dasp.block_fragments[block];
        const Offset fragments = dasp.block_fragments[block + 1] - first;
        for (Offset i = 0; i < fragments * dasp_lanes; ++i) {
            const Index row = dasp.medium_rows[block * dasp_rows + i % dasp_lanes / dasp_width];
            const Offset k = i / dasp_lanes * dasp_width + i % dasp_width;
            visit(regular.slot(first * dasp_lanes + i, row, nonzero_at(row_offsets, row, k)));
        }
        for (Offset place = block * dasp_rows; place < (block + 1) * dasp_rows; ++place) {
            const Offset before = place % dasp_rows == 0 ? 0 : dasp.irregular_ends[place - 1];
            const Index row = dasp.medium_rows[place];
            for (Offset i = before; i < dasp.irregular_ends[place]; ++i) {
                const Offset nonzero = nonzero_at(row_offsets, row, fragments * dasp_width + i - before);
                visit(irregular.slot(dasp.irregular_offsets[block] + i, row, nonzero));
            }
        }
    }
}

/// The row of a lane of a fragment of short rows, and the number of the lane's entry in it.
std::pair<Index, int> short_entry(const auto& dasp, Offset fragment, int lane) {
    const DaspShort quad = lane_of_short_fragment(dasp, fragment, lane);
    const int place = lane % dasp_width;
    return place < quad.split ? std::pair(quad.first, place) : std::pair(quad.second, place - quad.split);
}

void walk_short(const auto& dasp, const HostArray<Offset>& row_offsets, const std::function<void(const Slot&)>& visit) {
    const ClassOfRows slots(dasp, dasp.short_values, dasp.short_columns);
    for (Offset slot = 0; slot < static_cast<Offset>(dasp.short_values.size()); ++slot) {
        const auto [row, k] = short_entry(dasp, slot / dasp_lanes, static_cast<int>(slot % dasp_lanes));
        visit(slots.slot(slot, row, nonzero_at(row_offsets, row, k)));
    }
    const ClassOfRows singles(dasp, dasp.single_values, dasp.single_columns);
    for (std::size_t i = 0; i < dasp.single_rows.size(); ++i) {
        const Index row = dasp.single_rows[i];
        visit(singles.slot(static_cast<Offset>(i), row, nonzero_at(row_offsets, row, 0)));
    }
}

/// A lane's entries of `count` row blocks side by side: for each block the entries of its fragments, then the irregular ones.
void read_row_blocks(const auto& dasp, Offset first, int count, Offset thread, const std::function<void(const Read&)>& visit) {
    const ClassOfRows regular(dasp, dasp.regular_values, dasp.regular_columns);
    const ClassOfRows irregular(dasp, dasp.irregular_values, dasp.irregular_columns);
    const int lane = static_cast<int>(thread % dasp_lanes);
    bool more = true;
    for (std::int64_t k = 0; std::exchange(more, false); ++k) {
        for (int r = 0; r < count; ++r) {
            const DaspLane own = lane_of_row_block(dasp, first + r, dasp.row_blocks(), lane);
            const Offset rest = own.irregular + (k - own.fragments) * dasp_width;
            const std::int64_t step = k * count + r;
            if (k < own.fragments) {
                visit(read_of(regular.slot((own.first_fragment + k) * dasp_lanes + lane, own.row), thread, step));
            } else if (rest < own.irregular_end) {
                visit(read_of(irregular.slot(rest, own.row), thread, step));
            } else {
                continue;
            }
            more = true;
        }
    }
}

void visit_reads(const auto& dasp, int row_blocks, const std::function<void(const Read&)>& visit) {
    const DaspGrid grid = DaspGrid::of(dasp, row_blocks);
    // Calls body(number of the warp among these blocks, lane, thread).
    const auto for_each_lane = [&](Offset first_block, Offset end_block, const auto& body) {
        constexpr Offset threads = DaspGrid::warps * dasp_lanes;
        for (Offset i = 0; i < (end_block - first_block) * threads; ++i) {
            body(i / dasp_lanes, static_cast<int>(i % dasp_lanes), first_block * threads + i);
        }
    };
    const ClassOfRows longs(dasp, dasp.long_values, dasp.long_columns);
    for_each_lane(0, grid.medium, [&](Offset piece, int lane, Offset thread) {
        if (piece >= dasp.pieces()) return;
        const Offset begin = dasp.piece_offsets[piece];
        const Index row = dasp.long_rows[dasp.piece_rows[piece]];
        for (Offset slot = begin + lane; slot < dasp.piece_offsets[piece + 1]; slot += dasp_lanes) {
            visit(read_of(longs.slot(slot, row), thread, (slot - begin) / dasp_lanes));
        }
    });
    for_each_lane(grid.medium, grid.shorts,
                  [&](Offset i, int, Offset thread) { read_row_blocks(dasp, i * row_blocks, row_blocks, thread, visit); });
    const ClassOfRows shorts(dasp, dasp.short_values, dasp.short_columns);
    for_each_lane(grid.shorts, grid.lone, [&](Offset i, int lane, Offset thread) {
        for (int step = 0; step < tuned::dasp_short_in_flight; ++step) {
            const Offset fragment = i * tuned::dasp_short_in_flight + step;
            if (fragment >= dasp.short_fragments()) continue;
            const Index row = short_entry(dasp, fragment, lane).first;
            visit(read_of(shorts.slot(fragment * dasp_lanes + lane, row), thread, step));
        }
    });
    const ClassOfRows singles(dasp, dasp.single_values, dasp.single_columns);
    for_each_lane(grid.lone, grid.end, [&](Offset i, int lane, Offset thread) {
        const Offset single = i * dasp_lanes + lane;
        if (single >= static_cast<Offset>(dasp.single_rows.size())) return;
        visit(read_of(singles.slot(single, dasp.single_rows[single]), thread, 0));
    });
}

}  // namespace

template <ValueType Value>
void walk_dasp(const DaspLayout<Value>& layout, int row_blocks, const std::function<void(const Read&)>& visit) {
    visit_reads(structure_of(layout.stored()), row_blocks, visit);
}

template <ValueType Value>
void DaspLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    const auto dasp = structure_of(this->stored());
    require_sound_structure(dasp);
    walk_long(dasp, row_offsets, visit);
    walk_medium(dasp, row_offsets, visit);
    walk_short(dasp, row_offsets, visit);
}

template struct DaspLayout<float>;
template struct DaspLayout<double>;
template void walk_dasp(const DaspLayout<float>&, int, const std::function<void(const Read&)>&);
template void walk_dasp(const DaspLayout<double>&, int, const std::function<void(const Read&)>&);

}  // namespace workbench
