// Jagged diagonals in the memory of a GPU.
#pragma once

#include <string>

#include "kernels/common/device/loads.cuh"
#include "kernels/common/storage/jagged.hpp"

namespace workbench {

/// What a kernel sees of Jagged; passed by value.
template <typename Value, typename ColumnIndex>
struct JaggedView {
    Index groups = 0;
    const Offset* group_rows = nullptr;        // [groups + 1]
    const Offset* group_diagonals = nullptr;   // [groups + 1]
    const Offset* diagonal_offsets = nullptr;  // [diagonals + 1]
    const ColumnIndex* columns = nullptr;
    const Value* values = nullptr;

    /// The row at a place of the group whose diagonals are [first, end) times x, which begins at the group's first column.
    /// The places of a warp's lanes may differ and those of neighbouring lanes had better be neighbours. A lane loads
    /// entries_in_flight entries before it uses the first.
    template <int entries_in_flight, typename Load = StreamingLoad>
    __device__ __forceinline__ Value multiply_row(Offset first, Offset end, Offset place, const Value* __restrict__ x) const {
        return multiply_row<entries_in_flight, Load>(diagonal_offsets, first, end, place, x);
    }

    /// The same with the diagonals' offsets taken from anything that has an operator[].
    template <int entries_in_flight, typename Load, typename Offsets>
    __device__ __forceinline__ Value multiply_row(const Offsets& offsets, Offset first, Offset end, Offset place,
                                                  const Value* __restrict__ x) const {
        const Load load;
        Value sum = 0;
        bool more = first < end;
        for (Offset diagonal = first; more; diagonal += entries_in_flight) {
            Value value[entries_in_flight];
            ColumnIndex column[entries_in_flight];
            bool reached[entries_in_flight];
#pragma unroll
            for (int u = 0; u < entries_in_flight; ++u) {
                reached[u] = false;
                if (diagonal + u < end) {
                    const Offset slot = offsets[diagonal + u] + place;
                    reached[u] = slot < offsets[diagonal + u + 1];
                    if (reached[u]) {
                        value[u] = load(values + slot);
                        column[u] = load(columns + slot);
                    }
                }
            }
#pragma unroll
            for (int u = 0; u < entries_in_flight; ++u) {
                if (reached[u]) sum += value[u] * x[column[u]];
            }
            more = reached[entries_in_flight - 1] && diagonal + entries_in_flight < end;
        }
        return sum;
    }
};

/// Owns the copy.
template <ValueType Value, typename ColumnIndex>
class DeviceJagged {
public:
    DeviceJagged(Device& device, const Jagged<Value, ColumnIndex>& jagged, const std::string& of)
        : groups_(jagged.group_count()),
          group_rows_(to_device(device, std::span(jagged.group_rows), of + " rows of groups")),
          group_diagonals_(to_device(device, std::span(jagged.group_diagonals), of + " diagonals of groups")),
          diagonal_offsets_(to_device(device, std::span(jagged.diagonal_offsets), of + " diagonal offsets")),
          columns_(to_device(device, std::span(jagged.columns), of + " column indices")),
          values_(to_device(device, std::span(jagged.values), of + " values")) {}

    [[nodiscard]] JaggedView<Value, ColumnIndex> view() const {
        return {groups_,
                group_rows_.template as<Offset>(),
                group_diagonals_.template as<Offset>(),
                diagonal_offsets_.template as<Offset>(),
                columns_.template as<ColumnIndex>(),
                values_.template as<Value>()};
    }

private:
    Index groups_;
    DeviceMemory group_rows_;
    DeviceMemory group_diagonals_;
    DeviceMemory diagonal_offsets_;
    DeviceMemory columns_;
    DeviceMemory values_;
};

}  // namespace workbench
