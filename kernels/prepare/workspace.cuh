// A stream, pooled memory and timed transfers for the tasks of the GPU's preparer.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "core/matrix/types.hpp"
#include "kernels/device/cuda_stream.cuh"

namespace workbench {

/// Thrown if the GPU lacks memory for a task; the host then runs it.
struct NoRoom {};

/// An array on the GPU for kernels of one stream. Returned to the pool in stream order.
template <typename Item>
class WorkspaceArray {
public:
    WorkspaceArray() = default;
    WorkspaceArray(Item* data, std::size_t size, cudaStream_t stream) : data_(data), size_(size), stream_(stream) {}
    WorkspaceArray(WorkspaceArray&& other) noexcept { swap(other); }
    WorkspaceArray& operator=(WorkspaceArray&& other) noexcept {
        swap(other);
        return *this;
    }
    ~WorkspaceArray() {
        if (data_ != nullptr) (void)cudaFreeAsync(data_, stream_);
    }

    [[nodiscard]] Item* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    void swap(WorkspaceArray& other) {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(stream_, other.stream_);
    }

    Item* data_ = nullptr;
    std::size_t size_ = 0;
    cudaStream_t stream_ = nullptr;
};

/// Arrays come from a pool that keeps at most a sixteenth of the GPU's memory between tasks. Large transfers alternate between
/// two pinned buffers: all cores fill or empty one while the other is being transferred.
class Workspace {
public:
    Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace();

    [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

    /// Throws NoRoom.
    template <typename Item>
    [[nodiscard]] WorkspaceArray<Item> make(std::size_t count) {
        return {static_cast<Item*>(allocate(count * sizeof(Item))), count, stream()};
    }

    /// Uploads an array bit by bit, possibly as another type of the same size.
    template <typename Item, typename From>
    [[nodiscard]] WorkspaceArray<Item> upload(std::span<From> from) {
        static_assert(sizeof(Item) == sizeof(From));
        WorkspaceArray<Item> array = make<Item>(from.size());
        send(array.data(), from.data(), from.size_bytes());
        return array;
    }

    /// Uploads offsets below 2^32 as 32 bits.
    [[nodiscard]] WorkspaceArray<std::uint32_t> upload_narrow(std::span<const Offset> from);

    /// Downloads the first to.size() items bit by bit.
    template <typename Item, typename To>
    void download(const WorkspaceArray<Item>& from, std::span<To> to) {
        static_assert(sizeof(Item) == sizeof(To));
        fetch(from.data(), to.data(), to.size_bytes());
    }
    void download_wide(const WorkspaceArray<std::uint32_t>& from, std::span<Offset> to);

    template <typename Item>
    [[nodiscard]] Item download_item(const WorkspaceArray<Item>& from, std::size_t index) {
        Item item{};
        fetch(from.data() + index, &item, sizeof(Item));
        return item;
    }

    /// Returns the seconds of transfers since the last call.
    [[nodiscard]] double take_transfer_seconds() { return std::exchange(transfer_seconds_, 0.0); }

private:
    /// Copies bytes [begin, begin + bytes) of the transferred array, in its GPU format, to or from a pinned buffer.
    using Stage = std::function<void(void* buffer, std::size_t begin, std::size_t bytes)>;

    [[nodiscard]] void* allocate(std::size_t bytes);
    void require_buffers();  // two pinned ones, which take milliseconds to allocate: not before the first large transfer
    void send(void* to, const void* from, std::size_t bytes);
    void fetch(const void* from, void* to, std::size_t bytes);
    void send_staged(void* to, std::size_t bytes, const Stage& fill);
    void fetch_staged(const void* from, std::size_t bytes, const Stage& empty);

    OwnedCuda<cudaStream_t> stream_ = make_stream();
    cudaMemPool_t pool_ = nullptr;
    std::array<void*, 2> buffers_{};
    std::array<OwnedCuda<cudaEvent_t>, 2> done_{make_event(), make_event()};
    double transfer_seconds_ = 0;
};

inline constexpr int block_threads = 256;  // of most kernels for preprocessing

/// The number of blocks of a launch over `count` items; beyond a limit, threads loop over items.
[[nodiscard]] inline unsigned blocks_of(std::size_t count, unsigned threads) {
    const std::size_t blocks = (count + threads - 1) / threads;
    return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 1U << 20 ? 1U << 20 : blocks);
}

}  // namespace workbench
