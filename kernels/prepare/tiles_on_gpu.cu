// Nodes that are placed by a key, and HBP's tiles, of a matrix that is on the GPU; tiling.cuh has the kernels.
#include "kernels/prepare/tiling.cuh"

#include <utility>

#include "kernels/formats/hbp/layout.hpp"
#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

using tiling::Fragment;

template <ValueType Value>
class HbpMaker {
public:
    HbpMaker(const StorageTask<Value>& task, const ReorderedRows& rows, const TileBatches& storage)
        : workspace_(task.workspace),
          device_(task.device),
          result_(task.result),
          rows_(rows),
          matrix_(rows_.view(task.longest)),
          storage_(storage) {
        hbp_.row_count = hbp_.column_count = matrix_.rows;
    }

    void run(const TilesOfPlan& plan) {
        list_tiles(plan);
        for (const PlaceInTiles& order : plan.orders) place(order, plan);
        place_batches();
        number_results();
        measure_chunks() ? store<std::uint16_t>() : store<Index>();
    }

private:
    [[nodiscard]] cudaStream_t stream() const { return workspace_.stream(); }
    [[nodiscard]] static unsigned blocks(std::size_t count) { return blocks_of(count, block_threads); }
    [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(matrix_.rows); }
    [[nodiscard]] std::size_t fragments() const { return fragments_.size(); }

