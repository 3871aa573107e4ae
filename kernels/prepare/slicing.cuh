// The kernels that expand orders of nodes and fill slices on the GPU. Each thread writes items of its own number, so threads
// cannot race.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/contract/planned_matrix.hpp"
#include "kernels/common/storage/coded_values.hpp"
#include "kernels/prepare/coding_on_gpu.cuh"
#include "kernels/prepare/narrowing.cuh"
#include "kernels/primitives/rows.cuh"
#include "kernels/primitives/search.hpp"
#include "kernels/primitives/workspace.cuh"

namespace workbench::slicing {

/// The order of rows, and its inverse, from those of nodes of `size` rows; a last node of fewer rows keeps its place.
static __global__ void expand_order(const Index* __restrict__ old_of_new_node, const Index* __restrict__ new_of_old_node,
                                    Index rows, Index size, Index* __restrict__ old_of_new, Index* __restrict__ new_of_old) {
    on_gpu::for_each_item(static_cast<std::size_t>(rows), [&](std::size_t row) {
        const Index node = static_cast<Index>(row) / size;
        const Index unknown = static_cast<Index>(row) % size;
        old_of_new[row] = old_of_new_node[node] * size + unknown;
        new_of_old[row] = new_of_old_node[node] * size + unknown;
    });
}

/// Slots, which threads count in 32 bits.
constexpr Offset largest_slice = std::numeric_limits<std::int32_t>::max();

/// Reordered rows, and the slices that they go into.
struct SliceShapes {
    const Offset* offsets;  // [rows + 1]
    const Index* columns;   // [nonzeros] of the reordered matrix
    Index rows;
    Index height;
    Index slices;
};

/// The slots of each slice, whether it is wide, and the slots of wide slices, at the place after that of the slice. farthest:
/// from the first to the last column of a slice that is not wide. reach: of any, 0 beforehand.
static __global__ void measure_slices(SliceShapes shapes, Index farthest, Index* __restrict__ first_columns,
                                      Offset* __restrict__ slots, Offset* __restrict__ wide, Offset* __restrict__ wide_slots,
                                      Index* reach) {
    on_gpu::for_each_item(static_cast<std::size_t>(shapes.slices), [&](std::size_t slice) {
        const Offset begin = static_cast<Offset>(slice) * shapes.height;
        const Offset end = min(begin + shapes.height, Offset{shapes.rows});
        Offset width = 0;
        Index first = std::numeric_limits<Index>::max();
        Index last = -1;
        for (Offset row = begin; row < end; ++row) {
            const Offset length = shapes.offsets[row + 1] - shapes.offsets[row];
            if (length == 0) continue;
            width = max(width, length);
            first = min(first, shapes.columns[shapes.offsets[row]]);
            last = max(last, shapes.columns[shapes.offsets[row + 1] - 1]);
        }
        slots[slice + 1] = width * shapes.height;
        if (last > first) atomicMax(reach, last - first);
        const bool is_wide = last >= 0 && last - first > farthest;
        first_columns[slice] = last < 0 ? 0 : first;
        wide[slice + 1] = is_wide ? 1 : 0;
        wide_slots[slice + 1] = is_wide ? width * shapes.height : 0;
    });
}

/// Marks wide slices by their number instead of their first column.
static __global__ void mark_wide_slices(const Offset* __restrict__ wide, const Offset* __restrict__ wide_slots, Index slices,
                                        Index* __restrict__ first_columns, Offset* __restrict__ wide_offsets) {
    on_gpu::for_each_item(static_cast<std::size_t>(slices), [&](std::size_t slice) {
        if (wide[slice + 1] == wide[slice]) return;
        first_columns[slice] = static_cast<Index>(-wide[slice + 1]);
        wide_offsets[wide[slice]] = wide_slots[slice];
    });
}

/// A slot of slices. Entries are places in the reordered matrix.
struct FilledSlot {
    std::size_t slice;
    Offset slot;
    Offset entry;         // -1: padding
    Offset column_entry;  // the entry whose column is stored: padding repeats the last of its row; -1: the row has none
    unsigned number;      // of the value in the entry
};

/// Calls use(FilledSlot) for all slots, of entries of `area` values; a warp takes a slice, of at most largest_slice slots.
template <typename Use>
inline __device__ void for_each_slot(const SliceShapes& shapes, const Offset* __restrict__ slice_offsets, unsigned area,
                                     const Use& use) {
    const std::size_t warp = (blockIdx.x * std::size_t{block_threads} + threadIdx.x) / 32;
    for (std::size_t slice = warp; slice < static_cast<std::size_t>(shapes.slices);
         slice += gridDim.x * std::size_t{block_threads} / 32) {
        const Offset begin = slice_offsets[slice] * area;
        const auto slots = static_cast<std::uint32_t>(slice_offsets[slice + 1] * area - begin);
        const auto height = static_cast<std::uint32_t>(shapes.height);
        for (std::uint32_t i = threadIdx.x % 32; i < slots; i += 32) {
            const Offset row = static_cast<Offset>(slice) * height + i % height;
            const std::uint32_t column = i / height;  // of the slots of the slice
            const Offset k = column / area;
            const Offset first = row < shapes.rows ? shapes.offsets[row] : 0;
            const Offset length = row < shapes.rows ? shapes.offsets[row + 1] - first : 0;
            use(FilledSlot{slice, begin + i, k < length ? first + k : -1, length > 0 ? first + min(k, length - 1) : -1,
                           column % area});
        }
    }
}

/// Columns of slices of 32 or 16 bits; if they have first columns, those of 16 bits count from them, or from 0 in wide slices,
/// which also have upper halves.
template <typename ColumnIndex>
struct ColumnsOnGpu {
    ColumnIndex* columns = nullptr;
    const Index* first_columns = nullptr;   // [slices] of wide slice i: -1 - i
    const Offset* wide_offsets = nullptr;   // [wide slices]
    std::uint16_t* high_columns = nullptr;  // [slots of wide slices]
};

/// marks_padding: all bits of the columns of padding are 1.
template <typename ColumnIndex>
__global__ void fill_columns(SliceShapes shapes, const Offset* __restrict__ slice_offsets, bool marks_padding,
                             ColumnsOnGpu<ColumnIndex> filled) {
    for_each_slot(shapes, slice_offsets, 1, [&](const FilledSlot& at) {
        const Index first = filled.first_columns == nullptr ? 0 : filled.first_columns[at.slice];
        const Offset entry = marks_padding ? at.entry : at.column_entry;
        const Index padding = marks_padding ? -1 : 0;
        const auto column = static_cast<std::uint32_t>(entry < 0 ? padding : shapes.columns[entry] - max(first, 0));
        filled.columns[at.slot] = static_cast<ColumnIndex>(column);
        if (first >= 0) return;
        filled.high_columns[filled.wide_offsets[-1 - first] + at.slot - slice_offsets[at.slice]] =
            static_cast<std::uint16_t>(column >> 16);
    });
}

/// The number of the nonzero in each slot. Entries are nonzeros, or blocks of `area` places, whose nonzeros
/// listed_blocks has found.
static __global__ void number_slots(SliceShapes shapes, const Offset* __restrict__ slice_offsets,
                                    const std::uint32_t* __restrict__ entries,
                                    const std::uint32_t* __restrict__ nonzeros_of_blocks, unsigned area,
                                    std::uint32_t* __restrict__ nonzeros) {
    for_each_slot(shapes, slice_offsets, area, [&](const FilledSlot& at) {
        const std::uint32_t entry = at.entry < 0 ? no_item : entries[at.entry];
        nonzeros[at.slot] = entry == no_item || nonzeros_of_blocks == nullptr
                                ? entry
                                : nonzeros_of_blocks[std::size_t{entry} * area + at.number];
    });
}

/// Stores values in full, or of f64 in f32 or in bf16.
template <typename Value, typename Stored>
struct ValueWriter {
    const Value* input;
    Stored* values;

