#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/contract/errors.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/hbp/check.hpp"
#include "kernels/formats/hbp/placement.hpp"

namespace workbench {
namespace {

// Iterations that a thread takes at a time.
constexpr int chunks_of_thread = 4;
constexpr int rows_of_thread = 1024;

constexpr std::string_view example = R"(
[[stage]]
use = "row_blocks"
height = 3

[[stage]]
use = "column_segmentation"
width = 3

[[stage]]
use = "nonlinear_hash"
within = "tile"

[layout]
use = "hbp"
row_limit = 2
)";

/// The place of the k-th entry of a stored row in Share::entries.
Offset place_of(const Share& share, const HbpStoredRow& row, Index k) {
    return share.row_offsets[row.row] + row.first + Offset{k} * row.stride;
}

/// The range of a chunk's columns.
struct ChunkReach {
    Index least = 0;
    Offset columns = 0;
};

ChunkReach reach_of(const CsrMatrix& matrix, const Share& share, std::span<const HbpStoredRow> rows) {
    Index least = std::numeric_limits<Index>::max();
    Index most = -1;
    for (const HbpStoredRow& row : rows) {
        if (row.length == 0) continue;
        // Columns ascend in a row.
        least = std::min(least, matrix.column_indices[share.entries[place_of(share, row, 0)]]);
        most = std::max(most, matrix.column_indices[share.entries[place_of(share, row, row.length - 1)]]);
    }
    if (most < 0) return {};
    return {least, Offset{most} - least + 1};
}

std::vector<ChunkReach> reaches_of(const StagedMatrix& staged, const HbpPlacement& placed) {
    std::vector<ChunkReach> reaches(placed.chunk_tiles.size());
    for_each_in_parallel(static_cast<std::int64_t>(reaches.size()), chunks_of_thread, [&](std::int64_t chunk) {
        const Index first = placed.batch_rows[placed.chunk_batches[chunk]];
        const Index end = placed.batch_rows[placed.chunk_batches[chunk + 1]];
        reaches[chunk] = reach_of(staged.matrix, staged.shares[placed.chunk_tiles[chunk]],
                                  std::span(placed.stored_rows).subspan(first, end - first));
    });
    return reaches;
}

/// True if columns of 16 bits are requested, or allowed and sufficient.
bool narrow_columns(const StagedMatrix& staged, const HbpPlacement& placed, const std::vector<ChunkReach>& reaches,
                    const std::string& column_index) {
    constexpr Offset most = 65536;
    if (column_index == "u32") return false;
    for (std::size_t chunk = 0; chunk < reaches.size(); ++chunk) {
        if (reaches[chunk].columns <= most) continue;
        if (column_index == "auto") return false;
        throw Unsuitable(fmt::format(
            "the nonzeros of a chunk of {} span {} columns, but columns of 16 bits span {}: make segments narrower, or "
            "set column_index = \"auto\"",
            name_of(staged.shares[placed.chunk_tiles[chunk]].id), reaches[chunk].columns, most));
    }
    return true;
}

/// Stores a batch step by step: calls store(entry, lane, k) for the k-th entry of a lane's row. Returns the mask of the lanes
/// without entries.
template <typename Store>
std::uint32_t store_batch(std::span<const HbpStoredRow> rows, Offset begin, std::uint8_t* add_sign, const Store& store) {
    std::array<int, hbp_lanes> lanes{};  // with an entry left, ascending
    std::array<Offset, hbp_lanes> before{};
    int active = 0;
    std::uint32_t idle = ~std::uint32_t{0};
    for (int lane = 0; lane < static_cast<int>(rows.size()); ++lane) {
        if (rows[lane].length == 0) continue;
        lanes[active++] = lane;
        idle &= ~(std::uint32_t{1} << lane);
    }
    Offset entry = begin;
    for (Index k = 0; active > 0; ++k) {
        int left = 0;
        for (int i = 0; i < active; ++i) {
            const int lane = lanes[i];
            if (k > 0) add_sign[before[lane]] = static_cast<std::uint8_t>(entry - before[lane]);
            before[lane] = entry;
            store(entry++, lane, k);
            lanes[left] = lane;  // without a branch to predict
            left += k + 1 < rows[lane].length ? 1 : 0;
        }
        active = left;
    }
    return idle;
}

/// Stores the entries of a chunk, batch by batch. Returns false if the share is not a tile.
template <typename Value, typename ColumnIndex>
bool fill_chunk(const StagedMatrix& staged, const Share& share, std::int64_t chunk, const HostArray<HbpStoredRow>& stored_rows,
                std::vector<HbpOrigin>& origins, Hbp<Value, ColumnIndex, HostArray>& hbp) {
    const Cuts& segments = *staged.find_cuts(CutKind::segment);
    const Index first_column = segments.begin(share.id.segment);
    const Index columns_of_tile = segments.size(share.id.segment);
    // Copies of the pointers: writes of bytes may alias anything.
    const Index* const matrix_columns = staged.matrix.column_indices.data();
    const double* const matrix_values = staged.matrix.values.data();
    const Offset* const entries = share.entries.data();
    ColumnIndex* const columns = hbp.column_indices.data();
    Value* const data = hbp.data.data();
    const Index column_of_chunk = hbp.chunk_columns[chunk];
    Offset strays = 0;
    for (Index batch = hbp.chunk_batches[chunk]; batch < hbp.chunk_batches[chunk + 1]; ++batch) {
        const Index first_stored = hbp.batch_rows[batch];
        const std::span rows(stored_rows.data() + first_stored, hbp.batch_rows[batch + 1] - first_stored);
        std::array<Offset, hbp_lanes> places{};  // the place in Share::entries of the first entry of each lane
        std::array<Offset, hbp_lanes> firsts{};  // the first entry of each lane if the entries of a row are neighbours
        for (std::size_t lane = 0; lane < rows.size(); ++lane) {
            const HbpStoredRow& row = rows[lane];
            if (row.length == 0) continue;
            places[lane] = place_of(share, row, 0);
            firsts[lane] = entries[share.row_offsets[row.row]] + row.first;
            origins[first_stored + static_cast<Index>(lane)] = {entries[places[lane]], row.stride};
        }
        const auto store = [&](Offset entry, int lane, Index k) {
            const Offset step = Offset{k} * rows[lane].stride;
            const Offset nonzero = entries[places[lane] + step];
            const Index column = matrix_columns[nonzero];
            strays +=
                nonzero != firsts[lane] + step || column < first_column || column - first_column >= columns_of_tile ? 1 : 0;
            columns[entry] = static_cast<ColumnIndex>(column - column_of_chunk);
            data[entry] = static_cast<Value>(matrix_values[nonzero]);
        };
        hbp.zero_row[batch] = store_batch(rows, hbp.begin_ptr[batch], hbp.add_sign.data(), store);
    }
    return strays == 0;
}

template <ValueType Value, typename ColumnIndex>
void store_chunks(HbpLayout<Value>& layout, const StagedMatrix& staged, const std::vector<ChunkReach>& reaches,
                  HbpPlacement placed, double fixed_share) {
    Hbp<Value, ColumnIndex, HostArray> hbp;
    hbp.row_count = staged.matrix.rows;
    hbp.column_count = staged.matrix.columns;
    hbp.fixed_chunks = static_cast<Index>(fixed_share * static_cast<double>(reaches.size()));
    hbp.chunk_batches = std::move(placed.chunk_batches);
    hbp.begin_ptr = std::move(placed.begin_ptr);
    hbp.batch_rows = std::move(placed.batch_rows);
    hbp.output_order = std::move(placed.output_order);
    hbp.absent_rows = std::move(placed.absent_rows);
    hbp.merge_rows = std::move(placed.merge_rows);
    hbp.merge_results = std::move(placed.merge_results);
    hbp.merged_rows = std::move(placed.merged_rows);
    hbp.merged_counts = std::move(placed.merged_counts);
    for (const ChunkReach& reach : reaches) hbp.chunk_columns.push_back(reach.least);
    const auto nonzeros = static_cast<std::size_t>(hbp.begin_ptr.back());
    make_zeros(hbp.data, nonzeros);
    make_zeros(hbp.add_sign, nonzeros);
    make_zeros(hbp.column_indices, nonzeros);
    hbp.zero_row.resize(hbp.batch_rows.size() - 1);
    layout.origins.resize(placed.stored_rows.size());
    std::atomic<std::int64_t> strays = 0;
    for_each_in_parallel(hbp.chunk_count(), chunks_of_thread, [&](std::int64_t chunk) {
        const Share& share = staged.shares[placed.chunk_tiles[chunk]];
        if (!fill_chunk(staged, share, chunk, placed.stored_rows, layout.origins, hbp)) ++strays;
    });
    if (strays > 0) throw std::logic_error(fmt::format("hbp: {} chunks are not the nonzeros of a tile", strays.load()));
    layout.stored = std::move(hbp);
}

constexpr auto fill = []<ValueType Value>(HbpLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    HbpPlacement placed = place_in_batches(staged.shares, staged.matrix.rows,
                                           {.row = static_cast<Index>(parameters.integer("row_limit")),
                                            .chunk = static_cast<Index>(parameters.integer("chunk_limit"))});
    const std::vector<ChunkReach> reaches = reaches_of(staged, placed);
    const bool narrow = narrow_columns(staged, placed, reaches, parameters.text("column_index"));
    const auto store = narrow ? store_chunks<Value, std::uint16_t> : store_chunks<Value, Index>;
    store(layout, staged, reaches, std::move(placed), parameters.real("fixed_share"));
};

/// The two steps of the GPU's kernels. Each result has its own place, in y or among the partial results, and the second step
/// starts after the first has ended: threads cannot race.
template <ValueType Value>
class HbpTiles final : public Kernel<Value> {
public:
    explicit HbpTiles(const HbpLayout<Value>& layout) : layout_(layout), results_(layout.partial_results()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        std::visit([&](const auto& hbp) { multiply(hbp, x, y, accumulate); }, layout_.stored);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    void multiply(const auto& hbp, const Value* x, Value* y, bool accumulate) {
        for_each_in_parallel(hbp.chunk_count(), chunks_of_thread, [&](std::int64_t chunk) {
            const Value* const x_of_chunk = x + hbp.chunk_columns[chunk];
            for (Index batch = hbp.chunk_batches[chunk]; batch < hbp.chunk_batches[chunk + 1]; ++batch) {
                multiply_batch(hbp, batch, x_of_chunk, y, accumulate);
            }
        });
        for_each_in_parallel(static_cast<std::int64_t>(hbp.absent_rows.size()), rows_of_thread,
                             [&](std::int64_t i) { put(y, hbp.absent_rows[i], Value{0}, accumulate); });
        for_each_in_parallel(hbp.group_count(), groups_of_thread,
                             [&](std::int64_t group) { merge(hbp, group, y, accumulate); });
    }

    /// Lanes with the same output_order are neighbours, and their sums are one result.
    void multiply_batch(const auto& hbp, Index batch, const Value* x, Value* y, bool accumulate) {
        Value sum = 0;
        const Index first = hbp.batch_rows[batch];
        const Index end = hbp.batch_rows[batch + 1];
        for (Index stored = first; stored < end; ++stored) {
            const int lane = static_cast<int>(stored - first);
            const std::uint32_t zero_row = hbp.zero_row[batch];
            if (hbp_has_entries(zero_row, lane)) {
                sum += sum_of(hbp, hbp.begin_ptr[batch] + hbp_lanes_before(zero_row, lane), x);
            }
            const Index output = hbp.output_order[stored];
            if (stored + 1 < end && hbp.output_order[stored + 1] == output) continue;
            if (output >= 0) {
                put(y, output, sum, accumulate);
            } else {
                results_[~output] = sum;
            }
            sum = 0;
        }
    }

    [[nodiscard]] static Value sum_of(const auto& hbp, Offset entry, const Value* x) {
        Value sum = hbp.data[entry] * x[hbp.column_indices[entry]];
        while (const int distance = hbp.add_sign[entry]) {
            entry += distance;
            sum += hbp.data[entry] * x[hbp.column_indices[entry]];
        }
        return sum;
    }

    void merge(const auto& hbp, std::int64_t group, Value* y, bool accumulate) {
        std::array<Value, hbp_lanes> sums{};
        for_each_merged_result(hbp, group, [&](Index lane, Index result) { sums[lane] += results_[result]; });
        const Index first = hbp.merge_rows[group];
        for (Index i = first; i < hbp.merge_rows[group + 1]; ++i) put(y, hbp.merged_rows[i], sums[i - first], accumulate);
    }

    const HbpLayout<Value>& layout_;
    HostArray<Value> results_;
};

LayoutCost predict_hbp(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    constexpr std::int64_t step_bytes = 1;  // add_sign
    const Offset nonzeros = pattern.nonzeros();
    const std::int64_t column = parameters.is_word("column_index", "u16") ? short_bytes : index_bytes;
    const Offset stored_rows = pattern.rows() + nonzeros / parameters.integer("row_limit");
    const std::int64_t bytes =
        nonzeros * (value_bytes(precision) + column + step_bytes) + stored_rows * (index_bytes + short_bytes);
    LayoutCost cost = cost_of_arrays(pattern, precision, nonzeros, bytes, 0.75);
    cost.exact = false;
    return cost;
}

std::optional<DeviceStorage> on_device(const Parameters& parameters) {
    TileBatches tiles{.row_limit = static_cast<Index>(parameters.integer("row_limit")),
                      .chunk_limit = static_cast<Index>(parameters.integer("chunk_limit")),
                      .fixed_share = parameters.real("fixed_share"),
                      .short_columns = {}};
    if (!parameters.is_word("column_index", "auto")) tiles.short_columns = parameters.is_word("column_index", "u16");
    return tiles;
}

}  // namespace

template <ValueType Value>
void HbpLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    const auto nonzero = [&](Index stored, Offset k) { return origins[stored].first + k * origins[stored].stride; };
    with_stored(*this, [&](const auto& hbp) {
        for_each_hbp_slot(structure_of(hbp), nonzero, [&](const Slot& slot, Index) { visit(slot); });
    });
}

