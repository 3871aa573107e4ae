// Loaders that record reads, and the run of a kernel with one of them.
#pragma once

#include "gpu/recorded/recorded_reads.hpp"
#include "kernels/common/device_code/packets.cuh"

namespace workbench {

/// One value array in device memory, and the records of its reads.
struct RecordedValues {
    int array = 0;
    const double* values = nullptr;
    Offset size = 0;
    Recorded* elements = nullptr;  // [size]
    int* turns = nullptr;          // [threads of the grid] elements read so far
};

/// Replaces StreamingLoad.
struct RecordingLoad {
    static constexpr int most_arrays = 5;
    RecordedValues arrays[most_arrays];

    __device__ void note(const void* address) const {
        const auto* const element = static_cast<const double*>(address);
        for (const RecordedValues& of : arrays) {
            if (element < of.values || element >= of.values + of.size) continue;
            const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
            Recorded& record = of.elements[element - of.values];
            atomicAdd(&record.times, 1);
            record.thread = thread;
            record.turn = of.turns[thread]++;
        }
    }
    template <typename Element>
    __device__ Element operator()(const Element* address) const {
        note(address);
        return *address;
    }
    template <typename Element>
    __device__ Element operator()(const Element* address, bool is_wanted) const {
        if (is_wanted) note(address);
        return *address;
    }
    template <typename Element>
    __device__ Element kept(const Element* address) const {
        return *address;
    }
};

/// Replaces StreamingPackets: records each wanted element.
struct RecordingPackets {
    RecordingLoad recording;

    template <int count, typename Element>
    __device__ Packet<Element, count> load(const Element* address, const auto& is_wanted) const {
        for (int i = 0; i < count; ++i) {
            if (is_wanted(i)) recording.note(address + i);
        }
        return load_packet<count>(address);
    }
    template <typename Element>
    __device__ Element load_one(const Element* address, bool is_wanted) const {
        if (is_wanted) recording.note(address);
        return *address;
    }
};

/// The records of all value arrays of a layout on the device.
class Recording {
public:
    Recording(Device& device, const auto& stored, Offset threads) : device_(device) {
        int array = 0;
        for_each_field(
            [&]<typename Member>(const FieldInfo& info, const Member& member) {
                if constexpr (std::is_same_v<Member, DeviceArray<double>>) {
                    if (info.role == ArrayRole::value && member.size() > 0) add(array, member, threads);
                }
                ++array;
            },
            stored);
    }

    [[nodiscard]] RecordingLoad load() const {
        RecordingLoad load;
        std::copy(arrays_.begin(), arrays_.end(), load.arrays);
        return load;
    }

    /// The records after the kernel.
    [[nodiscard]] RecordedArrays read() const {
        RecordedArrays all;
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            all.push_back({arrays_[i].array, std::vector<Recorded>(arrays_[i].size)});
            device_.download(memory_[2 * i], std::as_writable_bytes(std::span(all.back().elements)));
        }
        return all;
    }

private:
    void add(int array, const DeviceArray<double>& values, Offset threads) {
        memory_.push_back(
            to_device(device_, std::span<const Recorded>(std::vector<Recorded>(values.size())), "recorded reads"));
        memory_.push_back(to_device(device_, std::span<const int>(std::vector<int>(threads)), "turns of threads"));
        arrays_.push_back(
            {array, values.data(), values.size(), memory_[memory_.size() - 2].as<Recorded>(), memory_.back().as<int>()});
    }

    Device& device_;
    std::vector<RecordedValues> arrays_;
    std::vector<DeviceMemory> memory_;
};

/// Records a product. Loader: the kernel's loader, which is constructed from a RecordingLoad.
template <typename Loader = RecordingLoad>
[[nodiscard]] RecordedArrays record(const auto& kernel, const Layout<double>& layout, Device& device) {
    const Recording recording(device, kernel.stored(), kernel.launched_threads());
    const DeviceMemory x = to_device(device, std::span<const double>(std::vector<double>(layout.columns())), "x");
    const DeviceMemory y = device.allocate(static_cast<std::size_t>(layout.rows()) * sizeof(double), "y");
    kernel.multiply(Loader{recording.load()}, x.as<double>(), y.as<double>(), false);
    return recording.read();
}

}  // namespace workbench
