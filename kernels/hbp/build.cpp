#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <stdexcept>
#include <utility>

#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/host_loops.hpp"
#include "kernels/common/offsets.hpp"
#include "kernels/common/slices.hpp"
#include "kernels/common/value_range.hpp"
#include "kernels/hbp/layout.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

constexpr int warp_size = 32;
constexpr int tile_chunk = 4;  // tiles that a thread takes at a time

constexpr std::string_view drawing = R"(
with row blocks of 3 rows, segments of 3 columns, and nonlinear_hash within the tiles. Steps are apart by bars.
Of the 32 lanes of a batch, those without a row are marked in zero_row, too.

                tile 0,0            tile 0,1   tile 1,0   tile 1,1
stored rows     2 1 0               1          4          5 3 4
data            7 4 1 | 5 2 | 3     6          10         13 8 11 | 9 12
columns         2 1 0 | 2 1 | 2     1          0          2 0 1 | 2 2
add_sign        0 2 2 | 0 1 | 0     0          0          0 2 2 | 0 0
zero_row        fffffff8            fffffffe   fffffffe   fffffff8
output_order    3 1 0               2          5          7 4 6

tile_batches    0 1 2 3 4
tile_columns    0 3 0 3
begin_ptr       0 6 7 8 13
batch_rows      0 3 4 5 8
result_offsets  0 1 3 4 5 7 8
)";

using U16Columns = std::vector<std::uint16_t>;
using WideColumns = std::vector<Index>;

/// Everything that must hold before anything is built; that there are tiles, the recipe checker saw to.
void require_suitable(const StagedMatrix& staged, bool narrow_columns) {
    const Cuts& segments = *staged.find_cuts(CutKind::segment);
    constexpr Index most_columns = 65536;
    for (Index segment = 0; narrow_columns && segment < segments.count(); ++segment) {
        if (segments.size(segment) <= most_columns) continue;
        throw Unsuitable(
            fmt::format("segment {} has {} columns, but columns of 16 bits reach {}: make segments narrower, or set "
                        "column_index = \"u32\"",
                        segment, segments.size(segment), most_columns));
    }
    std::size_t results = 0;
    for (const Share& share : staged.shares) results += share.rows.size();
    constexpr std::size_t most_results = std::numeric_limits<Index>::max() - warp_size;  // a batch may end behind the last
    if (results > most_results) {
        throw Unsuitable(
            fmt::format("{} rows present in the tiles, but their results are numbered with 32 bits, up to {}: make "
                        "segments wider",
                        results, most_results));
    }
}

/// Where each tile begins in the arrays, its batches, and the number of each result.
template <ValueType Value>
void lay_out(const std::vector<Share>& shares, HbpLayout<Value>& layout) {
    Index rows = 0;
    for (const Share& share : shares) {
        const auto rows_of_share = static_cast<Index>(share.rows.size());
        for (Index row = 0; row < rows_of_share; row += warp_size) {
            const Index end = std::min(row + warp_size, rows_of_share);
            layout.batch_rows.push_back(rows + end);
            layout.begin_ptr.push_back(layout.begin_ptr.back() + share.row_offsets[end] - share.row_offsets[row]);
        }
        rows += rows_of_share;
        layout.tile_batches.push_back(static_cast<Index>(layout.batch_rows.size()) - 1);
    }

    layout.result_offsets.assign(static_cast<std::size_t>(layout.row_count) + 1, 0);
    for (const Share& share : shares) {
        for (const Index row : share.rows) ++layout.result_offsets[row + 1];
    }
    for (Index row = 0; row < layout.row_count; ++row) layout.result_offsets[row + 1] += layout.result_offsets[row];
    std::vector<Index> next_result = layout.result_offsets;
    layout.output_order.reserve(rows);
    for (const Share& share : shares) {
        for (const Index row : share.rows) layout.output_order.push_back(next_result[row]++);
    }
}

