#include "kernels/formats/hbp/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "core/contract/errors.hpp"
#include "core/matrix/host_array.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/device/tuned.hpp"

namespace workbench {
namespace {

Offset length_of(const Share& share, std::size_t row) { return share.row_offsets[row + 1] - share.row_offsets[row]; }

void require_numbers(const std::vector<Share>& tiles, Index row_limit) {
    Offset stored_rows = 0;
    for (const Share& share : tiles) {
        for (std::size_t row = 0; row < share.rows.size(); ++row) stored_rows += hbp_parts_of(length_of(share, row), row_limit);
    }
    constexpr Offset most = std::numeric_limits<Index>::max() - hbp_lanes;  // a batch may end after the last
    if (stored_rows > most) {
        throw Unsuitable(fmt::format(
            "{} stored rows in the tiles, but their numbers of 32 bits end at {}: make segments wider, or raise row_limit",
            stored_rows, most));
    }
}

/// The stored rows, batches and chunks of one tile, counted from its first.
class TilePlacing {
public:
    TilePlacing(const Share& share, const HbpLimits& limits) {
        stored_rows.reserve(share.rows.size());
        HbpTilePlacing placing(limits, *this);
        for (std::size_t row = 0; row < share.rows.size(); ++row)
            placing.place_row(static_cast<Index>(row), length_of(share, row));
        placing.end();
    }

    void row(const HbpStoredRow& row, const HbpCounts&) { stored_rows.push_back(row); }
    void batch(const HbpCounts& counts) {
        batch_rows.push_back(counts.stored_rows);
        begin_ptr.push_back(counts.entries);
    }
    void chunk(const HbpCounts& counts) { chunk_batches.push_back(counts.batches); }

    HostArray<HbpStoredRow> stored_rows;
    HostArray<Index> chunk_batches{0};  // [chunks + 1]
    HostArray<Offset> begin_ptr{0};     // [batches + 1]
    HostArray<Index> batch_rows{0};     // [batches + 1]
};

/// Appends the offsets of a tile, without the first, relative to the last one.
template <typename Integer>
void append_counted(HostArray<Integer>& all, const HostArray<Integer>& of_tile) {
    const Integer before = all.back();
    for (std::size_t i = 1; i < of_tile.size(); ++i) all.push_back(before + of_tile[i]);
}

class Placing {
public:
    Placing(const std::vector<Share>& tiles, Index row_count, const HbpLimits& limits) : tiles_(tiles) {
        place_tiles(limits);
        find_row_blocks();
        number_results(row_count);
        order_outputs();
    }

    [[nodiscard]] HbpPlacement take() { return std::move(made_); }

private:
    void place_tiles(const HbpLimits& limits) {
        std::vector<std::optional<TilePlacing>> placed(tiles_.size());
        for_each_in_parallel(std::ssize(tiles_), 1, [&](std::int64_t tile) { placed[tile].emplace(tiles_[tile], limits); });
        made_.chunk_batches = {0};
        made_.begin_ptr = {0};
        made_.batch_rows = {0};
        HostArray<Offset> first_rows{0};
        for (std::size_t tile = 0; tile < placed.size(); ++tile) {
            append_counted(made_.chunk_batches, placed[tile]->chunk_batches);
            append_counted(made_.begin_ptr, placed[tile]->begin_ptr);
            append_counted(made_.batch_rows, placed[tile]->batch_rows);
            made_.chunk_tiles.resize(made_.chunk_batches.size() - 1, static_cast<Index>(tile));
            first_rows.push_back(first_rows.back() + std::ssize(placed[tile]->stored_rows));
        }
        make_zeros(made_.stored_rows, first_rows.back());
        for_each_in_parallel(std::ssize(tiles_), 1, [&](std::int64_t tile) {
            const HostArray<HbpStoredRow>& rows = placed[tile]->stored_rows;
            std::copy(rows.begin(), rows.end(), made_.stored_rows.begin() + first_rows[tile]);
        });
    }

    void find_row_blocks() {
        std::vector<Index> row_blocks;
        for (const Index tile : made_.chunk_tiles) row_blocks.push_back(tiles_[tile].id.row_block);
        block_chunks_ = hbp_block_chunks(row_blocks);
    }

    /// Calls visit(row of the matrix, first stored row, end) for what gives one result each: the stored rows of a batch that
    /// belong to the same row. Blocks of rows in parallel, each in the order of its chunks.
    void for_each_result(const auto& visit) const {
        for_each_in_parallel(std::ssize(block_chunks_) - 1, 1, [&](std::int64_t block) {
            for (std::size_t chunk = block_chunks_[block]; chunk < block_chunks_[block + 1]; ++chunk) {
                for_each_result_of(chunk, visit);
            }
        });
    }

    void for_each_result_of(std::size_t chunk, const auto& visit) const {
        const Share& share = tiles_[made_.chunk_tiles[chunk]];
        for (Index batch = made_.chunk_batches[chunk]; batch < made_.chunk_batches[chunk + 1]; ++batch) {
            const Index end_of_batch = made_.batch_rows[batch + 1];
            for (Index stored = made_.batch_rows[batch]; stored < end_of_batch;) {
                const Index row = made_.stored_rows[stored].row;
                Index end = stored + 1;
                while (end < end_of_batch && made_.stored_rows[end].row == row) ++end;
                visit(share.rows[row], stored, end);
                stored = end;
            }
        }
    }

