// The steps that reorder a matrix on the GPU and store it there. slices_on_gpu.cu, rows_on_gpu.cu, ehyb_on_gpu.cu,
// tiles_on_gpu.cu and shares_on_gpu.cu have the storages; slicing.cuh and blocks_on_gpu.cu have the kernels.
#include "kernels/prepare/plan_on_gpu.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <ranges>
#include <string>
#include <utility>

#include "core/contract/partition_plan.hpp"
#include "core/matrix/node_size.hpp"
#include "core/matrix/permutation.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/device/cuda_device.cuh"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/prepare/cuthill_mckee.cuh"
#include "kernels/prepare/planned_on_gpu.cuh"
#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

[[nodiscard]] bool is_node_step(const PlanStep& each) { return std::holds_alternative<KeepNodes>(each.step); }

/// Thrown for a pattern that a GPU does not order, for which the stage runs on the host.
struct OtherPattern : Unsuitable {
    using Unsuitable::Unsuitable;
};

/// Carries out one plan. Orders are found one after another, and the matrix moves to them once, when it is stored or when a
/// further order has to begin there.
template <ValueType Value>
class PlanOnGpu {
public:
    PlanOnGpu(const DevicePlan& plan, const CsrOnDevice<Value>& matrix, Device& device)
        : plan_(plan),
          matrix_(matrix),
          device_(device),
          node_size_(plan.node_size),
          planned_(std::make_unique<PlannedOnGpu<Value>>(device)) {
        planned_->rows = matrix.rows;
        planned_->columns = matrix.columns;
        planned_->nonzeros = static_cast<std::size_t>(matrix.nonzeros);
        wait_for(stream(), cuda_device(device).stream(), event_.get());
    }

    PlanOnGpu(const PlanOnGpu&) = delete;
    PlanOnGpu& operator=(const PlanOnGpu&) = delete;
    ~PlanOnGpu() { (void)cudaStreamSynchronize(stream()); }  // which may write arrays of the result, after an exception

    std::unique_ptr<PlannedMatrix<Value>> run() {
        step("checks", [&] { check(); });
        for (const PlanStep& each : plan_.steps) {
            if (!is_node_step(each)) require_blocks();
            step(
                each.stage, [&] { take(each); }, true);
        }
        require_blocks();
        step("rows", [&] { reorder(); });
        offsets_ = {};
        blocks_ = {};
        moved_ = {};
        step("arrays", [&] {
            if (plan_.shares.empty()) {
                std::visit([&](const auto& storage) { store(storage); }, settled(task(), stored_, plan_, node_size_));
            } else {
                store_shares(task(), stored_, plan_);
            }
            planned_->fill(task().values(), stream());
        });
        planned_->own_facts.node_size = node_size_;
        return std::move(planned_);
    }

private:
    /// The pattern in the orders so far. No arrays: the pattern is that of the input.
    struct Moved {
        WorkspaceArray<std::uint32_t> offsets;
        WorkspaceArray<Index> columns;
        WorkspaceArray<std::uint32_t> numbers;  // of the entries, in the first pattern
    };

    void take(const PlanStep& each) {
        try {
            std::visit([&](const auto& one) { take(one, each.stage); }, each.step);
        } catch (const OtherPattern& reason) {
            if (!each.on_host) throw;
            note(each.stage, reason.what());
            take(*each.on_host, each.stage);
        }
    }

    void take(const KeepNodes& keep, const std::string& stage) {
        if (keep.rows > 0) {
            node_size_ = keep.rows;
        } else if (node_size_ == 1) {
            node_size_ = found_node_size();
            note(stage, "unknowns a node: " + std::to_string(node_size_));
        }
        require_whole_nodes();
    }

    void take(const OrderByLevels& levels, const std::string& stage) {
        order_by_levels(levels.reversed);
        note(stage, "connected components: " + std::to_string(components_));
    }

    void take(const SortByDegree& sort, const std::string&) {
        begin_order();
        std::optional<WorkspaceArray<Index>> found = degree_order_on_gpu(workspace_, graph(), sort.descending);
        if (!found) throw OtherPattern("the pattern is not symmetric");
        set_order(*std::move(found));
    }

