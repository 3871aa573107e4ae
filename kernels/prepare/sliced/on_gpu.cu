// The steps that reorder a matrix on the GPU and store it in slices there: of rows, of rows of blocks, or of rows by parts,
// which kernels/prepare/sliced/ehyb_on_gpu.cu takes over. slicing.cuh and block_rows.cuh have their kernels.
#include "kernels/prepare/sliced/on_gpu.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include "core/contract/partition_plan.hpp"
#include "core/matrix/block_rows.hpp"
#include "core/matrix/node_size.hpp"
#include "core/text/words.hpp"
#include "kernels/common/refusal/narrow_columns.hpp"
#include "kernels/device/cuda_device.cuh"
#include "kernels/formats/block_sell/kernel_on_gpu.hpp"
#include "kernels/formats/sell/kernel_on_gpu.hpp"
#include "kernels/prepare/cuthill_mckee.cuh"
#include "kernels/prepare/primitives.cuh"
#include "kernels/prepare/sliced/ehyb_on_gpu.cuh"
#include "kernels/prepare/sliced/sliced_on_gpu.cuh"

namespace workbench {
namespace {

/// The steps of the preparation of one matrix.
template <ValueType Value>
class Slicer {
public:
    Slicer(const SlicedRequest& request, const CsrOnDevice<Value>& matrix, Device& device)
        : request_(request), matrix_(matrix), device_(device), sliced_(std::make_unique<SlicedOnGpu<Value>>(device)) {
        sliced_->rows = matrix.rows;
        sliced_->own_facts.reordered = request.cuthill_mckee || request.window;
        wait_for(stream(), cuda_device(device).stream(), event_.get());
    }

    std::unique_ptr<SlicedMatrix<Value>> run() {
        step("checks", [&] { check(); });
        if (request_.parts) plan_partition();
        if (request_.in_blocks) step("blocks", [&] { find_blocks(); });
        WorkspaceArray<Index> order;
        if (request_.cuthill_mckee) step("cuthill_mckee", [&] { order = found_order(); });
        step("rows", [&] { reorder(request_.parts ? sorted_within_parts(order) : sorted(order)); });
        offsets_ = {};
        block_offsets_ = {};
        block_columns_ = {};
        step("slices", [&] {
            if (request_.parts) {
                store_by_parts();
            } else if (request_.in_blocks) {
                slice(block_sell());
            } else {
                request_.short_columns ? slice(sell<std::uint16_t>()) : slice(sell<Index>());
            }
            sliced_->fill(matrix_.values, stream());
        });
        return std::move(sliced_);
    }

private:
    [[nodiscard]] cudaStream_t stream() const { return workspace_.stream(); }
    [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(matrix_.rows); }
    [[nodiscard]] std::size_t nodes() const { return static_cast<std::size_t>(pattern_.vertices); }
    [[nodiscard]] static unsigned blocks_for_rows(std::size_t count) {
        return blocks_of(count * slicing::lanes, block_threads);
    }

    template <typename Work>
    void step(const char* what, const Work& work) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        sliced_->own_facts.steps.push_back({what, seconds.count()});
    }

    /// Allocates an array that the result keeps.
    template <typename Item>
    DeviceMemory keep(std::size_t count, const char* purpose) {
        return device_.allocate(count * sizeof(Item), purpose);
    }

    void check() {
        offsets_ = workspace_.make<std::uint32_t>(rows() + 1);
        const auto facts = workspace_.make<slicing::RowFacts>(1);
        check_cuda(cudaMemsetAsync(facts.data(), 0, sizeof(slicing::RowFacts), stream()), "cudaMemsetAsync");
        const auto launch = [&](const auto* given) {
            slicing::check_rows<<<blocks_for_rows(rows()), block_threads, 0, stream()>>>(
                given, matrix_.column_indices, matrix_.rows, matrix_.columns, matrix_.nonzeros, offsets_.data(), facts.data());
        };
        if (matrix_.long_offsets) {
            launch(static_cast<const std::int64_t*>(matrix_.row_offsets));
        } else {
            launch(static_cast<const std::int32_t*>(matrix_.row_offsets));
        }
        check_launch("check_rows");
        const slicing::RowFacts found = workspace_.download_item(facts, 0);
        if (found.wrong != 0) throw LeftToHost("the arrays are not a CSR matrix");
        if (found.unsorted != 0) throw LeftToHost("the columns of a row do not ascend");
        longest_ = found.longest;
        const bool has_lengths = !request_.in_blocks && !request_.parts;
        if (has_lengths && longest_ > static_cast<std::uint32_t>(request_.split_length)) {
            throw LeftToHost("a row has " + counted(longest_, "nonzero") + ", more than split_length");
        }
        pattern_ = {matrix_.rows, offsets_.data(), matrix_.column_indices};
        entries_ = matrix_.nonzeros;
    }