/// The entries of a batch in the order of storage: store(entry, lane, k) for the k-th entry of the row of a lane. Gives the
/// mask of the lanes that have none.
template <typename Store>
std::uint32_t store_batch(const Share& share, Index first_row, Offset begin, std::uint8_t* add_sign, const Store& store) {
    std::array<int, warp_size> lanes{};  // those that have an entry left, ascending
    std::array<Offset, warp_size> before{};
    int active = 0;
    std::uint32_t idle = ~std::uint32_t{0};
    const Index row_count = std::min<Index>(warp_size, static_cast<Index>(share.rows.size()) - first_row);
    const auto length = [&](int lane) { return share.row_offsets[first_row + lane + 1] - share.row_offsets[first_row + lane]; };
    for (int lane = 0; lane < row_count; ++lane) {
        if (length(lane) == 0) continue;
        lanes[active++] = lane;
        idle &= ~(std::uint32_t{1} << lane);
    }
    Offset entry = begin;
    for (Offset k = 0; active > 0; ++k) {
        int left = 0;
        for (int i = 0; i < active; ++i) {
            const int lane = lanes[i];
            if (k > 0) add_sign[before[lane]] = static_cast<std::uint8_t>(entry - before[lane]);
            before[lane] = entry;
            store(entry++, lane, k);
            if (k + 1 < length(lane)) lanes[left++] = lane;
        }
        active = left;
    }
    return idle;
}

/// One tile: its entries batch by batch. False where the share is no tile.
template <ValueType Value, typename ColumnIndex>
bool fill_tile(const CsrMatrix& matrix, const Share& share, Index tile, Index columns_of_tile,
               std::vector<ColumnIndex>& column_indices, HbpLayout<Value>& layout) {
    const Index first_column = layout.tile_columns[tile];
    bool sound = true;
    for (Index batch = layout.tile_batches[tile]; batch < layout.tile_batches[tile + 1]; ++batch) {
        const Index stored = layout.batch_rows[batch];
        const Index first_row = stored - layout.batch_rows[layout.tile_batches[tile]];
        const auto store = [&](Offset entry, int lane, Offset k) {
            const Offset first = share.row_offsets[first_row + lane];
            const Offset nonzero = share.entries[first + k];
            if (k == 0) layout.first_nonzeros[stored + lane] = nonzero;
            const Index column = matrix.column_indices[nonzero] - first_column;
            sound = sound && nonzero == share.entries[first] + k && column >= 0 && column < columns_of_tile;
            column_indices[entry] = static_cast<ColumnIndex>(column);
            layout.data[entry] = static_cast<Value>(matrix.values[nonzero]);
        };
        layout.zero_row[batch] = store_batch(share, first_row, layout.begin_ptr[batch], layout.add_sign.data(), store);
    }
    return sound;
}

template <typename ColumnIndex, ValueType Value>
void fill(const StagedMatrix& staged, HbpLayout<Value>& layout) {
    const auto nonzeros = static_cast<std::size_t>(layout.begin_ptr.back());
    layout.data.resize(nonzeros);
    layout.add_sign.assign(nonzeros, 0);
    layout.zero_row.resize(layout.batch_rows.size() - 1);
    layout.first_nonzeros.assign(layout.output_order.size(), 0);
    std::vector<ColumnIndex> column_indices(nonzeros);
    const Cuts& segments = *staged.find_cuts(CutKind::segment);
    const auto is_tile = [&](std::int64_t tile) {
        const Index segment = staged.shares[tile].id.segment;
        layout.tile_columns[tile] = segments.begin(segment);
        return fill_tile(staged.matrix, staged.shares[tile], static_cast<Index>(tile), segments.size(segment), column_indices,
                         layout);
    };
    std::atomic<std::int64_t> strays = 0;
    for_each_in_parallel(layout.tile_count(), tile_chunk, [&](std::int64_t tile) { strays += is_tile(tile) ? 0 : 1; });
    if (strays > 0) throw std::logic_error(fmt::format("hbp: {} shares are not the nonzeros of a tile", strays.load()));
    layout.column_indices = std::move(column_indices);
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const bool narrow_columns = parameters.text("column_index") == "u16";
    require_suitable(staged, narrow_columns);
    require_values_in_range<Value>(staged.matrix);
    auto layout = std::make_unique<HbpLayout<Value>>();
    layout->row_count = staged.matrix.rows;
    layout->column_count = staged.matrix.columns;
    layout->tile_columns.resize(staged.shares.size());
    layout->fixed_tiles = static_cast<Index>(parameters.real("fixed_share") * static_cast<double>(staged.shares.size()));
    lay_out(staged.shares, *layout);
    if (narrow_columns) {
        fill<std::uint16_t>(staged, *layout);
    } else {
        fill<Index>(staged, *layout);
    }
    return layout;
}