    void take(const TakeOrder& taken, const std::string& stage) {
        begin_order();
        const std::vector<Index> parts = planned_->own_facts.partition;
        StagedMatrix staged = sizes_so_far();
        const bool has_moved = moved_.numbers.size() > 0;
        const PatternOnGpu rows{matrix_.rows, has_moved ? moved_.offsets.data() : offsets_.data(),
                                has_moved ? moved_.columns.data() : matrix_.column_indices};
        copy_lengths(task(), rows, staged.matrix);
        if (taken.reads_entries) {
            (void)task().values();  // have arrived
            const auto begin = std::chrono::steady_clock::now();
            copy_entries(task(), rows, has_moved ? moved_.numbers.data() : nullptr, staged.matrix);
            note(stage, "on the host, to which the matrix was copied in " + duration(seconds_since(begin)));
        }
        const auto begin = std::chrono::steady_clock::now();
        GivenOrder given = taken.find(staged, context());
        untimed_seconds_ += seconds_since(begin) - given.seconds;
        for (const auto& [what, text] : given.notes) note(stage, what + ": " + text);
        if (taken.has_parts) require_narrow_parts(given.partition, "have more parts");
        const std::span<const Index> natural = staged.row_order.old_of_new();
        if (given.old_of_new.empty()) given.old_of_new.assign(natural.begin(), natural.end());
        for (std::size_t node = 0; node < nodes(); ++node) {
            given.old_of_new[node] = given.old_of_new[node * static_cast<std::size_t>(node_size_)] / node_size_;
        }
        set_order(workspace_.upload<Index>(std::span(given.old_of_new).first(nodes())), taken.acts);
        if (taken.has_parts) planned_->own_facts.partition = std::move(given.partition);
        if (taken.keeps_parts) planned_->own_facts.partition = parts;
    }

    /// The matrix for a stage on the host, without its entries.
    [[nodiscard]] StagedMatrix sizes_so_far() const {
        StagedMatrix staged;
        staged.matrix.rows = matrix_.rows;
        staged.matrix.columns = matrix_.columns;
        staged.row_order = Permutation::identity(matrix_.rows);
        staged.column_order = Permutation::identity(matrix_.columns);
        staged.node_size = node_size_;
        const std::vector<Index>& parts = planned_->own_facts.partition;
        if (!parts.empty()) staged.cuts = {{CutKind::partition, parts}};
        return staged;
    }

    /// Where the parts begin is what the stage rcm_blocks computes on the host.
    void take(const CutLevels& cut, const std::string& stage) {
        const PartitionPlan plan = plan_parts(matrix_.rows, node_size_, cut.parameters, context(), cut.stage);
        const RowWeight weight = row_weight(cut.parameters, context());
        std::vector<Index> parts;
        const auto cut_nodes = [&](std::vector<Index> pieces) {
            parts = std::move(pieces);
            for (Index& begin : parts) begin *= node_size_;
            if (cut.keeps_parts) require_narrow_parts(parts, "raise parts of " + cut.stage);
        };
        if (weight.is_equal()) cut_nodes(pieces_of_nodes(matrix_.rows / node_size_, plan));  // before the time of an order
        order_by_levels(true);
        if (!weight.is_equal()) {
            const auto offsets = workspace_.download(moved_.offsets.size() > 0 ? moved_.offsets : offsets_);
            cut_nodes(pieces_of_rows(offsets, workspace_.download(order_), node_size_, weight, plan));
        }
        set_partition(stage, std::move(parts));
        if (!cut.keeps_parts) planned_->own_facts.partition.clear();
    }

    [[nodiscard]] StageContext context() const {
        return {plan_.model != nullptr ? plan_.model : &device_.properties(), precision_of<Value>};
    }

    void require_narrow_parts(const std::vector<Index>& parts, const std::string& advice) const {
        const auto* const slices = std::get_if<PartSlices>(&plan_.storage);
        if (slices != nullptr && slices->short_columns) require_narrow({CutKind::partition, parts}, advice);
    }
    void set_partition(const std::string& stage, std::vector<Index> parts) {
        note(stage, "partitions: " + std::to_string(parts.size() - 1));
        planned_->own_facts.partition = std::move(parts);
    }

