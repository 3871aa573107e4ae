// The results of preparing a matrix on the GPU, for all layouts.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/kernel.hpp"
#include "core/text/words.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/device/cuda_device.cuh"
#include "kernels/formats/block_sell/layout.hpp"
#include "kernels/prepare/coding_on_gpu.cuh"
#include "kernels/prepare/plan_on_gpu.hpp"
#include "kernels/prepare/slicing.cuh"

namespace workbench {

/// A reordered matrix on the GPU. The columns of a row ascend strictly.
struct ReorderedOnGpu {
    const Offset* offsets = nullptr;         // [rows + 1]
    const Index* columns = nullptr;          // [nonzeros]
    const std::uint32_t* entries = nullptr;  // [nonzeros] their numbers in the input
    Index rows = 0;
    std::uint32_t longest = 0;  // row
};

/// The array of a kernel that contains the values of `count` slots. One of the pointers to slots is not null.
template <ValueType Value>
struct ValueSlots {
    std::size_t count = 0;
    Value* values = nullptr;
    float* in_f32 = nullptr;        // if f32 represents all values of f64 exactly
    std::uint8_t* codes = nullptr;  // of a dictionary
    Value* dictionary = nullptr;    // [room] values, of which the first `distinct` ascend by their bits
    Index room = 0;
    Index distinct = 0;

    /// Calls use with what stores the values (slicing::ValueWriter, CodeWriter).
    void with_writer(const auto& use) const {
        if (values != nullptr) use(slicing::ValueWriter<Value>{values});
        if (in_f32 != nullptr) use(slicing::ValueWriter<float>{in_f32});
        if (codes != nullptr) use(slicing::CodeWriter<Value>{codes, dictionary, distinct});
    }
};

/// Slices of a kernel, and where their values come from.
template <ValueType Value>
struct FilledSlices {
    DeviceMemory row_offsets;  // Offset [rows + 1] of the stored rows
    DeviceMemory entries;      // std::uint32_t [entries] the number of each of their entries in the input
    Index rows = 0;            // stored rows, or rows of blocks
    Index height = 0;
    Index slices = 0;
    const Offset* slice_offsets = nullptr;  // [slices + 1] an array of the kernel
    ValueSlots<Value> slots;
};

/// Slots of a kernel in any order, and where their values come from.
template <ValueType Value>
struct GatheredSlots {
    DeviceMemory nonzeros;  // std::uint32_t [count] their numbers in the input; slicing::no_nonzero: padding
    ValueSlots<Value> slots;
};

/// The arrays of the kernel, the order, and what new values need.
template <ValueType Value>
class PlannedOnGpu final : public PlannedMatrix<Value> {
public:
    Index rows = 0;
    Index block_size = 1;  // entries are blocks of block_size x block_size, and nonzeros if it is 1
    std::unique_ptr<Kernel<Value>> own_kernel;
    DeviceMemory to_old;                      // Index [rows]
    DeviceMemory to_new;                      // Index [rows]
    DeviceMemory nonzeros_of_blocks;          // std::uint32_t [entries * block_size^2] by their numbers in the input; if blocks
    std::vector<FilledSlices<Value>> filled;  // all slices of the kernel
    std::vector<GatheredSlots<Value>> gathered;  // all other slots
    std::size_t nonzeros = 0;
    PlannedFacts own_facts;

    struct NamedArray {
        std::string name;
        const void* address = nullptr;
        std::size_t bytes = 0;
    };
    std::vector<NamedArray> arrays;

    explicit PlannedOnGpu(Device& device) : device_(device) {}

    [[nodiscard]] Kernel<Value>& kernel() override { return *own_kernel; }
    [[nodiscard]] const PlannedFacts& facts() const override { return own_facts; }
    [[nodiscard]] const Index* old_of_new() const override { return to_old.template as<const Index>(); }
    [[nodiscard]] const Index* new_of_old() const override { return to_new.template as<const Index>(); }

    [[nodiscard]] std::vector<Index> order() const override {
        std::vector<Index> order(static_cast<std::size_t>(rows));
        device_.download(to_old, std::as_writable_bytes(std::span(order)));
        return order;
    }

    void set_values(const Value* input) override {
        const cudaStream_t stream = cuda_device(device_).stream();
        for (GatheredSlots<Value>& each : gathered) code_again(each.slots, input, stream);
        for (FilledSlices<Value>& each : filled) code_again(each.slots, input, stream);
        fill(input, stream);
    }

