// The codings of values that are on the GPU (kernels/common/storage/coded_values.hpp), which are those of the host.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/precision.hpp"
#include "core/contract/rounding.hpp"
#include "core/matrix/types.hpp"
#include "core/matrix/value_bits.hpp"

namespace workbench {

/// Stands for the number of a nonzero or of a block where there is none.
inline constexpr std::uint32_t no_item = std::numeric_limits<std::uint32_t>::max();

/// Values, or blocks of values, that are to be coded.
template <ValueType Value>
struct ItemsOnGpu {
    const Value* values = nullptr;
    std::size_t count = 0;
    const std::uint32_t* nonzeros = nullptr;  // [count * area] of blocks, the number of each value, or no_item for 0; null:
                                              // item i is value i
    Index area = 1;                           // values of an item
    const std::uint32_t* chosen = nullptr;    // [chosen_count] the items that count, or no_item; null: all do
    std::size_t chosen_count = 0;

    [[nodiscard]] __host__ __device__ std::size_t counted() const { return chosen == nullptr ? count : chosen_count; }
    /// Calls use with the i-th item that counts, unless it is no_item.
    template <typename Use>
    __device__ void with_item(std::size_t i, const Use& use) const {
        const std::size_t item = chosen == nullptr ? i : chosen[i];
        if (item != no_item) use(item);
    }
};

/// The codes of items.
template <ValueType Value>
struct CodesOnGpu {
    std::vector<Value> dictionary;    // the distinct items in ascending order of their bits
    DeviceMemory places;              // std::uint16_t [items] of each item in a table
    DeviceMemory codes_of_places;     // std::uint32_t
    std::uint32_t added_to_each = 0;  // code

    /// Gives code 0 to the item of zeros, whether it occurs or not.
    void put_zeros_first(Index area) {
        const auto is_zero = [](Value value) { return bits_of(value) == 0; };
        if (std::all_of(dictionary.begin(), dictionary.begin() + area, is_zero)) return;
        dictionary.insert(dictionary.begin(), static_cast<std::size_t>(area), Value{0});
        added_to_each = 1;
    }
};

/// Codes the items that count by their bits; none if there are more than `most` distinct ones. At least one item. Waits for the
/// stream.
template <ValueType Value>
[[nodiscard]] std::optional<CodesOnGpu<Value>> code_on_gpu(Device& device, const ItemsOnGpu<Value>& items, Offset most,
                                                           cudaStream_t stream);

/// True if each value that counts equals the one of the number in `others`. others: [items]. Waits for the stream.
template <ValueType Value>
[[nodiscard]] bool are_equal_on_gpu(Device& device, const ItemsOnGpu<Value>& values, const std::uint32_t* others,
                                    cudaStream_t stream);

/// True if a layout can store the values that count in this rounding: without rounding, f32 represents each of them exactly;
/// otherwise none of them that is finite becomes infinite. Waits for the stream.
[[nodiscard]] bool fit_on_gpu(Device& device, const ItemsOnGpu<double>& values, Rounding rounding, cudaStream_t stream);

}  // namespace workbench