[[noreturn]] void fail(std::string_view what) { throw std::logic_error(fmt::format("hbp: {}", what)); }

/// Offsets that walk from the beginning of what they point into to its end.
template <typename Element>
void require_tiling(const std::vector<Element>& offsets, std::size_t end, std::string_view name) {
    if (!tiles(offsets, end)) fail(fmt::format("{} does not tile its array", name));
}

/// The row of each result, and that no two stored rows share one.
template <ValueType Value>
std::vector<Index> rows_of_stored(const HbpLayout<Value>& layout) {
    std::vector<Index> row_of_result(layout.output_order.size());
    for (Index row = 0; row < layout.row_count; ++row) {
        std::fill(row_of_result.begin() + layout.result_offsets[row], row_of_result.begin() + layout.result_offsets[row + 1],
                  row);
    }
    std::vector<bool> taken(layout.output_order.size(), false);
    std::vector<Index> rows;
    for (const Index result : layout.output_order) {
        if (result < 0 || result >= layout.result_count() || taken[result]) fail("output_order is not an order of the results");
        taken[result] = true;
        rows.push_back(row_of_result[result]);
    }
    return rows;
}

template <ValueType Value>
void require_sound_structure(const HbpLayout<Value>& layout) {
    require_tiling(layout.tile_batches, layout.zero_row.size(), "tile_batches");
    require_tiling(layout.begin_ptr, layout.data.size(), "begin_ptr");
    require_tiling(layout.batch_rows, layout.output_order.size(), "batch_rows");
    require_tiling(layout.result_offsets, layout.output_order.size(), "result_offsets");
    for (Index tile = 0; tile < layout.tile_count(); ++tile) {
        const Index end = layout.tile_batches[tile + 1];
        if (layout.tile_batches[tile] == end) fail(fmt::format("tile {} has no batch", tile));
        for (Index batch = layout.tile_batches[tile]; batch < end; ++batch) {
            const Index rows = layout.batch_rows[batch + 1] - layout.batch_rows[batch];
            const bool right = batch + 1 == end ? rows >= 1 && rows <= warp_size : rows == warp_size;
            const bool marked = rows >= warp_size || layout.zero_row[batch] >> rows == ~std::uint32_t{0} >> rows;
            if (!right || !marked) fail(fmt::format("batch {} has too many rows, too few, or lanes without a row", batch));
        }
    }
}

// Numbers in HbpLayout::arrays().
enum ArrayNumber { columns_array = 5, data_array = 6 };

/// Walks the batches as the kernel does, lane by lane along add_sign, and tells the slots in the order of memory.
template <ValueType Value>
class SlotWalk {
public:
    explicit SlotWalk(const HbpLayout<Value>& layout) : layout_(layout), rows_(rows_of_stored(layout)) {}

