// The memory through which the persistent kernels of several ranks exchange sums and elements (persistent_block.cuh).
#pragma once

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/ranks.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/krylov/persistent_block.cuh"

namespace workbench::krylov {

/// The memory of this rank's GPU that the GPUs of other ranks write, and the addresses of theirs.
template <ValueType Value>
class SharedMemoryOfRanks {
public:
    /// Collective if there are ranks. places: the places of a vector, including its remote elements.
    SharedMemoryOfRanks(CudaDevice& device, Ranks* ranks, Index places, Index remote, int blocks, bool preconditioned)
        : ranks_(ranks) {
        RankMemory own{.places = places, .remote = remote, .blocks = blocks};
        std::size_t bytes = 0;
        const auto take = [&](std::size_t count, std::size_t each) {
            constexpr std::size_t alignment = 256;
            const std::size_t place = bytes;
            bytes += (count * each + alignment - 1) / alignment * alignment;
            return place;
        };
        const auto count = static_cast<std::size_t>(places);
        own.sums = take(sum_packets, sizeof(Packet));
        own.exports = take(2 * count, sizeof(Packet));
        own.x = take(count, sizeof(Value));
        own.r = take(count, sizeof(Value));
        own.p = take(count, sizeof(Value));
        own.inverse_diagonal = take(preconditioned ? count : 0, sizeof(Value));
        own.preconditioned = preconditioned;
        const auto take_memory = [&] {
            constexpr const char* purpose = "the vectors of the solve, and what thread blocks exchange";
            own_ = ranks_ == nullptr ? device.allocate(bytes, purpose) : device.allocate_for_processes(bytes, purpose);
            device.zero(own_.address(), own_.bytes());
        };
        if (ranks_ == nullptr) {
            take_memory();
            memory_.push_back(addresses(own, own_.as<std::byte>()));
            return;
        }
        together("has no room for a persistent kernel", [&] {
            take_memory();
            check_cuda(cudaIpcGetMemHandle(&own.handle, own_.address()), "cudaIpcGetMemHandle");
            (void)device.time([] {});
        });
        const std::vector<Bytes> all = ranks_->gather(std::as_bytes(std::span(&own, 1)));
        together("cannot write the memory of the GPUs of other ranks", [&] {
            for (int rank = 0; rank < ranks_->size(); ++rank) {
                RankMemory layout;
                std::memcpy(&layout, all[rank].data(), sizeof(layout));
                memory_.push_back(addresses(layout, rank == ranks_->rank() ? own_.as<std::byte>() : open(layout)));
            }
        });
    }
    SharedMemoryOfRanks(const SharedMemoryOfRanks&) = delete;
    SharedMemoryOfRanks& operator=(const SharedMemoryOfRanks&) = delete;
    ~SharedMemoryOfRanks() {
        opened_.clear();
        // No rank may free its memory before the others have closed it. After an error they need not come here.
        if (ranks_ != nullptr && std::uncaught_exceptions() == 0) ranks_->barrier();
    }

    [[nodiscard]] int rank() const { return ranks_ == nullptr ? 0 : ranks_->rank(); }
    [[nodiscard]] const std::vector<PeerMemory<Value>>& of_ranks() const { return memory_; }
    [[nodiscard]] const PeerMemory<Value>& own() const { return memory_[rank()]; }

private:
    struct CloseMemory {
        void operator()(void* memory) const { (void)cudaIpcCloseMemHandle(memory); }
    };

    /// Places in bytes.
    struct RankMemory {
        Index places = 0;
        Index remote = 0;
        int blocks = 0;
        std::size_t sums = 0, exports = 0, x = 0, r = 0, p = 0, inverse_diagonal = 0;
        bool preconditioned = false;
        cudaIpcMemHandle_t handle = {};
    };

    [[nodiscard]] static PeerMemory<Value> addresses(const RankMemory& layout, std::byte* base) {
        const auto vector = [&](std::size_t place) { return reinterpret_cast<Value*>(base + place); };
        return {.blocks = layout.blocks,
                .sums = reinterpret_cast<Packet*>(base + layout.sums),
                .exports = reinterpret_cast<Packet*>(base + layout.exports),
                .places = layout.places,
                .remote = layout.remote,
                .x = vector(layout.x),
                .r = vector(layout.r),
                .p = vector(layout.p),
                .inverse_diagonal = layout.preconditioned ? vector(layout.inverse_diagonal) : nullptr};
    }

    /// Collective. Throws Unsuitable on all ranks if the work throws on any.
    template <typename Work>
    void together(const char* what, const Work& work) {
        std::string reason;
        try {
            work();
        } catch (const MachineError& error) {
            reason = error.what();
        }
        const std::vector<Bytes> reasons = ranks_->gather(std::as_bytes(std::span(reason)));
        for (std::size_t rank = 0; rank < reasons.size(); ++rank) {
            if (reasons[rank].empty()) continue;
            const std::string of_rank(reinterpret_cast<const char*>(reasons[rank].data()), reasons[rank].size());
            throw Unsuitable("the GPU of rank " + std::to_string(rank) + " " + what + ": " + of_rank);
        }
    }

    [[nodiscard]] std::byte* open(const RankMemory& layout) {
        void* memory = nullptr;
        check_cuda(cudaIpcOpenMemHandle(&memory, layout.handle, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
        opened_.emplace_back(memory);
        return static_cast<std::byte*>(memory);
    }

    Ranks* ranks_;
    DeviceMemory own_;
    std::vector<std::unique_ptr<void, CloseMemory>> opened_;
    std::vector<PeerMemory<Value>> memory_;
};

}  // namespace workbench::krylov
