// The results of preparing a matrix on the GPU, for all layouts.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/contract/kernel.hpp"
#include "core/text/words.hpp"
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

/// An array of codes, and their dictionary.
template <ValueType Value>
struct CodedSlots {
    std::variant<std::uint8_t*, std::uint16_t*, std::uint32_t*> codes;  // [count] of values, of blocks, or in words
    int column_bits = 0;                                                // of words
    Value* dictionary = nullptr;
    std::size_t room = 0;             // of the dictionary
    DeviceMemory nonzeros_of_blocks;  // of ItemsOnGpu
    Index area = 1;
    CodesOnGpu<Value> found;  // for the values that are stored next
};

/// The array of a kernel that contains the values of `count` slots, and where these come from. One of the pointers is not null,
/// or values are coded, or all are equal.
template <ValueType Value>
struct GatheredSlots {
    DeviceMemory items;  // std::uint32_t [count] the number in the input of their nonzero, or coded block; no_item: padding
    std::size_t count = 0;
    std::size_t nonzeros = 0;  // that it stores: of the matrix, or of a share
    Value* values = nullptr;
    float* in_f32 = nullptr;  // if values are of f64
    Bf16* in_bf16 = nullptr;
    Rounding rounding = Rounding::none;
    std::optional<CodedSlots<Value>> coded = {};
    std::optional<Value> only = {};  // of all slots, none of which stores it
    DeviceMemory equals = {};        // std::uint32_t [nonzeros] another with the same value; if lines have one value each

    /// Calls use with what stores the values (slicing::ValueWriter, CodeWriter).
    void with_writer(const Value* input, const auto& use) const {
        if (values != nullptr) use(slicing::ValueWriter<Value, Value>{input, values});
        if constexpr (std::is_same_v<Value, double>) {
            if (in_f32 != nullptr) use(slicing::ValueWriter<Value, float>{input, in_f32});
            if (in_bf16 != nullptr) use(slicing::ValueWriter<Value, Bf16>{input, in_bf16});
        }
        if (!coded) return;
        const auto write = [&]<typename Code>(Code* codes) {
            use(slicing::CodeWriter<Code>{coded->found.places.template as<const std::uint16_t>(),
                                          coded->found.codes_of_places.template as<const std::uint32_t>(),
                                          coded->found.added_to_each, codes, coded->column_bits});
        };
        std::visit(write, coded->codes);
    }
};

/// The arrays of the kernel, the order, and what new values need.
template <ValueType Value>
class PlannedOnGpu final : public PlannedMatrix<Value> {
public:
    Index rows = 0;
    Index columns = 0;
    std::unique_ptr<Kernel<Value>> own_kernel;
    DeviceMemory to_old;                         // Index [rows or columns, the more], of x and y
    DeviceMemory to_new;                         // Index [rows or columns, the more]
    DeviceMemory rows_to_old;                    // Index [rows]; empty: those of x and y
    std::vector<GatheredSlots<Value>> gathered;  // all slots of the kernel
    std::size_t nonzeros = 0;
    PlannedFacts own_facts;

    struct NamedMemory {
        std::string name;
        const void* address = nullptr;
        std::size_t bytes = 0;
    };
    std::vector<NamedMemory> arrays;

    explicit PlannedOnGpu(Device& device) : device_(device) {}

    [[nodiscard]] Kernel<Value>& kernel() override { return *own_kernel; }
    [[nodiscard]] const PlannedFacts& facts() const override { return own_facts; }
    [[nodiscard]] const Index* old_of_new() const override { return to_old.template as<const Index>(); }
    [[nodiscard]] const Index* new_of_old() const override { return to_new.template as<const Index>(); }

    [[nodiscard]] std::vector<Index> row_order() const override {
        return order_of(rows, rows_to_old.bytes() > 0 ? rows_to_old : to_old);
    }
    [[nodiscard]] std::vector<Index> column_order() const override { return order_of(columns, to_old); }

    void set_values(const Value* input) override {
        const cudaStream_t stream = cuda_device(device_).stream();
        for (GatheredSlots<Value>& each : gathered) code_again(each, input, stream);
        fill(input, stream);
    }