    __device__ void operator()(std::size_t slot, std::uint32_t item) const {
        const Value value = item == no_item ? Value{0} : input[item];
        if constexpr (std::is_same_v<Stored, Value>) {
            values[slot] = value;
        } else if constexpr (std::is_same_v<Stored, float>) {
            values[slot] = to_f32(value);
        } else {
            values[slot] = to_bf16(value);
        }
    }
};

/// Stores codes. Padding has code 0.
template <typename Code>
struct CodeWriter {
    const std::uint16_t* places;
    const std::uint32_t* codes_of_places;
    std::uint32_t added_to_each;
    Code* codes;
    int column_bits;  // below the code, which stay

    __device__ void operator()(std::size_t slot, std::uint32_t item) const {
        const std::uint32_t code = item == no_item ? 0 : codes_of_places[places[item]] + added_to_each;
        if constexpr (std::is_same_v<Code, std::uint32_t>) {
            const std::uint32_t column = codes[slot] & ((std::uint32_t{1} << column_bits) - 1);
            codes[slot] = column | static_cast<std::uint32_t>(std::uint64_t{code} << column_bits);
        } else {
            codes[slot] = static_cast<Code>(code);
        }
    }
};

/// items: the number of the nonzero or block in each slot; no_item: padding.
template <typename Writer>
__global__ void gather_values(const std::uint32_t* __restrict__ items, std::size_t count, Writer write) {
    on_gpu::for_each_item(count, [&](std::size_t slot) { write(slot, items[slot]); });
}

/// diagonal: zeros beforehand.
template <typename Value, typename Given>
__global__ void find_diagonal(const Given* __restrict__ offsets, CsrOnDevice<Value> matrix, Value* __restrict__ diagonal) {
    on_gpu::for_each_row(matrix.rows, [&](Index row, unsigned lane) {
        for (auto i = static_cast<std::int64_t>(offsets[row]) + lane; i < static_cast<std::int64_t>(offsets[row + 1]);
             i += on_gpu::lanes) {
            if (matrix.column_indices[i] == row) diagonal[row] = matrix.values[i];
        }
    });
}

}  // namespace workbench::slicing