    /// Stores values on a stream.
    void fill(const Value* input, cudaStream_t stream) {
        for (const GatheredSlots<Value>& each : gathered) {
            each.slots.with_writer([&](auto writer) {
                slicing::gather_values<<<blocks_of(each.slots.count, block_threads), block_threads, 0, stream>>>(
                    each.nonzeros.template as<const std::uint32_t>(), each.slots.count, input, writer);
            });
            check_launch("gather_values");
        }
        for (const FilledSlices<Value>& each : filled) {
            const unsigned blocks = blocks_of(static_cast<std::size_t>(each.slices) * 32, block_threads);
            each.slots.with_writer([&](auto writer) {
                with_block_size(*this, [&](auto size) {
                    slicing::fill_values<size><<<blocks, block_threads, 0, stream>>>(
                        each.row_offsets.template as<const Offset>(), each.entries.template as<const std::uint32_t>(),
                        nonzeros_of_blocks.template as<const std::uint32_t>(), each.slice_offsets, each.rows, each.height,
                        each.slices, input, writer);
                });
            });
            check_launch("fill_values");
        }
    }

    /// Lists the arrays of a layout by name.
    void note_arrays(const auto& stored) {
        for_each_field(
            [&]<typename Member>(const FieldInfo& info, const Member& member) {
                if constexpr (!NumberMember<Member>) {
                    const std::size_t bytes = static_cast<std::size_t>(member.size()) * sizeof(*member.data());
                    arrays.push_back({std::string(info.name), member.data(), bytes});
                    own_facts.bytes += static_cast<std::int64_t>(bytes);
                }
            },
            stored);
    }

    [[nodiscard]] std::string difference(const CsrOnDevice<Value>& input) override {
        const auto is_coded = [](const auto& each) { return each.slots.values == nullptr; };
        const bool coded = std::ranges::any_of(gathered, is_coded) || std::ranges::any_of(filled, is_coded);
        return difference_on_gpu<Value>(*this, input, coded, device_);
    }

    [[nodiscard]] std::vector<Value> diagonal(const CsrOnDevice<Value>& input) const override {
        const DeviceMemory there = device_.allocate(static_cast<std::size_t>(rows) * sizeof(Value), "the diagonal");
        const cudaStream_t stream = cuda_device(device_).stream();
        device_.zero(there.address(), there.bytes());
        const auto launch = [&](const auto* offsets) {
            slicing::find_diagonal<<<blocks_of(static_cast<std::size_t>(rows) * on_gpu::lanes, block_threads), block_threads, 0,
                                     stream>>>(offsets, input, there.template as<Value>());
        };
        if (input.long_offsets) {
            launch(static_cast<const std::int64_t*>(input.row_offsets));
        } else {
            launch(static_cast<const std::int32_t*>(input.row_offsets));
        }
        check_launch("find_diagonal");
        std::vector<Value> diagonal(static_cast<std::size_t>(rows));
        device_.download(there, std::as_writable_bytes(std::span(diagonal)));
        return diagonal;
    }

    [[nodiscard]] std::vector<std::byte> array(const std::string& name) const override {
        for (const NamedArray& one : arrays) {
            if (one.name != name) continue;
            std::vector<std::byte> copy(one.bytes);
            check_cuda(cudaMemcpy(copy.data(), one.address, one.bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
            return copy;
        }
        return {};
    }

private:
    /// Throws Unsuitable if other values do not fit the coding of the slots.
    void code_again(ValueSlots<Value>& slots, const Value* input, cudaStream_t stream) {
        if constexpr (std::is_same_v<Value, double>) {
            if (slots.in_f32 != nullptr && !are_exact_in_f32_on_gpu(device_, input, nonzeros, stream)) {
                throw Unsuitable("new values: f32 does not represent all of them exactly; expected a new operator");
            }
        }
        if (slots.codes == nullptr) return;
        const auto found = distinct_on_gpu(device_, input, nonzeros, Offset{slots.room}, stream);
        const HostArray<Value> dictionary =
            ValueCodes<Value>(found.value_or(std::vector<Value>()), slots.count > nonzeros).dictionary();
        if (!found || static_cast<Index>(dictionary.size()) > slots.room) {
            throw Unsuitable("new values: the dictionary has room for " + counted(slots.room, "distinct value") +
                             ", and there are more; expected a new operator");
        }
        slots.distinct = static_cast<Index>(dictionary.size());
        check_cuda(cudaMemcpyAsync(slots.dictionary, dictionary.data(), dictionary.size() * sizeof(Value),
                                   cudaMemcpyHostToDevice, stream),
                   "cudaMemcpyAsync");
        check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }

    Device& device_;
};

}  // namespace workbench