    /// Stores values on a stream.
    void fill(const Value* input, cudaStream_t stream) {
        for (GatheredSlots<Value>& each : gathered) {
            each.with_writer(input, [&](auto writer) {
                slicing::gather_values<<<blocks_of(each.count, block_threads), block_threads, 0, stream>>>(
                    each.items.template as<const std::uint32_t>(), each.count, writer);
            });
            check_launch("gather_values");
            if (!each.coded) continue;
            check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            each.coded->found = {};
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
        Integers integers = Integers::by_place;
        Rounding rounding = Rounding::none;
        for (const GatheredSlots<Value>& each : gathered) {
            if (each.only) {
                integers = Integers::none;
            } else if (each.values == nullptr || each.equals.bytes() > 0) {
                integers = Integers::by_value;
            }
            rounding = each.rounding;
        }
        return difference_on_gpu<Value>(*this, input, integers, rounding, device_);
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
        for (const NamedMemory& one : arrays) {
            if (one.name != name) continue;
            std::vector<std::byte> copy(one.bytes);
            check_cuda(cudaMemcpy(copy.data(), one.address, one.bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
            return copy;
        }
        return {};
    }

private:
    [[nodiscard]] std::vector<Index> order_of(Index count, const DeviceMemory& there) const {
        std::vector<Index> order(static_cast<std::size_t>(count));
        copy_from_device(device_, there.template as<const Index>(), std::span(order));
        return order;
    }

    /// Throws Unsuitable if other values do not fit the coding of the slots.
    void code_again(GatheredSlots<Value>& slots, const Value* input, cudaStream_t stream) {
        ItemsOnGpu<Value> items{.values = input, .count = nonzeros};
        if (slots.nonzeros < nonzeros) {
            items.chosen = slots.items.template as<const std::uint32_t>();
            items.chosen_count = slots.count;
        }
        if constexpr (std::is_same_v<Value, double>) {
            const bool narrow = slots.in_f32 != nullptr || slots.in_bf16 != nullptr;
            if (narrow && !fit_on_gpu(device_, items, slots.rounding, stream)) {
                throw Unsuitable(slots.rounding == Rounding::none
                                     ? "new values: f32 does not represent all of them exactly; expected a new operator"
                                     : "new values: one would be rounded to infinity; expected a new operator");
            }
        }
        if (slots.equals.bytes() > 0 &&
            !are_equal_on_gpu(device_, items, slots.equals.template as<const std::uint32_t>(), stream)) {
            throw Unsuitable("new values: those of a row or column are not all equal; expected a new operator");
        }
        if (slots.only) {
            const auto found = code_on_gpu<Value>(device_, items, 1, stream);
            if (found && bits_of(found->dictionary.front()) == bits_of(*slots.only)) return;
            throw Unsuitable(
                "new values: they are not those of the matrix, of which one is stored for all; expected a new "
                "operator");
        }
        if (!slots.coded) return;
        CodedSlots<Value>& coded = *slots.coded;
        const bool of_blocks = coded.nonzeros_of_blocks.bytes() > 0;
        const auto area = static_cast<std::size_t>(coded.area);
        if (of_blocks) {
            items.count = coded.nonzeros_of_blocks.bytes() / (area * sizeof(std::uint32_t));
            items.nonzeros = coded.nonzeros_of_blocks.template as<const std::uint32_t>();
            items.area = coded.area;
        }
        auto found = code_on_gpu<Value>(device_, items, static_cast<Offset>(coded.room / area), stream);
        if (found && (of_blocks || slots.count > slots.nonzeros)) found->put_zeros_first(coded.area);
        if (!found || found->dictionary.size() > coded.room) {
            throw Unsuitable("new values: the dictionary has room for " +
                             counted(coded.room / area, of_blocks ? "distinct block" : "distinct value") +
                             ", and there are more; expected a new operator");
        }
        coded.found = *std::move(found);
        check_cuda(cudaMemcpyAsync(coded.dictionary, coded.found.dictionary.data(),
                                   coded.found.dictionary.size() * sizeof(Value), cudaMemcpyHostToDevice, stream),
                   "cudaMemcpyAsync");
        check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }

    Device& device_;
};

}  // namespace workbench