    /// Computes where the parts begin, as the stage rcm_blocks does on the host for rows of equal weight.
    void plan_partition() {
        const DeviceProperties* const device = request_.parts->device;
        const StageContext context{device != nullptr ? device : &device_.properties(), precision_of<Value>};
        const PartitionPlan plan = plan_parts(matrix_.rows, 1, request_.parts->parameters, context, "rcm_blocks");
        sliced_->own_facts.partition = pieces_of_nodes(matrix_.rows, plan);
        require_narrow({CutKind::partition, sliced_->own_facts.partition}, "raise parts of rcm_blocks");
    }

    [[nodiscard]] slicing::RowsInBlocks in_blocks(Index size) const {
        return {offsets_.data(), matrix_.column_indices, matrix_.rows, size, block_count_of(matrix_.rows, size)};
    }
    [[nodiscard]] static unsigned blocks_for(const slicing::RowsInBlocks& matrix) {
        return blocks_of(static_cast<std::size_t>(matrix.block_rows) * slicing::tile_of_block_row, block_threads);
    }

    /// The blocks before each row of blocks, and of all.
    WorkspaceArray<Offset> counted_blocks(const slicing::RowsInBlocks& matrix) {
        auto sums = workspace_.make<Offset>(static_cast<std::size_t>(matrix.block_rows) + 1);
        slicing::count_blocks<<<blocks_for(matrix), block_threads, 0, stream()>>>(matrix, sums.data());
        check_launch("count_blocks");
        sum_up(workspace_, sums);
        return sums;
    }

    /// The rows of a node: those of the request, or as the stage node_blocks finds them.
    [[nodiscard]] Index node_size() {
        Index size = request_.node_size;
        if (size == 0) {
            const auto count = [&](Index tried) -> std::optional<Offset> {
                if (matrix_.rows % tried != 0) return std::nullopt;
                const auto sums = counted_blocks(in_blocks(tried));
                return workspace_.download_item(sums, sums.size() - 1);
            };
            size = nodes_of_fewest_bytes(matrix_.nonzeros, count).size;
            sliced_->own_facts.node_size = size;
        }
        if (matrix_.rows % size != 0) {
            throw LeftToHost("nodes of " + counted(size, "row") + " do not divide " + std::to_string(matrix_.rows) + " rows");
        }
        return size;
    }

    /// Replaces rows by rows of blocks, and nonzeros by blocks.
    void find_blocks() {
        const Index of_node = node_size();
        const Index size = request_.block_size > 0 ? request_.block_size : of_node;
        if (!is_block_size(size)) throw LeftToHost("no kernel has blocks of " + counted(size, "row"));
        if (size != of_node && sliced_->own_facts.reordered) {
            throw LeftToHost("blocks of " + counted(size, "row") + " after an order of nodes of " + std::to_string(of_node));
        }
        if (size == 1) return;
        const slicing::RowsInBlocks matrix = in_blocks(size);
        const auto sums = counted_blocks(matrix);
        const auto blocks = static_cast<std::size_t>(workspace_.download_item(sums, sums.size() - 1));
        const std::size_t slots = blocks * static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
        if (static_cast<double>(slots) > request_.slots_per_nonzero * static_cast<double>(matrix_.nonzeros)) {
            throw LeftToHost("blocks have more than slots_per_nonzero slots for each nonzero");
        }
        block_offsets_ = workspace_.make<std::uint32_t>(sums.size());
        block_columns_ = workspace_.make<Index>(blocks);
        sliced_->nonzeros_of_blocks = keep<std::uint32_t>(slots, "the nonzeros of blocks");
        static_assert(slicing::no_nonzero == 0xFFFFFFFF);
        check_cuda(cudaMemsetAsync(sliced_->nonzeros_of_blocks.address(), 0xFF, slots * sizeof(std::uint32_t), stream()),
                   "cudaMemsetAsync");
        slicing::list_blocks<<<blocks_for(matrix), block_threads, 0, stream()>>>(
            matrix, sums.data(), block_offsets_.data(), block_columns_.data(),
            sliced_->nonzeros_of_blocks.template as<std::uint32_t>());
        check_launch("list_blocks");
        sliced_->block_size = size;
        pattern_ = {matrix.block_rows, block_offsets_.data(), block_columns_.data()};
        entries_ = static_cast<std::int64_t>(blocks);
    }