LayoutEntry hbp_entry() {
    constexpr auto walk = [](const auto& layout, const auto& visit) {
        with_stored(layout, [&](const auto& hbp) { for_each_hbp_read(structure_of(hbp), visit); });
    };
    return format<HbpLayout>(
               {.summary = "tiles for one warp or several, stored step by step without padding; a second step merges rows of "
                           "several tiles",
                .source = "HBP: Yan, Diao, Liu, An, Xu, 'A Nonlinear Hash-based Optimization Method for SpMV on GPUs' (2025), "
                          "figures 1, 2, "
                          "5",
                .examples = {std::string(example)},
                .parameters =
                    {{.name = "column_index",
                      .type = ParameterType::choice,
                      .default_value = std::string("auto"),
                      .words = {"auto", "u16", "u32"},
                      .help =
                          "columns relative to the least of their chunk: 16 bits, for up to 65536 columns, or 32; auto: 16 if "
                          "every chunk allows it"},
                     integer_parameter("row_limit", by_default(32), between(1, hbp_longest_stored_row, "nonzeros"),
                                       "longer rows of a tile are stored as several rows"),
                     integer_parameter("chunk_limit", by_default(1024), between(1, hbp_longest_stored_row, "nonzeros"),
                                       "larger tiles are multiplied by several warps, in chunks of whole batches"),
                     real_parameter(
                         "fixed_share", by_default(0.5), between(0, 1),
                         "kernel mixed: share of the chunks that are distributed to the warps in advance; the warps claim "
                         "the others")},
                .needs =
                    [](const Parameters&) {
                        return Needs{.cuts = {CutKind::row_block, CutKind::segment}, .shares = {{ShareKind::tile}}};
                    },
                .predict = predict_hbp,
                .on_device = on_device,
                .kernel_on_device = "fixed"},
               fill)
        .host<HbpTiles>("tiles", "threads claim chunks and write their rows to y or to partial results, which are then merged")
        .cuda<HbpFixed>("fixed", "chunks distributed to warps in advance, by their entries; then partial results merged", walk)
        .cuda<HbpCompetitive>("competitive", "chunks claimed by the warps from a counter; then partial results merged", walk)
        .cuda<HbpMixed>("mixed", "fixed_share of the chunks distributed, the rest claimed (the paper's mixed execution)", walk);
}

}  // namespace workbench
