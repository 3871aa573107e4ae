// Staircase SELL on a GPU: one launch per group, one thread per row (section 4.3.4 of the source). The launches are on streams
// of their own, forked from the device's stream and joined to it by events, or are the nodes of one graph.
//
// Races. Exactly one thread of one launch writes each row of y, so that neither threads nor launches can race in global memory,
// in any order of the launches; no shared memory is used. The streams of the groups wait for the device's stream at the fork,
// and the device's stream waits for all of them.
#include <algorithm>
#include <array>

#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/cuda_stream.cuh"
#include "kernels/formats/staircase_sell/layout.hpp"

namespace workbench {
namespace {

constexpr int warp_size = 32;
constexpr int most_threads_of_block = 1024;
constexpr int usual_block = 256;
constexpr std::size_t most_streams = 128;  // kernels that a GPU runs at once, since compute capability 7.0

template <typename Value>
__global__ void __launch_bounds__(most_threads_of_block)
    multiply(StaircaseGroup<Value> group, TargetRows target, const Value* __restrict__ x, Value* __restrict__ y,
             bool accumulate) {
    const auto run = StaircaseRows::run(group, blockIdx.x * blockDim.x + threadIdx.x, StreamingLoad{});
    if (run.row < 0) return;
    write_result(y + target[run.row], multiply_run<StaircaseRows>(group, run, x, StreamingLoad{}), accumulate);
}

template <typename Value>
struct GroupLaunch {
    StaircaseGroup<Value> group;
    unsigned blocks = 0;
    unsigned threads = 0;  // of a block: those of a slice if that is a block
};

/// The slots on the device, and their launches.
template <ValueType Value>
class DeviceGroups {
public:
    DeviceGroups(const StaircaseSellLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : columns_(device, layout.column_indices, "staircase_sell columns"),
          values_(device, layout.values, "staircase_sell values"),
          rows_(device, rows, "staircase_sell") {
        const bool block = layout.slice_height % warp_size == 0 && layout.slice_height <= most_threads_of_block;
        const int threads = block ? layout.slice_height : usual_block;
        for (Index g = 0; g < layout.group_count(); ++g) {
            const StaircaseGroup<Value> group = group_of(layout.stored(), g, columns_, values_);
            launches_.push_back({group, blocks_for(group.rows, threads), static_cast<unsigned>(threads)});
        }
    }

    [[nodiscard]] const std::vector<GroupLaunch<Value>>& launches() const { return launches_; }
    [[nodiscard]] TargetRows target() const { return rows_.view(); }

private:
    DeviceArray<Index> columns_;
    DeviceArray<Value> values_;
    OwnedTargetRows rows_;
    std::vector<GroupLaunch<Value>> launches_;
};

}  // namespace

/// Section 4.3.5: every group is launched on a stream of its own; more than most_streams groups share streams.
template <ValueType Value>
class StaircaseStreams final : public Kernel<Value> {
public:
    StaircaseStreams(const StaircaseSellLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()), groups_(layout, rows, device), forked_(make_event()) {
        for (std::size_t i = 0; i < std::min(groups_.launches().size(), most_streams); ++i) {
            branches_.push_back({make_stream(), make_event()});
        }
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        check_cuda(cudaEventRecord(forked_.get(), stream_), "cudaEventRecord");
        for (const StreamBranch& branch : branches_) {
            check_cuda(cudaStreamWaitEvent(branch.stream.get(), forked_.get(), 0), "cudaStreamWaitEvent");
        }
        std::size_t next = 0;
        for (const GroupLaunch<Value>& launch : groups_.launches()) {
            const StreamBranch& branch = branches_[next++ % branches_.size()];
            multiply<<<launch.blocks, launch.threads, 0, branch.stream.get()>>>(launch.group, groups_.target(), x, y,
                                                                                accumulate);
            check_launch("staircase_sell");
        }
        for (const StreamBranch& branch : branches_) {
            wait_for(stream_, branch.stream.get(), branch.done.get());
        }
    }

private:
    struct StreamBranch {
        OwnedCuda<cudaStream_t> stream;
        OwnedCuda<cudaEvent_t> done;
    };

    cudaStream_t stream_;
    DeviceGroups<Value> groups_;
    OwnedCuda<cudaEvent_t> forked_;
    std::vector<StreamBranch> branches_;
};

/// The same launches as the nodes of a graph without edges: the host submits them all at once.
template <ValueType Value>
class StaircaseGraph final : public Kernel<Value> {
public:
    StaircaseGraph(const StaircaseSellLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()), groups_(layout, rows, device) {
        cudaGraph_t graph = nullptr;
        check_cuda(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
        graph_.reset(graph);
        for (const GroupLaunch<Value>& launch : groups_.launches()) {
            nodes_.emplace_back();
            with_parameters(launch, [&](const cudaKernelNodeParams& parameters) {
                check_cuda(cudaGraphAddKernelNode(&nodes_.back(), graph, nullptr, 0, &parameters), "cudaGraphAddKernelNode");
            });
        }
        cudaGraphExec_t executable = nullptr;
        check_cuda(cudaGraphInstantiateWithFlags(&executable, graph, 0), "cudaGraphInstantiateWithFlags");
        executable_.reset(executable);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (nodes_.empty()) return;
        if (x != x_ || y != y_ || accumulate != accumulate_) point_to(x, y, accumulate);
        check_cuda(cudaGraphLaunch(executable_.get(), stream_), "cudaGraphLaunch");
    }

private:
    /// Sets x and y of the next launches of the graph; a running launch keeps its own.
    void point_to(const Value* x, Value* y, bool accumulate) {
        x_ = x;
        y_ = y;
        accumulate_ = accumulate;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            with_parameters(groups_.launches()[i], [&](const cudaKernelNodeParams& parameters) {
                check_cuda(cudaGraphExecKernelNodeSetParams(executable_.get(), nodes_[i], &parameters),
                           "cudaGraphExecKernelNodeSetParams");
            });
        }
    }

    /// CUDA copies the parameters while `use` runs.
    template <typename Use>
    void with_parameters(GroupLaunch<Value> launch, const Use& use) {
        TargetRows target = groups_.target();
        std::array<void*, 5> arguments{&launch.group, &target, &x_, &y_, &accumulate_};
        cudaKernelNodeParams parameters{};
        parameters.func = reinterpret_cast<void*>(&multiply<Value>);
        parameters.gridDim = dim3(launch.blocks);
        parameters.blockDim = dim3(launch.threads);
        parameters.kernelParams = arguments.data();
        use(parameters);
    }

    cudaStream_t stream_;
    DeviceGroups<Value> groups_;
    OwnedCuda<cudaGraph_t> graph_;
    OwnedCuda<cudaGraphExec_t> executable_;
    std::vector<cudaGraphNode_t> nodes_;  // one per group
    const Value* x_ = nullptr;
    Value* y_ = nullptr;
    bool accumulate_ = false;
};

template struct CudaLoop<StaircaseSellLayout, StaircaseStreams>;
template struct CudaLoop<StaircaseSellLayout, StaircaseGraph>;

}  // namespace workbench