    WorkspaceArray<Index> found_order() {
        std::optional<OrderOnGpu> found = cuthill_mckee_on_gpu(workspace_, pattern_, request_.reversed);
        if (!found) throw LeftToHost("the pattern suits no Cuthill-McKee on a GPU");
        sliced_->own_facts.components = found->components;
        return std::move(found->old_of_new);
    }

    /// The old node in each place; empty: the natural order.
    WorkspaceArray<std::uint32_t> sorted(const WorkspaceArray<Index>& order) {
        WorkspaceArray<std::uint32_t> old_nodes;
        if (!request_.window && order.size() == 0) return old_nodes;
        old_nodes = workspace_.make<std::uint32_t>(nodes());
        if (!request_.window) {
            check_cuda(
                cudaMemcpyAsync(old_nodes.data(), order.data(), nodes() * sizeof(Index), cudaMemcpyDeviceToDevice, stream()),
                "cudaMemcpyAsync");
            return old_nodes;
        }
        auto keys = workspace_.make<std::uint64_t>(nodes());
        const int length_bits = slicing::bits_of(longest_);
        const Index window = std::min(*request_.window, matrix_.rows);
        slicing::key_by_length<<<blocks_of(nodes(), block_threads), block_threads, 0, stream()>>>(
            offsets_.data(), order.size() == 0 ? nullptr : order.data(), pattern_.vertices, sliced_->block_size, window,
            length_bits, request_.descending, longest_, keys.data(), old_nodes.data());
        check_launch("key_by_length");
        sort_pairs(workspace_, keys, old_nodes, 0,
                   length_bits + slicing::bits_of(static_cast<std::uint32_t>(matrix_.rows / window)));
        return old_nodes;
    }

    [[nodiscard]] WorkspaceArray<std::uint32_t> sorted_within_parts(const WorkspaceArray<Index>& order) {
        return sorted_by_entries_inside(workspace_, pattern_, order.data(), sliced_->own_facts.partition, request_.descending,
                                        longest_);
    }

    void reorder(const WorkspaceArray<std::uint32_t>& old_nodes) {
        sliced_->to_old = keep<Index>(rows(), "an order");
        sliced_->to_new = keep<Index>(rows(), "an order");
        row_offsets_ = keep<Offset>(nodes() + 1, "row offsets");
        order_of_entries_ = keep<std::uint32_t>(static_cast<std::size_t>(entries_), "the order of the nonzeros");
        auto lengths = workspace_.make<Offset>(nodes() + 1);
        const auto to_old = workspace_.make<Index>(nodes());
        const auto to_new = workspace_.make<Index>(nodes());
        slicing::invert<<<blocks_of(nodes(), block_threads), block_threads, 0, stream()>>>(
            pattern_.offsets, old_nodes.size() == 0 ? nullptr : old_nodes.data(), pattern_.vertices, to_old.data(),
            to_new.data(), lengths.data());
        check_launch("invert");
        slicing::expand_order<<<blocks_of(rows(), block_threads), block_threads, 0, stream()>>>(
            to_old.data(), to_new.data(), matrix_.rows, sliced_->block_size, sliced_->to_old.template as<Index>(),
            sliced_->to_new.template as<Index>());
        check_launch("expand_order");
        sum_up(workspace_, lengths);
        check_cuda(
            cudaMemcpyAsync(row_offsets_.address(), lengths.data(), row_offsets_.bytes(), cudaMemcpyDeviceToDevice, stream()),
            "cudaMemcpyAsync");
        columns_ = workspace_.make<Index>(static_cast<std::size_t>(entries_));
        slicing::reorder_rows<<<blocks_for_rows(nodes()), block_threads, 0, stream()>>>(
            pattern_.offsets, pattern_.columns, to_old.data(), to_new.data(), row_offsets_.template as<const Offset>(),
            pattern_.vertices, columns_.data(), order_of_entries_.template as<std::uint32_t>());
        check_launch("reorder_rows");
    }