    void walk(const std::function<void(const Slot&)>& visit) {
        for (Index tile = 0; tile < layout_.tile_count(); ++tile) {
            const Index first_batch = layout_.tile_batches[tile];
            std::int64_t first_step = 0;  // of the batches that are in flight together
            std::int64_t end_step = 0;
            for (Index batch = first_batch; batch < layout_.tile_batches[tile + 1]; ++batch) {
                const Index turn = (batch - first_batch) % hbp_batches_in_flight;
                if (turn == 0) first_step = end_step;
                end_step = std::max(end_step, collect(tile, batch, first_step + turn));
                for (const Slot& slot : slots_) {
                    if (slot.index < 0) fail(fmt::format("batch {} has an entry that no lane reaches", batch));
                    visit(slot);
                }
            }
        }
    }

private:
    /// The slots of a batch whose first step is this one. Gives the step after its last.
    std::int64_t collect(Index tile, Index batch, std::int64_t first_step) {
        const Offset begin = layout_.begin_ptr[batch];
        slots_.assign(layout_.begin_ptr[batch + 1] - begin, Slot{.index = -1});
        std::int64_t end_step = first_step;
        Offset start = begin;
        for (int lane = 0; lane < warp_size; ++lane) {
            if ((layout_.zero_row[batch] >> lane & 1U) != 0) continue;
            const Index stored = layout_.batch_rows[batch] + lane;
            Slot slot{.array = data_array, .column_array = columns_array, .row = rows_[stored], .warp = tile, .lane = lane};
            slot.step = first_step;
            slot.nonzero = layout_.first_nonzeros[stored];
            for (Offset entry = start++;; entry += layout_.add_sign[entry], ++slot.nonzero) {
                if (entry >= layout_.begin_ptr[batch + 1] || slots_[entry - begin].index >= 0) {
                    fail(fmt::format("lane {} of batch {} leaves its entries", lane, batch));
                }
                slot.index = slot.column_index = entry;
                slot.column = column(tile, entry);
                slots_[entry - begin] = slot;
                end_step = std::max(end_step, slot.step + 1);
                if (layout_.add_sign[entry] == 0) break;
                slot.step += hbp_batches_in_flight;
            }
        }
        return end_step;
    }

    [[nodiscard]] Index column(Index tile, Offset entry) const {
        const Offset in_tile =
            std::visit([&](const auto& columns) -> Offset { return columns[entry]; }, layout_.column_indices);
        const Offset column = in_tile + layout_.tile_columns[tile];
        if (column < 0 || column >= layout_.column_count) fail(fmt::format("entry {} reads a column that is not there", entry));
        return static_cast<Index>(column);
    }

    const HbpLayout<Value>& layout_;
    std::vector<Index> rows_;  // [stored rows]
    std::vector<Slot> slots_;  // of the present batch, by place
};

}  // namespace

template <ValueType Value>
std::vector<LayoutArray> HbpLayout<Value>::arrays() const {
    const auto columns_of = [](const auto& indices) { return layout_array("columns", ArrayRole::column, indices); };
    return {layout_array("tile_batches", ArrayRole::structure, tile_batches),
            layout_array("tile_columns", ArrayRole::structure, tile_columns),
            layout_array("begin_ptr", ArrayRole::structure, begin_ptr),
            layout_array("batch_rows", ArrayRole::structure, batch_rows),
            layout_array("zero_row", ArrayRole::structure, zero_row),
            std::visit(columns_of, column_indices),
            layout_array("data", ArrayRole::value, data),
            layout_array("add_sign", ArrayRole::structure, add_sign),
            layout_array("output_order", ArrayRole::structure, output_order),
            layout_array("result_offsets", ArrayRole::structure, result_offsets)};
}

template <ValueType Value>
void HbpLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_structure(*this);
    SlotWalk<Value>(*this).walk(visit);
}

template struct HbpLayout<float>;
template struct HbpLayout<double>;

LayoutEntry hbp_entry() {
    LayoutEntry entry{
        .name = "hbp",
        .summary = "tiles for a warp each, stored step by step without padding, their results merged per row (two steps)",
        .source =
            "HBP: Yan, Diao, Liu, An, Xu, 'A Nonlinear Hash-based Optimization Method for SpMV on GPUs' (2025), figures 1, 2, "
            "5",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = {{.name = "column_index",
                        .type = ParameterType::choice,
                        .default_value = std::string("u32"),
                        .words = {"u16", "u32"},
                        .help = "columns from their segment's first on: 16 bits, for segments up to 65536 columns, or 32"},
                       {.name = "fixed_share",
                        .type = ParameterType::real,
                        .default_value = 0.5,
                        .minimum = 0,
                        .maximum = 1,
                        .help =
                            "kernel mixed: share of the tiles that are dealt to the warps beforehand; they claim the rest"}},
        .needs =
            [](const Parameters&) {
                return Needs{.cuts = {CutKind::row_block, CutKind::segment}, .shares = {{ShareKind::tile}}};
            },
        .build = {build<float>, build<double>},
        .kernels = hbp_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(hbp_cuda_kernels());
    return entry;
}

}  // namespace workbench