    void take(const SortRows& sort, const std::string&) {
        const bool by_columns = depends_on_columns(sort.key);  // in the order so far
        const bool alike = sort.acts == Acts::symmetric && acts_ == Acts::symmetric;
        if (old_nodes_.size() > 0 || ((by_columns || !alike) && order_.size() > 0)) move_pattern();
        const PatternOnGpu input{matrix_.rows, offsets_.data(), matrix_.column_indices};
        old_nodes_ = placed_nodes(
            workspace_,
            {in_blocks() ? input : pattern_, order_.data(), static_cast<Index>(nodes()), node_size_, matrix_.columns}, sort,
            planned_->own_facts.partition, longest_);
        if (!sort.within_partition) planned_->own_facts.partition.clear();
        set_acts(sort.acts);
    }

    /// The nonzeros are divided when they are stored.
    void take(const SplitNonzeros&, const std::string&) {}
    void take(const SortShare& sort, const std::string&) { sorts_outside_.push_back(sort); }

    /// Tiles are made when they are stored, too.
    void take(const CutRows& cut, const std::string& stage) {
        tiles_.row_blocks = cut.boundaries(matrix_.rows, planned_->own_facts.partition);
        note(stage, "row blocks: " + std::to_string(tiles_.row_blocks.size() - 1));
    }
    void take(const CutColumns& cut, const std::string& stage) {
        tiles_.segments = cut.boundaries(matrix_.columns, context());
        note(stage, "segments: " + std::to_string(tiles_.segments.size() - 1));
    }
    void take(const PlaceInTiles& place, const std::string&) { tiles_.orders.push_back(place); }

    void note(const std::string& stage, const std::string& text) { planned_->own_facts.notes.push_back(stage + ": " + text); }

    [[nodiscard]] bool in_blocks() const { return std::holds_alternative<BlockSlices>(plan_.storage); }

    [[nodiscard]] cudaStream_t stream() const { return workspace_.stream(); }
    [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(matrix_.rows); }
    [[nodiscard]] std::size_t pattern_rows() const { return static_cast<std::size_t>(pattern_.vertices); }
    /// That orders move. After an order, blocks are those of nodes.
    [[nodiscard]] std::size_t nodes() const {
        return in_blocks() ? pattern_rows() : rows() / static_cast<std::size_t>(node_size_);
    }
    [[nodiscard]] static unsigned blocks_for_rows(std::size_t count) { return blocks_of(count * on_gpu::lanes, block_threads); }

    template <typename Work>
    void step(const std::string& what, const Work& work, bool is_stage = false) {
        PlannedFacts& facts = planned_->own_facts;
        const double others = facts.waited_seconds + untimed_seconds_;
        const auto begin = std::chrono::steady_clock::now();
        work();
        check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
        facts.steps.push_back({what, is_stage, seconds_since(begin) - (facts.waited_seconds + untimed_seconds_ - others)});
    }