    /// Zeros, for counts at the places after those of `count` items.
    [[nodiscard]] WorkspaceArray<Offset> counts_of(std::size_t count) {
        auto counts = workspace_.make<Offset>(count + 1);
        check_cuda(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(Offset), stream()), "cudaMemsetAsync");
        return counts;
    }

    /// Replaces counts by their prefix sums. Returns the last.
    [[nodiscard]] std::size_t total(WorkspaceArray<Offset>& counts) {
        sum_up(workspace_, counts);
        return static_cast<std::size_t>(workspace_.download_item(counts, counts.size() - 1));
    }

    /// Makes an array of the layout. Returns its address, to write to.
    template <typename Item>
    [[nodiscard]] Item* make(DeviceArray<Item>& array, std::size_t count) {
        DeviceMemory memory = room_for<Item>(device_, count, "arrays of hbp");
        Item* const address = memory.template as<Item>();
        array = {std::move(memory), static_cast<Offset>(count)};
        return address;
    }

    [[nodiscard]] WorkspaceArray<Fragment> sorted_fragments(const WorkspaceArray<std::uint32_t>& numbers) {
        auto sorted = workspace_.make<Fragment>(fragments());
        tiling::take_fragments<<<blocks(fragments()), block_threads, 0, stream()>>>(fragments_.data(), numbers.data(),
                                                                                    fragments(), sorted.data());
        check_launch("take_fragments");
        return sorted;
    }

    void list_tiles(const TilesOfPlan& plan) {
        const auto row_blocks = workspace_.upload<Index>(std::span(plan.row_blocks));
        const auto segments = workspace_.upload<Index>(std::span(plan.segments));
        const auto block_count = static_cast<Index>(row_blocks.size()) - 1;
        const auto segment_count = static_cast<Index>(segments.size()) - 1;
        const int segment_bits = on_gpu::bits_of(static_cast<std::uint32_t>(segment_count));
        const tiling::CutsOnGpu cuts{row_blocks.data(), block_count, segments.data(), segment_count, segment_bits};
        auto sums = counts_of(rows());
        tiling::count_fragments<<<blocks(rows()), block_threads, 0, stream()>>>(matrix_, cuts, sums.data());
        check_launch("count_fragments");
        const std::size_t count = total(sums);
        fragments_ = workspace_.make<Fragment>(count);
        auto keys = workspace_.make<std::uint64_t>(count);
        auto numbers = workspace_.make<std::uint32_t>(count);
        tiling::list_fragments<<<blocks(rows()), block_threads, 0, stream()>>>(matrix_, cuts, sums.data(), fragments_.data(),
                                                                               keys.data(), numbers.data());
        check_launch("list_fragments");
        sort_pairs(workspace_, keys, numbers, 0, segment_bits + on_gpu::bits_of(static_cast<std::uint32_t>(block_count)));
        fragments_ = sorted_fragments(numbers);
        tiles_until_ = counts_of(count);
        tiling::mark_tiles<<<blocks(count), block_threads, 0, stream()>>>(keys.data(), count, tiles_until_.data());
        check_launch("mark_tiles");
        first_of_tiles_ = workspace_.make<Index>(total(tiles_until_) + 1);
        tiling::find_tiles<<<blocks(count), block_threads, 0, stream()>>>(tiles_until_.data(), count, first_of_tiles_.data());
        check_launch("find_tiles");
    }

    void place(const PlaceInTiles& order, const TilesOfPlan& plan) {
        const tiling::FragmentsOnGpu given{fragments_.data(), matrix_.columns, static_cast<Index>(fragments()), matrix_.rows};
        const auto sorted = keyed(workspace_, given, order.key);
        if (order.only) {
            const auto [row_block, segment] = *order.only;
            if (!has_piece(plan.row_blocks, row_block) || !has_piece(plan.segments, segment)) throw Unsuitable(no_such_tile);
            const auto found = workspace_.make<int>(1);
            check_cuda(cudaMemsetAsync(found.data(), 0, sizeof(int), stream()), "cudaMemsetAsync");
            tiling::keep_other_tiles<<<blocks(fragments()), block_threads, 0, stream()>>>(
                matrix_.columns, fragments_.data(), fragments(),
                {plan.row_blocks[row_block], plan.row_blocks[row_block + 1], plan.segments[segment],
                 plan.segments[segment + 1]},
                sorted.data(), found.data());
            check_launch("keep_other_tiles");
            if (workspace_.download_item(found, 0) == 0) throw Unsuitable(no_such_tile);
        }
        tiling::TilesOnGpu by_key = tiles();
        by_key.fragments = sorted.data();
        fragments_ = sorted_fragments(
            placed(workspace_, by_key, order, 1, matrix_.rows, largest_key(order.key, given, matrix_.longest)));
    }
    [[nodiscard]] static bool has_piece(const std::vector<Index>& boundaries, Index piece) {
        return static_cast<std::size_t>(piece) + 1 < boundaries.size();
    }

    [[nodiscard]] tiling::TilesOnGpu tiles() const {
        return {fragments_.data(), tiles_until_.data(), first_of_tiles_.data(), static_cast<Index>(fragments()),
                static_cast<Index>(first_of_tiles_.size()) - 1};
    }

    void place_batches() {
        const HbpLimits limits{storage_.row_limit, storage_.chunk_limit};
        const auto count = static_cast<std::size_t>(tiles().tiles);
        WorkspaceArray<Offset> sums[] = {counts_of(count), counts_of(count), counts_of(count), counts_of(count)};
        const tiling::TileCounts counts{sums[0].data(), sums[1].data(), sums[2].data(), sums[3].data()};
        tiling::count_placed<<<blocks(count), block_threads, 0, stream()>>>(tiles(), limits, counts);
        check_launch("count_placed");
        const std::size_t stored_rows = total(sums[0]);
        const std::size_t batches = total(sums[1]);
        const std::size_t chunks = total(sums[2]);
        (void)total(sums[3]);
        constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max() - hbp_lanes);
        if (stored_rows > most) throw Unsuitable("there are too many stored rows in the tiles");
        stored_rows_ = workspace_.make<tiling::StoredRow>(stored_rows);
        placed_ = {stored_rows_.data(),
                   make(hbp_.chunk_batches, chunks + 1),
                   make(hbp_.begin_ptr, batches + 1),
                   make(hbp_.batch_rows, batches + 1),
                   static_cast<Index>(stored_rows),
                   static_cast<Index>(batches),
                   static_cast<Index>(chunks)};
        tiling::place_tiles<<<blocks(count), block_threads, 0, stream()>>>(tiles(), limits, counts, placed_);
        check_launch("place_tiles");
        hbp_.fixed_chunks = static_cast<Index>(storage_.fixed_share * static_cast<double>(chunks));
    }

    void number_results() {
        const auto stored_rows = stored_rows_.size();
        auto leaders = workspace_.make<std::uint32_t>(stored_rows);
        WorkspaceArray<Offset> sums[] = {counts_of(rows()), counts_of(rows()), counts_of(rows()), counts_of(rows())};
        {
            auto keys = workspace_.make<std::uint64_t>(stored_rows);
            tiling::mark_results<<<blocks(stored_rows), block_threads, 0, stream()>>>(placed_, matrix_.rows, keys.data(),
                                                                                      leaders.data(), sums[0].data());
            check_launch("mark_results");
            sort_pairs(workspace_, keys, leaders, 0, on_gpu::bits_of(static_cast<std::uint32_t>(matrix_.rows)));
        }
        const std::size_t count = total(sums[0]);
        tiling::ResultsOnGpu results{sums[0].data(), sums[1].data(), sums[2].data(), sums[3].data(), 0};
        tiling::count_merged<<<blocks(rows()), block_threads, 0, stream()>>>(results, matrix_.rows);
        check_launch("count_merged");
        const std::size_t absent = total(sums[1]);
        const std::size_t grouped = total(sums[2]);
        const std::size_t lone = total(sums[3]);
        results.grouped_rows = static_cast<Index>(grouped);
        auto merged = counts_of(grouped + lone);
        Index* const merged_counts = make(hbp_.merged_counts, grouped + lone);
        tiling::list_merged<<<blocks(rows()), block_threads, 0, stream()>>>(
            results, matrix_.rows, make(hbp_.absent_rows, absent), make(hbp_.merged_rows, grouped + lone), merged_counts,
            merged.data());
        check_launch("list_merged");
        partial_results_ = total(merged);
        const std::size_t groups = static_cast<std::size_t>(results.groups_of_several()) + lone;
        Index* const merge_rows = make(hbp_.merge_rows, groups + 1);
        Index* const merge_results = make(hbp_.merge_results, groups + 1);
        tiling::list_groups<<<blocks(groups + 1), block_threads, 0, stream()>>>(results, groups, merged.data(), merge_rows,
                                                                                merge_results);
        check_launch("list_groups");
        tiling::order_outputs<<<blocks(count), block_threads, 0, stream()>>>(placed_, results, leaders.data(), count,
                                                                             merge_rows, merge_results, merged_counts,
                                                                             make(hbp_.output_order, stored_rows));
        check_launch("order_outputs");
    }

    /// Returns true for columns of 16 bits.
    [[nodiscard]] bool measure_chunks() {
        const auto chunks = static_cast<std::size_t>(placed_.chunks);
        const auto first_entries = workspace_.make<Offset>(chunks + 1);
        const auto wide = workspace_.make<int>(1);
        check_cuda(cudaMemsetAsync(wide.data(), 0, sizeof(int), stream()), "cudaMemsetAsync");
        tiling::measure_chunks<<<blocks(chunks), block_threads, 0, stream()>>>(
            placed_, matrix_.columns, make(hbp_.chunk_columns, chunks), first_entries.data(), wide.data());
        check_launch("measure_chunks");
        const bool suffices = workspace_.download_item(wide, 0) == 0;
        make_room(first_entries_, chunks + 1);
        copy_from_device(device_, first_entries.data(), std::span(first_entries_));
        if (!suffices && storage_.short_columns.value_or(false)) {
            throw Unsuitable("a chunk reaches over more columns than 16 bits count");
        }
        return storage_.short_columns.value_or(suffices);
    }

    template <typename ColumnIndex>
    void store() {
        Hbp<Value, ColumnIndex, DeviceArray> hbp;
        for_each_field(
            []<typename From, typename To>(const FieldInfo&, From& from, To& to) {
                if constexpr (std::is_same_v<From, To>) to = std::move(from);
            },
            hbp_, hbp);
        const std::size_t nonzeros = rows_.columns.size();
        DeviceMemory sources = room_for<std::uint32_t>(device_, nonzeros, "the nonzeros of tiles");
        tiling::fill_batches<<<blocks(stored_rows_.size()), block_threads, 0, stream()>>>(
            placed_, matrix_, hbp.chunk_columns.data(), make(hbp.zero_row, static_cast<std::size_t>(placed_.batches)),
            make(hbp.column_indices, nonzeros), sources.as<std::uint32_t>(), make(hbp.add_sign, nonzeros));
        check_launch("fill_batches");
        result_.gathered.push_back({std::move(sources), nonzeros, nonzeros, make(hbp.data, nonzeros)});
        result_.note_arrays(hbp);
        const auto values = 2 * (rows() + partial_results_);  // x, y, and each partial result twice
        const HbpProduct product{partial_results_, result_.own_facts.bytes + static_cast<std::int64_t>(values * sizeof(Value))};
        result_.own_kernel = hbp_kernel_on_gpu<Value, ColumnIndex>(std::move(hbp), first_entries_, product, device_);
    }

    static constexpr const char* no_such_tile = "there is no such tile with nonzeros";

    Workspace& workspace_;
    Device& device_;
    PlannedOnGpu<Value>& result_;
    const ReorderedRows& rows_;
    ReorderedOnGpu matrix_;
    TileBatches storage_;
    WorkspaceArray<Fragment> fragments_;
    WorkspaceArray<Offset> tiles_until_;
    WorkspaceArray<Index> first_of_tiles_;
    WorkspaceArray<tiling::StoredRow> stored_rows_;
    tiling::PlacedOnGpu placed_{};  // in arrays of hbp_
    std::size_t partial_results_ = 0;
    HostArray<Offset> first_entries_;     // [chunks + 1]
    Hbp<Value, Index, DeviceArray> hbp_;  // without columns and values
};

}  // namespace

template <ValueType Value>
void store_tiles(const StorageTask<Value>& task, const ReorderedRows& rows, const TileBatches& storage,
                 const TilesOfPlan& plan) {
    HbpMaker<Value>(task, rows, storage).run(plan);
}

template void store_tiles(const StorageTask<float>&, const ReorderedRows&, const TileBatches&, const TilesOfPlan&);
template void store_tiles(const StorageTask<double>&, const ReorderedRows&, const TileBatches&, const TilesOfPlan&);

}  // namespace workbench