    [[nodiscard]] Index slice_height() const {
        if (request_.slice_height > 0) return request_.slice_height;
        const double mean = static_cast<double>(matrix_.nonzeros) / matrix_.rows;
        return 32 / (request_.threads_per_row > 0 ? request_.threads_per_row : sell_threads_for(mean));
    }

    template <typename ColumnIndex>
    [[nodiscard]] Sell<Value, ColumnIndex, DeviceArray> sell() const {
        Sell<Value, ColumnIndex, DeviceArray> sell;
        sell.threads_per_row = request_.threads_per_row;
        sell.split_length = request_.split_length;
        sell.slice_height = slice_height();
        return sell;
    }

    [[nodiscard]] BlockSell<Value, DeviceArray> block_sell() const {
        BlockSell<Value, DeviceArray> sell;
        sell.block_size = sliced_->block_size;
        sell.threads_per_row = request_.threads_per_row > 0
                                   ? request_.threads_per_row
                                   : block_sell_threads_for(sell.block_size, entries_, pattern_.vertices);
        sell.slice_height = 32 / sell.threads_per_row;
        return sell;
    }

    /// EHYB: the slices of both shares, and their kernel.
    void store_by_parts() {
        const ReorderedOnGpu reordered{row_offsets_.template as<const Offset>(), columns_.data(),
                                       order_of_entries_.template as<const std::uint32_t>(), matrix_.rows, longest_};
        store_ehyb(workspace_, device_, reordered, request_.outside_descending, *sliced_);
    }

    /// Fills the arrays of slices, and makes their kernel. sell: Sell or BlockSell without arrays.
    void slice(auto sell) {
        using ColumnIndex = std::remove_cvref_t<decltype(*sell.column_indices.data())>;
        constexpr bool in_blocks = requires { sell.block_size; };
        sell.row_count = matrix_.rows;
        sell.column_count = matrix_.columns;
        const Index slices = (pattern_.vertices - 1) / sell.slice_height + 1;
        const Offset area = Offset{sliced_->block_size} * sliced_->block_size;
        // A row of blocks has at most the entries of all its rows.
        if (Offset{longest_} * sliced_->block_size * area * sell.slice_height > slicing::largest_slice) {
            throw LeftToHost("a slice may have more than 2^31 slots");
        }
        const slicing::SliceShapes shapes{row_offsets_.template as<const Offset>(), columns_.data(), pattern_.vertices,
                                          sell.slice_height, slices};
        const auto count = static_cast<std::size_t>(slices);
        auto first_columns = keep<Index>(count, "first columns of slices");
        auto slots = workspace_.make<Offset>(count + 1);
        auto wide = workspace_.make<Offset>(count + 1);
        auto wide_slots = workspace_.make<Offset>(count + 1);
        const unsigned blocks = blocks_of(count, block_threads);
        slicing::measure_slices<<<blocks, block_threads, 0, stream()>>>(shapes, first_columns.template as<Index>(),
                                                                        slots.data(), wide.data(), wide_slots.data());
        check_launch("measure_slices");
        for (auto* sums : {&slots, &wide, &wide_slots}) sum_up(workspace_, *sums);
        const auto slot_count = static_cast<std::size_t>(workspace_.download_item(slots, count));
        if constexpr (!in_blocks) require_slots(static_cast<Offset>(slot_count), sell.slice_height);

        auto slice_offsets = keep<Offset>(count + 1, "slice offsets");
        check_cuda(
            cudaMemcpyAsync(slice_offsets.address(), slots.data(), slice_offsets.bytes(), cudaMemcpyDeviceToDevice, stream()),
            "cudaMemcpyAsync");
        const std::size_t value_count = slot_count * static_cast<std::size_t>(area);
        auto columns = keep<ColumnIndex>(slot_count, "columns of slices");
        auto values = keep<Value>(value_count, "values of slices");
        const unsigned of_slots = blocks_of(count * 32, block_threads);
        if constexpr (std::is_same_v<ColumnIndex, std::uint16_t>) {
            const auto wide_count = static_cast<std::size_t>(workspace_.download_item(wide, count));
            const auto high_count = static_cast<std::size_t>(workspace_.download_item(wide_slots, count));
            auto wide_offsets = keep<Offset>(wide_count, "wide slices");
            auto high_columns = keep<std::uint16_t>(high_count, "upper halves of columns");
            slicing::mark_wide_slices<<<blocks, block_threads, 0, stream()>>>(
                wide.data(), wide_slots.data(), slices, first_columns.template as<Index>(), wide_offsets.template as<Offset>());
            check_launch("mark_wide_slices");
            slicing::fill_short_columns<<<of_slots, block_threads, 0, stream()>>>(
                shapes, slots.data(), first_columns.template as<Index>(), wide_offsets.template as<Offset>(),
                columns.template as<std::uint16_t>(), high_columns.template as<std::uint16_t>());
            sell.first_columns = {std::move(first_columns), static_cast<Offset>(count)};
            sell.wide_offsets = {std::move(wide_offsets), static_cast<Offset>(wide_count)};
            sell.high_columns = {std::move(high_columns), static_cast<Offset>(high_count)};
        } else {
            slicing::fill_columns<<<of_slots, block_threads, 0, stream()>>>(shapes, slots.data(), columns.template as<Index>());
        }
        check_launch("fill_columns");
        sliced_->filled.push_back({std::move(row_offsets_), std::move(order_of_entries_), pattern_.vertices, sell.slice_height,
                                   slices, slice_offsets.template as<const Offset>(), values.template as<Value>()});
        sell.slice_offsets = {std::move(slice_offsets), static_cast<Offset>(count + 1)};
        sell.column_indices = {std::move(columns), static_cast<Offset>(slot_count)};
        sell.values = {std::move(values), static_cast<Offset>(value_count)};
        sliced_->note_arrays(sell);
        if constexpr (in_blocks) {
            sliced_->own_kernel = block_sell_kernel_on_gpu<Value>(std::move(sell), device_);
        } else {
            sliced_->own_kernel = sell_kernel_on_gpu<Value, ColumnIndex>(std::move(sell), device_);
        }
    }