    [[nodiscard]] static double seconds_since(std::chrono::steady_clock::time_point begin) {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    /// Allocates an array that the result keeps.
    template <typename Item>
    DeviceMemory keep(std::size_t count, const char* purpose) {
        return device_.allocate(count * sizeof(Item), purpose);
    }

    void check() {
        offsets_ = workspace_.make<std::uint32_t>(rows() + 1);
        const auto facts = workspace_.make<on_gpu::RowFacts>(1);
        check_cuda(cudaMemsetAsync(facts.data(), 0, sizeof(on_gpu::RowFacts), stream()), "cudaMemsetAsync");
        const auto launch = [&](const auto* given) {
            on_gpu::check_rows<<<blocks_for_rows(rows()), block_threads, 0, stream()>>>(
                given, matrix_.column_indices, matrix_.rows, matrix_.columns, matrix_.nonzeros, offsets_.data(), facts.data());
        };
        if (matrix_.long_offsets) {
            launch(static_cast<const std::int64_t*>(matrix_.row_offsets));
        } else {
            launch(static_cast<const std::int32_t*>(matrix_.row_offsets));
        }
        check_launch("check_rows");
        const on_gpu::RowFacts found = workspace_.download_item(facts, 0);
        if (found.wrong != 0) throw Unsuitable("the arrays are not a CSR matrix");
        if (found.unsorted != 0) throw Unsuitable("the columns of a row do not ascend");
        require_whole_nodes();
        longest_ = found.longest;
        pattern_ = {matrix_.rows, offsets_.data(), matrix_.column_indices};
        entries_ = matrix_.nonzeros;
    }

    void require_whole_nodes() const {
        if (node_size_ == 1 || (matrix_.rows == matrix_.columns && matrix_.rows % node_size_ == 0)) return;
        throw Unsuitable("nodes of " + counted(node_size_, "row") + " do not divide " + counted(matrix_.rows, "row"));
    }

    /// The rows of a node, as the stage node_blocks finds them.
    [[nodiscard]] Index found_node_size() {
        const auto count = [&](Index tried) -> std::optional<Offset> {
            if (matrix_.rows % tried != 0) return std::nullopt;
            const auto sums = counted_blocks(workspace_, pattern_, tried);
            return workspace_.download_item(sums, sums.size() - 1);
        };
        return nodes_of_fewest_bytes(matrix_.nonzeros, count).size;
    }

    /// Before the first order, for a layout of blocks.
    void require_blocks() {
        if (!in_blocks() || has_blocks_) return;
        has_blocks_ = true;
        step("blocks", [&] { find_blocks(std::get<BlockSlices>(plan_.storage)); });
    }

    /// Replaces rows by rows of blocks, and nonzeros by blocks.
    void find_blocks(const BlockSlices& storage) {
        const Index size = storage.block_size > 0 ? storage.block_size : node_size_;
        if (!is_block_size(size)) throw Unsuitable("no kernel has blocks of " + counted(size, "row"));
        if (size != node_size_ && !std::ranges::all_of(plan_.steps, is_node_step)) {
            throw Unsuitable("blocks of " + counted(size, "row") + " after an order of nodes of " + std::to_string(node_size_));
        }
        if (size == 1) return;
        const auto sums = counted_blocks(workspace_, pattern_, size);
        const auto blocks = static_cast<std::size_t>(workspace_.download_item(sums, sums.size() - 1));
        const std::size_t slots = blocks * static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
        if (static_cast<double>(slots) > storage.slots_per_nonzero * static_cast<double>(matrix_.nonzeros)) {
            throw Unsuitable("blocks have more than slots_per_nonzero slots for each nonzero");
        }
        stored_.nonzeros_of_blocks = keep<std::uint32_t>(slots, "the nonzeros of blocks");
        static_assert(no_item == 0xFFFFFFFF);
        check_cuda(cudaMemsetAsync(stored_.nonzeros_of_blocks.address(), 0xFF, slots * sizeof(std::uint32_t), stream()),
                   "cudaMemsetAsync");
        blocks_ =
            listed_blocks(workspace_, pattern_, size, sums, blocks, stored_.nonzeros_of_blocks.template as<std::uint32_t>());
        stored_.block_size = size;
        pattern_ = blocks_.pattern();
        entries_ = static_cast<std::int64_t>(blocks);
    }

    /// The graph that the next order numbers.
    [[nodiscard]] PatternOnGpu graph() {
        if (nodes() == pattern_rows()) return pattern_;
        const auto sums = counted_blocks(workspace_, pattern_, node_size_);
        const auto blocks = static_cast<std::size_t>(workspace_.download_item(sums, sums.size() - 1));
        blocks_ = listed_blocks(workspace_, pattern_, node_size_, sums, blocks, nullptr);
        return blocks_.pattern();
    }

    void order_by_levels(bool reversed) {
        begin_order();
        std::optional<OrderOnGpu> found = cuthill_mckee_on_gpu(workspace_, graph(), reversed);
        if (!found) throw OtherPattern("the pattern suits no Cuthill-McKee on a GPU");
        components_ = found->components;
        set_order(std::move(found->old_of_new));
    }

    /// The next order begins with the last one.
    void begin_order() {
        if (order_.size() > 0 || old_nodes_.size() > 0) move_pattern();
    }
    void set_order(WorkspaceArray<Index> order, Acts acts = Acts::symmetric) {
        order_ = std::move(order);
        planned_->own_facts.partition.clear();
        set_acts(acts);
    }
    void set_acts(Acts acts) {
        acts_ = acts;
        if (acts != Acts::rows) planned_->own_facts.reordered = true;
        if (acts != Acts::symmetric) planned_->own_facts.rows_apart = true;
    }

    /// Moves the pattern to the order that was found last. columns, numbers: [entries] of the moved rows. Returns their
    /// offsets.
    WorkspaceArray<Offset> move(Index* columns, std::uint32_t* numbers) {
        if (old_nodes_.size() == 0 && order_.size() > 0) {
            old_nodes_ = workspace_.make<std::uint32_t>(nodes());
            check_cuda(
                cudaMemcpyAsync(old_nodes_.data(), order_.data(), nodes() * sizeof(Index), cudaMemcpyDeviceToDevice, stream()),
                "cudaMemcpyAsync");
        }
        OrderBothWays found = both_ways(workspace_, old_nodes_.data(), nodes());
        if (nodes() < pattern_rows()) found = expanded(workspace_, found, node_size_, pattern_rows());
        OrderBothWays natural;
        if (acts_ != Acts::symmetric) {
            natural = both_ways(workspace_, nullptr, acts_ == Acts::rows ? static_cast<std::size_t>(matrix_.columns) : rows());
        }
        const RowMove task{.pattern = pattern_,
                           .entries = entries_,
                           // A row of blocks has at most the entries of all its rows.
                           .longest = std::int64_t{longest_} * stored_.block_size,
                           .of_rows = acts_ == Acts::columns ? natural : found,
                           .of_columns = acts_ == Acts::rows ? natural : found,
                           .are_natural = old_nodes_.size() == 0};
        WorkspaceArray<Offset> offsets = move_rows(workspace_, task, columns, numbers);
        if (moved_.numbers.size() > 0) compose(workspace_, moved_.numbers.data(), numbers, moved_.numbers.size());
        if (acts_ != Acts::symmetric && !are_apart_) {
            are_apart_ = true;
            of_columns_ = copy_of(workspace_, of_rows_);
        }
        if (!task.are_natural && acts_ != Acts::columns) follow(workspace_, of_rows_, found);
        if (!task.are_natural && are_apart_ && acts_ != Acts::rows) follow(workspace_, of_columns_, found);
        order_ = {};
        old_nodes_ = {};
        acts_ = Acts::symmetric;
        return offsets;
    }

    /// So that a further order begins from the one that was found last. Entries are nonzeros.
    void move_pattern() {
        Moved moved;
        moved.offsets = workspace_.make<std::uint32_t>(pattern_rows() + 1);
        moved.columns = workspace_.make<Index>(static_cast<std::size_t>(entries_));
        moved.numbers = workspace_.make<std::uint32_t>(static_cast<std::size_t>(entries_));
        const WorkspaceArray<Offset> offsets = move(moved.columns.data(), moved.numbers.data());
        on_gpu::narrow<<<blocks_of(pattern_rows() + 1, block_threads), block_threads, 0, stream()>>>(
            offsets.data(), pattern_rows() + 1, moved.offsets.data());
        check_launch("narrow");
        moved_ = std::move(moved);
        pattern_ = {pattern_.vertices, moved_.offsets.data(), moved_.columns.data()};
    }

    /// The rows, or rows of blocks, that are stored, and the order of x and y.
    void reorder() {
        stored_.rows = pattern_.vertices;
        stored_.offsets = keep<Offset>(pattern_rows() + 1, "row offsets");
        stored_.entries = keep<std::uint32_t>(static_cast<std::size_t>(entries_), "the order of the nonzeros");
        stored_.columns = workspace_.make<Index>(static_cast<std::size_t>(entries_));
        const WorkspaceArray<Offset> offsets = move(stored_.columns.data(), stored_.entries.template as<std::uint32_t>());
        check_cuda(cudaMemcpyAsync(stored_.offsets.address(), offsets.data(), stored_.offsets.bytes(), cudaMemcpyDeviceToDevice,
                                   stream()),
                   "cudaMemcpyAsync");
        const auto elements = std::max(rows(), static_cast<std::size_t>(matrix_.columns));
        planned_->to_old = keep<Index>(elements, "an order");
        planned_->to_new = keep<Index>(elements, "an order");
        OrderBothWays& of_vectors = are_apart_ ? of_columns_ : of_rows_;
        if (of_vectors.is_natural()) of_vectors = both_ways(workspace_, nullptr, elements);
        expand(workspace_, of_vectors, stored_.block_size, elements, planned_->to_old.template as<Index>(),
               planned_->to_new.template as<Index>());
        if (are_apart_) place_rows_of_y();  // the vectors have an order now
    }

    /// Where the kernel writes its rows, if y has the order of the columns.
    void place_rows_of_y() {
        planned_->rows_to_old = keep<Index>(rows(), "the order of the rows");
        if (of_rows_.is_natural()) of_rows_ = both_ways(workspace_, nullptr, rows());
        check_cuda(cudaMemcpyAsync(planned_->rows_to_old.address(), of_rows_.to_old.data(), rows() * sizeof(Index),
                                   cudaMemcpyDeviceToDevice, stream()),
                   "cudaMemcpyAsync");
        if (matrix_.rows == matrix_.columns) compose(workspace_, of_columns_.to_new.data(), of_rows_.to_old.data(), rows());
        stored_.rows_of_y.resize(rows());
        check_cuda(cudaMemcpyAsync(stored_.rows_of_y.data(), of_rows_.to_old.data(), rows() * sizeof(Index),
                                   cudaMemcpyDeviceToHost, stream()),
                   "cudaMemcpyAsync");
        check_cuda(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
        if (!Permutation::from_new_of_old(stored_.rows_of_y).is_identity()) return;
        stored_.rows_of_y.clear();
        planned_->own_facts.rows_apart = false;
    }

    [[nodiscard]] StorageTask<Value> task() { return {workspace_, device_, matrix_, longest_, *planned_}; }
    void store(const auto& storage) { store_on_gpu(task(), stored_, storage); }
    void store(const TileBatches& storage) { store_tiles(task(), stored_, storage, tiles_); }
    void store(const OrdersAlone&) {}
    void store(const PartSlices& storage) { store_ehyb(task(), stored_, storage, sorts_outside_); }

    const DevicePlan& plan_;
    const CsrOnDevice<Value>& matrix_;
    Device& device_;
    Workspace workspace_;
    OwnedCuda<cudaEvent_t> event_ = make_event();
    WorkspaceArray<std::uint32_t> offsets_;  // of the input
    BlocksOnGpu blocks_;                     // of it, or of the nodes that the last order by a graph numbered
    PatternOnGpu pattern_;                   // of the rows of the input, or of its rows of blocks
    std::int64_t entries_ = 0;               // of the pattern
    ReorderedRows stored_;
    std::uint32_t longest_ = 0;  // row of the input
    OrderBothWays of_rows_;      // moved so far
    OrderBothWays of_columns_;   // likewise; only if they are apart
    bool are_apart_ = false;
    Index node_size_ = 1;
    bool has_blocks_ = false;
    Moved moved_;                              // the pattern from which the next order begins
    Acts acts_ = Acts::symmetric;              // of the order from there
    WorkspaceArray<Index> order_;              // by levels, from there; empty: there is none
    WorkspaceArray<std::uint32_t> old_nodes_;  // [nodes] of that order, sorted; empty: not sorted
    Index components_ = 0;                     // of the last order by levels
    double untimed_seconds_ = 0;               // that are no part of a step's time
    std::vector<SortShare> sorts_outside_;
    TilesOfPlan tiles_;
    std::unique_ptr<PlannedOnGpu<Value>> planned_;
};

[[nodiscard]] bool can_be_prepared(std::int64_t count) { return count > 0 && count < std::numeric_limits<Index>::max() - 1; }

}  // namespace

template <ValueType Value>
std::unique_ptr<PlannedMatrix<Value>> run_plan_on_gpu(const DevicePlan& plan, const CsrOnDevice<Value>& matrix,
                                                      Device& device) {
    if (!can_be_prepared(matrix.nonzeros) || !can_be_prepared(matrix.rows)) {
        throw Unsuitable("the GPU prepares matrices of 1 to 2^31 - 3 rows and nonzeros");
    }
    if (matrix.rows != matrix.columns && !plan.suits_any_shape()) throw Unsuitable("the matrix is not square");
    try {
        return PlanOnGpu<Value>(plan, matrix, device).run();
    } catch (const NoRoom&) {
        throw Unsuitable("too little memory on the GPU to prepare the matrix there");
    }
}

template std::unique_ptr<PlannedMatrix<float>> run_plan_on_gpu(const DevicePlan&, const CsrOnDevice<float>&, Device&);
template std::unique_ptr<PlannedMatrix<double>> run_plan_on_gpu(const DevicePlan&, const CsrOnDevice<double>&, Device&);

}  // namespace workbench
