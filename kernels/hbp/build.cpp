#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <stdexcept>
#include <utility>

#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/refusal/narrow_columns.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/storage/offsets.hpp"
#include "kernels/hbp/layout.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

constexpr int tile_chunk = 4;    // tiles that a thread takes at a time
constexpr int row_chunk = 1024;  // rows that a thread takes at a time

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

/// Everything that must hold before anything is built; that there are tiles, the recipe checker saw to.
void require_suitable(const StagedMatrix& staged, bool narrow_columns) {
    if (narrow_columns) require_narrow(*staged.find_cuts(CutKind::segment), "make segments narrower");
    std::size_t results = 0;
    for (const Share& share : staged.shares) results += share.rows.size();
    constexpr std::size_t most_results = std::numeric_limits<Index>::max() - hbp_lanes;  // a batch may end behind the last
    if (results > most_results) {
        throw Unsuitable(
            fmt::format("{} rows present in the tiles, but their results are numbered with 32 bits, up to {}: make "
                        "segments wider",
                        results, most_results));
    }
}

/// Where each tile begins in the arrays, its batches, and the number of each result.
void lay_out(const std::vector<Share>& shares, auto& layout) {
    layout.tile_batches = {0};
    layout.begin_ptr = {0};
    layout.batch_rows = {0};
    Index rows = 0;
    for (const Share& share : shares) {
        const auto rows_of_share = static_cast<Index>(share.rows.size());
        for (Index row = 0; row < rows_of_share; row += hbp_lanes) {
            const Index end = std::min(row + hbp_lanes, rows_of_share);
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
    std::array<int, hbp_lanes> lanes{};  // those that have an entry left, ascending
    std::array<Offset, hbp_lanes> before{};
    int active = 0;
    std::uint32_t idle = ~std::uint32_t{0};
    const Index row_count = std::min<Index>(hbp_lanes, static_cast<Index>(share.rows.size()) - first_row);
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
template <typename Value, typename ColumnIndex>
bool fill_tile(const CsrMatrix& matrix, const Share& share, Index tile, Index columns_of_tile,
               std::vector<Offset>& first_nonzeros, Hbp<Value, ColumnIndex, HostArray>& hbp) {
    const Index first_column = hbp.tile_columns[tile];
    bool sound = true;
    for (Index batch = hbp.tile_batches[tile]; batch < hbp.tile_batches[tile + 1]; ++batch) {
        const Index stored = hbp.batch_rows[batch];
        const Index first_row = stored - hbp.batch_rows[hbp.tile_batches[tile]];
        const auto store = [&](Offset entry, int lane, Offset k) {
            const Offset first = share.row_offsets[first_row + lane];
            const Offset nonzero = share.entries[first + k];
            if (k == 0) first_nonzeros[stored + lane] = nonzero;
            const Index column = matrix.column_indices[nonzero] - first_column;
            sound = sound && nonzero == share.entries[first] + k && column >= 0 && column < columns_of_tile;
            hbp.column_indices[entry] = static_cast<ColumnIndex>(column);
            hbp.data[entry] = static_cast<Value>(matrix.values[nonzero]);
        };
        hbp.zero_row[batch] = store_batch(share, first_row, hbp.begin_ptr[batch], hbp.add_sign.data(), store);
    }
    return sound;
}

template <ValueType Value, typename ColumnIndex>
void fill(HbpLayout<Value>& layout, const StagedMatrix& staged, double fixed_share) {
    Hbp<Value, ColumnIndex, HostArray> hbp;
    hbp.row_count = staged.matrix.rows;
    hbp.column_count = staged.matrix.columns;
    hbp.fixed_tiles = static_cast<Index>(fixed_share * static_cast<double>(staged.shares.size()));
    lay_out(staged.shares, hbp);
    const auto nonzeros = static_cast<std::size_t>(hbp.begin_ptr.back());
    hbp.tile_columns.resize(staged.shares.size());
    hbp.data.resize(nonzeros);
    hbp.add_sign.assign(nonzeros, 0);
    hbp.column_indices.resize(nonzeros);
    hbp.zero_row.resize(hbp.batch_rows.size() - 1);
    layout.nonzero_count = hbp.begin_ptr.back();
    layout.first_nonzeros.assign(hbp.output_order.size(), 0);
    const Cuts& segments = *staged.find_cuts(CutKind::segment);
    const auto is_tile = [&](std::int64_t tile) {
        const Index segment = staged.shares[tile].id.segment;
        hbp.tile_columns[tile] = segments.begin(segment);
        return fill_tile(staged.matrix, staged.shares[tile], static_cast<Index>(tile), segments.size(segment),
                         layout.first_nonzeros, hbp);
    };
    std::atomic<std::int64_t> strays = 0;
    for_each_in_parallel(hbp.tile_count(), tile_chunk, [&](std::int64_t tile) { strays += is_tile(tile) ? 0 : 1; });
    if (strays > 0) throw std::logic_error(fmt::format("hbp: {} shares are not the nonzeros of a tile", strays.load()));
    layout.stored = std::move(hbp);
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const bool narrow_columns = parameters.text("column_index") == "u16";
    require_suitable(staged, narrow_columns);
    require_values_in_range<Value>(staged.matrix);
    auto layout = std::make_unique<HbpLayout<Value>>();
    const auto fill_as = narrow_columns ? fill<Value, std::uint16_t> : fill<Value, Index>;
    fill_as(*layout, staged, parameters.real("fixed_share"));
    return layout;
}

[[noreturn]] void fail(std::string_view what) { throw std::logic_error(fmt::format("hbp: {}", what)); }

/// Offsets that walk from the beginning of what they point into to its end.
template <typename Element>
void require_tiling(const std::vector<Element>& offsets, std::size_t end, std::string_view name) {
    if (!tiles(offsets, end)) fail(fmt::format("{} does not tile its array", name));
}

/// The row of each stored row, each of which has a result of its own.
std::vector<Index> rows_of_stored(const auto& hbp) {
    std::vector<Index> row_of_result(hbp.output_order.size());
    for (Index row = 0; row < hbp.row_count; ++row) {
        std::fill(row_of_result.begin() + hbp.result_offsets[row], row_of_result.begin() + hbp.result_offsets[row + 1], row);
    }
    std::vector<bool> taken(hbp.output_order.size(), false);
    std::vector<Index> rows;
    for (const Index result : hbp.output_order) {
        if (result < 0 || result >= hbp.result_count() || taken[result]) fail("output_order is not an order of the results");
        taken[result] = true;
        rows.push_back(row_of_result[result]);
    }
    return rows;
}

void require_sound_structure(const auto& hbp) {
    require_tiling(hbp.tile_batches, hbp.zero_row.size(), "tile_batches");
    require_tiling(hbp.begin_ptr, hbp.data.size(), "begin_ptr");
    require_tiling(hbp.batch_rows, hbp.output_order.size(), "batch_rows");
    require_tiling(hbp.result_offsets, hbp.output_order.size(), "result_offsets");
    for (Index tile = 0; tile < hbp.tile_count(); ++tile) {
        const Index end = hbp.tile_batches[tile + 1];
        if (hbp.tile_batches[tile] == end) fail(fmt::format("tile {} has no batch", tile));
        for (Index batch = hbp.tile_batches[tile]; batch < end; ++batch) {
            const Index rows = hbp.batch_rows[batch + 1] - hbp.batch_rows[batch];
            const bool right = batch + 1 == end ? rows >= 1 && rows <= hbp_lanes : rows == hbp_lanes;
            const bool marked = rows >= hbp_lanes || hbp.zero_row[batch] >> rows == ~std::uint32_t{0} >> rows;
            if (!right || !marked) fail(fmt::format("batch {} has too many rows, too few, or lanes without a row", batch));
        }
    }
}

/// Calls visit(read, stored row, k) for the entries of a tile as the CUDA kernels read them, lane by lane; the k-th of its row
/// each. The warp is the number of the tile.
void for_each_read_of_tile(const auto& hbp, Index tile, const std::vector<Index>& rows, const auto& visit) {
    const Index end_batch = hbp.tile_batches[tile + 1];
    std::int64_t first_step = 0;  // of the batches in flight
    for (Index first = hbp.tile_batches[tile]; first < end_batch; first += hbp_batches_in_flight) {
        std::int64_t end_step = first_step;
        for (int lane = 0; lane < hbp_lanes; ++lane) {
            std::array<HbpLane, hbp_batches_in_flight> at;
            for (int i = 0; i < hbp_batches_in_flight; ++i) at[i] = lane_of_batch(hbp, first + i, end_batch, lane);
            bool more = true;
            for (Offset k = 0; std::exchange(more, false); ++k) {
                for (int i = 0; i < hbp_batches_in_flight; ++i) {
                    if (!at[i].has_entries) continue;
                    const Offset entry = at[i].entry;
                    if (entry >= hbp.begin_ptr[first + i + 1]) {
                        fail(fmt::format("lane {} of batch {} leaves its entries", lane, first + i));
                    }
                    const Offset column = Offset{hbp.tile_columns[tile]} + hbp.column_indices[entry];
                    if (column < 0 || column >= hbp.column_count) {
                        fail(fmt::format("entry {} reads a column that is not there", entry));
                    }
                    const std::int64_t step = first_step + hbp_batches_in_flight * k + i;
                    end_step = std::max(end_step, step + 1);
                    visit(Read{.warp = tile,
                               .lane = lane,
                               .step = step,
                               .array = array_number(hbp, hbp.data),
                               .index = entry,
                               .row = rows[at[i].stored],
                               .column = static_cast<Index>(column)},
                          at[i].stored, k);
                    at[i].has_entries = hbp.add_sign[entry] != 0;
                    at[i].entry += hbp.add_sign[entry];
                    more = more || at[i].has_entries;
                }
            }
        }
        first_step = end_step;
    }
}

template <ValueType Value>
void walk_reads(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    const auto walk = [&](const auto& hbp) {
        const std::vector<Index> rows = rows_of_stored(hbp);
        for (Index tile = 0; tile < hbp.tile_count(); ++tile) {
            for_each_read_of_tile(hbp, tile, rows, [&](const Read& read, Index, Offset) { visit(read); });
        }
    };
    std::visit(walk, dynamic_cast<const HbpLayout<Value>&>(layout).stored);
}

/// The two steps of the GPU's kernels. Each stored row has a result of its own, so that threads cannot race.
template <ValueType Value>
class HbpTiles final : public Kernel<Value> {
public:
    explicit HbpTiles(const HbpLayout<Value>& layout) : layout_(layout), results_(layout.first_nonzeros.size()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        std::visit([&](const auto& hbp) { multiply(hbp, x, y, accumulate); }, layout_.stored);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    void multiply(const auto& hbp, const Value* x, Value* y, bool accumulate) {
        for_each_in_parallel(hbp.tile_count(), tile_chunk, [&](std::int64_t tile) {
            const Index end = hbp.tile_batches[tile + 1];
            for (Index batch = hbp.tile_batches[tile]; batch < end; ++batch) {
                for (int lane = 0; lane < hbp_lanes; ++lane) {
                    const HbpLane row = lane_of_batch(hbp, batch, end, lane);
                    if (row.has_row) results_[hbp.output_order[row.stored]] = sum_of(hbp, row, x + hbp.tile_columns[tile]);
                }
            }
        });
        for_each_in_parallel(hbp.row_count, row_chunk, [&](std::int64_t row) {
            Value sum = 0;
            for (Index i = hbp.result_offsets[row]; i < hbp.result_offsets[row + 1]; ++i) sum += results_[i];
            put(y, static_cast<Index>(row), sum, accumulate);
        });
    }

    [[nodiscard]] static Value sum_of(const auto& hbp, const HbpLane& row, const Value* x) {
        if (!row.has_entries) return 0;
        Offset entry = row.entry;
        Value sum = hbp.data[entry] * x[hbp.column_indices[entry]];
        while (const int distance = hbp.add_sign[entry]) {
            entry += distance;
            sum += hbp.data[entry] * x[hbp.column_indices[entry]];
        }
        return sum;
    }

    const HbpLayout<Value>& layout_;
    std::vector<Value> results_;
};

}  // namespace

template <ValueType Value>
void HbpLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    const auto walk = [&](const auto& hbp) {
        require_sound_structure(hbp);
        const std::vector<Index> rows = rows_of_stored(hbp);
        for (Index tile = 0; tile < hbp.tile_count(); ++tile) {
            const Offset begin = hbp.begin_ptr[hbp.tile_batches[tile]];
            std::vector<Slot> slots(hbp.begin_ptr[hbp.tile_batches[tile + 1]] - begin, Slot{.index = -1});
            for_each_read_of_tile(hbp, tile, rows, [&](const Read& read, Index stored, Offset k) {
                Slot& slot = slots[read.index - begin];
                if (slot.index >= 0) fail(fmt::format("entry {} belongs to two lanes", read.index));
                slot = {.array = read.array,
                        .column_array = array_number(hbp, hbp.column_indices),
                        .index = read.index,
                        .column_index = read.index,
                        .nonzero = first_nonzeros[stored] + k,
                        .column = read.column,
                        .row = read.row};
            });
            for (const Slot& slot : slots) {
                if (slot.index < 0) fail(fmt::format("tile {} has an entry that no lane reaches", tile));
                visit(slot);
            }
        }
    };
    std::visit(walk, this->stored);
}

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
        .schedules = {{"fixed", {walk_reads<float>, walk_reads<double>}},
                      {"competitive", {walk_reads<float>, walk_reads<double>}},
                      {"mixed", {walk_reads<float>, walk_reads<double>}}},
        .kernels = {{.name = "tiles",
                     .backend = Backend::kokkos,
                     .summary = "threads claim tiles, whose results are stored and then merged per row",
                     .prepare = prepare_as<HbpTiles, HbpLayout>}},
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(hbp_cuda_kernels());
    return entry;
}

}  // namespace workbench
