// A kernel that is handed a RecordingLoad instead of its usual one notes who reads which element of one array: for tests, which
// compare it with the kernel's schedule.
#pragma once

#include <vector>

#include "kernels/common/storage/fields.hpp"
#include "kernels/device/packets.cuh"
#include "kernels/device/recorded.hpp"

namespace workbench {

template <typename Element>
struct RecordingLoad {
    const Element* array = nullptr;
    Offset size = 0;
    Recorded* recorded = nullptr;  // [size]
    int* turns = nullptr;          // [threads of the grid]

    __device__ void note(const void* address) const {
        const auto* const element = static_cast<const Element*>(address);
        if (element < array || element >= array + size) return;
        const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
        Recorded& record = recorded[element - array];
        atomicAdd(&record.times, 1);
        record.thread = thread;
        record.turn = turns[thread]++;
    }
    template <typename Other>
    __device__ Other operator()(const Other* address) const {
        note(address);
        return *address;
    }
    template <typename Other>
    __device__ Other kept(const Other* address) const {
        return *address;
    }
};

/// The same in place of StreamingPackets: notes each element that is wanted.
template <typename Element>
struct RecordingPackets {
    RecordingLoad<Element> recording;

    template <int count, typename Other>
    __device__ Packet<Other, count> load(const Other* address, const auto& is_wanted) const {
        for (int i = 0; i < count; ++i) {
            if (is_wanted(i)) recording.note(address + i);
        }
        return load_packet<count>(address);
    }
    template <typename Other>
    __device__ Other load_one(const Other* address, bool is_wanted) const {
        if (is_wanted) recording.note(address);
        return *address;
    }
};

/// The memory that such a load writes into, for an array on the device and a number of threads.
template <typename Element>
class Recording {
public:
    Recording(Device& device, const DeviceArray<Element>& array, Offset threads)
        : device_(device),
          size_(array.size()),
          recorded_(to_device(device, std::span<const Recorded>(std::vector<Recorded>(size_)), "recorded reads")),
          turns_(to_device(device, std::span<const int>(std::vector<int>(threads)), "turns of threads")),
          load_{array.data(), size_, recorded_.template as<Recorded>(), turns_.template as<int>()} {}

    [[nodiscard]] const RecordingLoad<Element>& load() const { return load_; }

    /// After the kernel.
    [[nodiscard]] std::vector<Recorded> read() {
        std::vector<Recorded> all(size_);
        device_.download(recorded_, std::as_writable_bytes(std::span(all)));
        return all;
    }

private:
    Device& device_;
    Offset size_;
    DeviceMemory recorded_;
    DeviceMemory turns_;
    RecordingLoad<Element> load_;
};

}  // namespace workbench