    /// The kernel that reads the lengths of rows is prepared on the host only (SellLayout::by_lengths).
    void require_slots(Offset slots, Index height) const {
        const Index threads = request_.threads_per_row;
        if (threads > 0) return;
        const bool fills_warp = height == 32 || height == 16 || height == 8;
        if (!fills_warp) throw LeftToHost("slices of " + counted(height, "row") + " do not fill a warp");
        if (slots > 2 * matrix_.nonzeros) throw LeftToHost("most slots would be padding");
    }

    const SlicedRequest& request_;
    const CsrOnDevice<Value>& matrix_;
    Device& device_;
    Workspace workspace_;
    OwnedCuda<cudaEvent_t> event_ = make_event();
    WorkspaceArray<std::uint32_t> offsets_;        // of the input
    WorkspaceArray<std::uint32_t> block_offsets_;  // of its blocks
    WorkspaceArray<Index> block_columns_;
    PatternOnGpu pattern_;           // of the rows of the input, or of its rows of blocks
    std::int64_t entries_ = 0;       // of the pattern
    DeviceMemory row_offsets_;       // Offset [vertices + 1] of the reordered pattern
    DeviceMemory order_of_entries_;  // std::uint32_t [entries] the number of each of its entries in the pattern
    WorkspaceArray<Index> columns_;  // [entries] its columns
    std::uint32_t longest_ = 0;      // row of the input
    std::unique_ptr<SlicedOnGpu<Value>> sliced_;
};

[[nodiscard]] bool can_be_prepared(std::int64_t count) { return count > 0 && count < std::numeric_limits<Index>::max() - 1; }

}  // namespace

template <ValueType Value>
std::unique_ptr<SlicedMatrix<Value>> make_sliced_on_gpu(const SlicedRequest& request, const CsrOnDevice<Value>& matrix,
                                                        Device& device) {
    if (!can_be_prepared(matrix.nonzeros) || !can_be_prepared(matrix.rows)) {
        throw LeftToHost("the GPU prepares matrices of 1 to 2^31 - 3 rows and nonzeros");
    }
    if (matrix.rows != matrix.columns) throw LeftToHost("the matrix is not square");
    try {
        return Slicer<Value>(request, matrix, device).run();
    } catch (const NoRoom&) {
        throw LeftToHost("too little memory on the GPU to prepare the matrix there");
    } catch (const Unsuitable& reason) {
        throw LeftToHost(reason.what());
    }
}

template std::unique_ptr<SlicedMatrix<float>> make_sliced_on_gpu(const SlicedRequest&, const CsrOnDevice<float>&, Device&);
template std::unique_ptr<SlicedMatrix<double>> make_sliced_on_gpu(const SlicedRequest&, const CsrOnDevice<double>&, Device&);

}  // namespace workbench