    /// Groups of 32 rows, and of one row where it has more results than a lane should read alone.
    void number_results(Index row_count) {
        counts_.assign(row_count, 0);
        for_each_result([&](Index row, Index, Index) { ++counts_[row]; });
        made_.merge_rows = {0};
        made_.merge_results = {0};
        HostArray<Index> lone;
        for (Index row = 0; row < row_count; ++row) {
            if (counts_[row] == 0) made_.absent_rows.push_back(row);
            if (counts_[row] > hbp_lanes) lone.push_back(row);
            if (counts_[row] < 2 || counts_[row] > hbp_lanes) continue;
            add_merged(row);
            if (static_cast<Index>(made_.merged_rows.size()) - made_.merge_rows.back() == hbp_lanes) end_group();
        }
        end_group();
        for (const Index row : lone) {
            add_merged(row);
            end_group();
        }
    }

    void add_merged(Index row) {
        made_.merged_rows.push_back(row);
        made_.merged_counts.push_back(counts_[row]);
    }

    void end_group() {
        const auto merged = static_cast<Index>(made_.merged_rows.size());
        if (merged == made_.merge_rows.back()) return;
        Index results = made_.merge_results.back();
        for (Index i = made_.merge_rows.back(); i < merged; ++i) results += made_.merged_counts[i];
        made_.merge_rows.push_back(merged);
        made_.merge_results.push_back(results);
    }

    /// The numbers of the results of each merged row, one row after another.
    [[nodiscard]] HostArray<Index> numbers_of_results(HostArray<Index>& first_of_row) const {
        HostArray<Index> numbers(made_.merge_results.back());
        for_each_in_parallel(std::ssize(made_.merge_rows) - 1, groups_of_thread, [&](std::int64_t group) {
            Index first = made_.merge_results[group];
            Index next = first;
            Index most = 0;
            for (Index i = made_.merge_rows[group]; i < made_.merge_rows[group + 1]; ++i) {
                first_of_row[made_.merged_rows[i]] = first;
                first += made_.merged_counts[i];
                most = std::max(most, made_.merged_counts[i]);
            }
            for (Index k = 0; k < most; ++k) {
                for (Index i = made_.merge_rows[group]; i < made_.merge_rows[group + 1]; ++i) {
                    if (k < made_.merged_counts[i]) numbers[first_of_row[made_.merged_rows[i]] + k] = next++;
                }
            }
        });
        return numbers;
    }

    void order_outputs() {
        HostArray<Index> next_of_row(counts_.size(), 0);
        const HostArray<Index> numbers = numbers_of_results(next_of_row);
        make_zeros(made_.output_order, made_.stored_rows.size());
        for_each_result([&](Index row, Index first, Index end) {
            const Index output = counts_[row] == 1 ? row : ~numbers[next_of_row[row]++];
            std::fill(made_.output_order.begin() + first, made_.output_order.begin() + end, output);
        });
    }

    const std::vector<Share>& tiles_;
    HbpPlacement made_;
    std::vector<std::size_t> block_chunks_;  // [blocks of rows + 1]
    HostArray<Index> counts_;                // [rows] results of each
};

}  // namespace

HbpPlacement place_in_batches(const std::vector<Share>& tiles, Index row_count, const HbpLimits& limits) {
    require_numbers(tiles, limits.row);
    return Placing(tiles, row_count, limits).take();
}

std::vector<std::size_t> hbp_block_chunks(const std::vector<Index>& row_blocks) {
    std::vector<std::size_t> first{0};
    for (std::size_t chunk = 1; chunk < row_blocks.size(); ++chunk) {
        if (row_blocks[chunk] == row_blocks[chunk - 1]) continue;
        if (row_blocks[chunk] < row_blocks[chunk - 1]) {  // out of order: blocks may come again
            first = {0};
            break;
        }
        first.push_back(chunk);
    }
    first.push_back(row_blocks.size());
    return first;
}

HostArray<Offset> hbp_first_entries(const HostArray<Index>& chunk_batches, const HostArray<Offset>& begin_ptr) {
    HostArray<Offset> first_entries;
    for (const Index batch : chunk_batches) first_entries.push_back(begin_ptr[batch]);
    return first_entries;
}

HostArray<Index> deal_hbp_chunks(const HostArray<Offset>& first_entries, Index dealt, Index warps) {
    const auto cost_before = [&](Index chunk) { return first_entries[chunk] + tuned::hbp_cost_of_chunk * chunk; };
    const auto cost_of_warp = static_cast<double>(cost_before(dealt)) / warps;
    HostArray<Index> deals{0};
    for (Index chunk = 0; chunk < dealt; ++chunk) {  // to the warp whose share contains its middle
        const auto middle = static_cast<double>(cost_before(chunk) + cost_before(chunk + 1)) / 2;
        const auto warp = std::min(static_cast<Index>(middle / cost_of_warp), warps - 1);
        while (static_cast<Index>(deals.size()) <= warp) deals.push_back(chunk);
    }
    while (static_cast<Index>(deals.size()) <= warps) deals.push_back(dealt);
    return deals;
}

}  // namespace workbench
