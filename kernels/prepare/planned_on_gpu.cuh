// The results of preparing a matrix on the GPU, for all layouts.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/kernel.hpp"
#include "core/text/words.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/common/storage/fields.hpp"
#include "kernels/device/cuda_device.cuh"
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

/// The array of a kernel that contains the values of `count` slots, and where these come from. One of the pointers to slots is
/// not null, unless all values are equal.
template <ValueType Value>
struct GatheredSlots {
    DeviceMemory nonzeros;  // std::uint32_t [count] their numbers in the input; slicing::no_nonzero: padding
    std::size_t count = 0;
    Value* values = nullptr;
    float* in_f32 = nullptr;        // if f32 represents all values of f64 exactly
    std::uint8_t* codes = nullptr;  // of a dictionary
    Value* dictionary = nullptr;    // [room] values, of which the first `distinct` ascend by their bits
    Index room = 0;
    Index distinct = 0;
    std::optional<Value> only = {};  // of all slots, none of which stores it

    /// Calls use with what stores the values (slicing::ValueWriter, CodeWriter).
    void with_writer(const auto& use) const {
        if (values != nullptr) use(slicing::ValueWriter<Value>{values});
        if (in_f32 != nullptr) use(slicing::ValueWriter<float>{in_f32});
        if (codes != nullptr) use(slicing::CodeWriter<Value>{codes, dictionary, distinct});
    }
};

/// The arrays of the kernel, the order, and what new values need.
template <ValueType Value>
class PlannedOnGpu final : public PlannedMatrix<Value> {
public:
    Index rows = 0;
    std::unique_ptr<Kernel<Value>> own_kernel;
    DeviceMemory to_old;                         // Index [rows]
    DeviceMemory to_new;                         // Index [rows]
    std::vector<GatheredSlots<Value>> gathered;  // all slots of the kernel
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
        for (GatheredSlots<Value>& each : gathered) code_again(each, input, stream);
        fill(input, stream);
    }

    /// Stores values on a stream.
    void fill(const Value* input, cudaStream_t stream) {
        for (const GatheredSlots<Value>& each : gathered) {
            each.with_writer([&](auto writer) {
                slicing::gather_values<<<blocks_of(each.count, block_threads), block_threads, 0, stream>>>(
                    each.nonzeros.template as<const std::uint32_t>(), each.count, input, writer);
            });
            check_launch("gather_values");
        }
    }

    /// Lists the arrays of a layout by name.
    void note_arrays(const auto& stored) {
        for_each_field(
            [&]<typename Member>(const FieldInfo& info, const Member& member) {
                if constexpr (!NumberMember<Member> && !ConstantMember<Member>) {
                    const std::size_t bytes = static_cast<std::size_t>(member.size()) * sizeof(*member.data());
                    arrays.push_back({std::string(info.name), member.data(), bytes});
                    own_facts.bytes += static_cast<std::int64_t>(bytes);
                }
            },
            stored);
    }

    [[nodiscard]] std::string difference(const CsrOnDevice<Value>& input) override {
        const bool coded = std::ranges::any_of(gathered, [](const auto& each) { return each.values == nullptr; });
        const bool equal = std::ranges::any_of(gathered, [](const auto& each) { return each.only.has_value(); });
        return difference_on_gpu<Value>(*this, input,
                                        equal   ? Integers::none
                                        : coded ? Integers::by_value
                                                : Integers::by_place,
                                        device_);
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
    void code_again(GatheredSlots<Value>& slots, const Value* input, cudaStream_t stream) {
        if (slots.only) {
            const auto found = distinct_on_gpu(device_, input, nonzeros, 1, stream);
            if (found && bits_of(found->front()) == bits_of(*slots.only)) return;
            throw Unsuitable(
                "new values: they are not those of the matrix, of which one is stored for all; expected a new "
                "operator");
        }
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
