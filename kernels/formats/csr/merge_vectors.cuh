// CSR by equal shares of the merge path for several vectors, Y = A X with X and Y row by row (merge.cuh). A block loads the
// nonzeros and row ends of its share to shared memory, and each group of threads (MergeGroups) follows its part of the path: it
// reads the row of X of a nonzero, and adds to sums in registers. Where the shares begin is found once, when the kernel is
// prepared. NVRTC compiles it for the number of vectors. Merge-based products with several vectors: Yang, Buluc, Owens, "Design
// Principles for Sparse Matrix Multiplication on the GPU" (Euro-Par 2018).
//
// Races: as in merge.cuh; the threads of a group write different elements of a row of Y, and of the sums that a block carries.
#pragma once

#include "kernels/common/device_code/carries.cuh"
#include "kernels/common/schedule/vectors_kernel.cuh"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr/merge_path.hpp"

namespace workbench::csr_merge {

template <MergeGroups shape, typename Value>
using PartOfGroup = PartOfVectors<Value, shape.vectors>;

/// Shared memory of a block.
template <MergeGroups shape, typename Value>
struct VectorsMemory {
    Value values[shape.loads() * shape.threads];
    Index columns[shape.loads() * shape.threads];
    int row_ends[shape.size()];          // from the block's first nonzero on
    int first_rows[shape.groups() + 1];  // of each group, from the block's first row on; and the number of rows
    SegmentsOfWarps<shape.threads, PartOfGroup<shape, Value>, shape.vectors.parts> of_warps;
};

/// A thread without a nonzero of its own loads the last one again, as load_share does.
template <MergeGroups shape, typename Value>
__device__ __forceinline__ void load_share_of_vectors(const auto& csr, const MergeShare& share,
                                                      VectorsMemory<shape, Value>& memory) {
    const auto load = loads_of_block(csr.values);
    const int thread = static_cast<int>(threadIdx.x);
    if (share.nonzeros > 0) {
        const auto run = run_of_lane<1>(0, share.first, share.first + share.nonzeros, 0);
        Value value[shape.loads()];
        Index column[shape.loads()];
        NoState none;
#pragma unroll
        for (int k = 0; k < shape.loads(); ++k) {
            const int place = min(k * shape.threads + thread, share.nonzeros - 1);
            load_entry<CompressedRows<1>>(csr, run, place, load, none, value[k], column[k]);
        }
#pragma unroll
        for (int k = 0; k < shape.loads(); ++k) {
            memory.values[k * shape.threads + thread] = value[k];
            memory.columns[k * shape.threads + thread] = column[k];
        }
    }
    const Offset* const row_ends = csr.row_offsets.data() + share.first_row + 1;
    for (int row = thread; row < share.rows; row += shape.threads) {
        memory.row_ends[row] = static_cast<int>(load(row_ends + row) - share.first);
    }
    __syncthreads();
    const int steps = share.nonzeros + share.rows;
    if (thread < shape.groups()) {
        memory.first_rows[thread] = merge_path_search(memory.row_ends, share.rows, shape.begin(thread, steps));
    }
    if (thread == 0) memory.first_rows[shape.groups()] = share.rows;
    __syncthreads();
}

/// The entries of a batch that a group has, with its part of their rows of X.
template <MergeGroups shape, typename Value>
__device__ __forceinline__ void load_batch(const VectorsMemory<shape, Value>& memory, int nonzero, int count, int part,
                                           const Value* __restrict__ x, Value (&value)[shape.batch],
                                           PartOfGroup<shape, Value> (&of_x)[shape.batch]) {
    constexpr VectorTiles tiles = shape.vectors;
    using Part = PartOfGroup<shape, Value>;
#pragma unroll
    for (int u = 0; u < shape.batch; ++u) {
        if (u >= count) continue;
        value[u] = memory.values[nonzero + u];
        const auto* const row_of_x = reinterpret_cast<const typename Part::OnePacket*>(x + Offset{memory.columns[nonzero + u]} *
                                                                                               (tiles.packet * tiles.packets));
        Part::for_each(part, [&](int i, int number) { of_x[u].packets[i] = row_of_x[number]; });
    }
}

/// Follows the part of a group. put(row, sums) writes the sums of a row of the share, but not of the first row that ends here.
/// first: its sums.
template <MergeGroups shape, typename Value>
__device__ __forceinline__ Segment<PartOfGroup<shape, Value>> follow_path(const VectorsMemory<shape, Value>& memory, int group,
                                                                          int part, int steps, const Value* __restrict__ x,
                                                                          PartOfGroup<shape, Value>& first, const auto& put) {
    using Part = PartOfGroup<shape, Value>;
    int row = memory.first_rows[group];
    const int last_row = memory.first_rows[group + 1];
    int nonzero = shape.begin(group, steps) - row;
    const int end = shape.begin(group + 1, steps) - last_row;
    const auto next_end = [&] { return row < last_row ? memory.row_ends[row] : end + 1; };
    int row_end = next_end();
    Segment<Part> own;
    const auto end_row = [&] {
        if (own.has_end) {
            put(row, own.open);
        } else {
            first = own.open;
        }
        own = {true, Part{}};
        ++row;
        row_end = next_end();
    };
    for (; nonzero < end; nonzero += shape.batch) {
        Value value[shape.batch];
        Part of_x[shape.batch];
        load_batch<shape>(memory, nonzero, end - nonzero, part, x, value, of_x);
#pragma unroll
        for (int u = 0; u < shape.batch; ++u) {
            if (u >= end - nonzero) continue;
            while (row_end <= nonzero + u) end_row();
            Part::for_each(part, [&](int i, int) {
#pragma unroll
                for (int j = 0; j < shape.vectors.packet; ++j) {
                    own.open.packets[i].elements[j] += value[u] * of_x[u].packets[i].elements[j];
                }
            });
        }
    }
    while (row < last_row) end_row();
    return own;
}

/// The product of a block's share. carried.sums: [blocks * vectors].
template <MergeGroups shape, typename Value>
__device__ __forceinline__ void multiply_share_of_vectors(const auto& csr, const Index* __restrict__ first_rows,
                                                          const Value* __restrict__ x, Value* __restrict__ y,
                                                          const Carried<Value>& carried, bool accumulate) {
    using Part = PartOfGroup<shape, Value>;
    constexpr VectorTiles tiles = shape.vectors;
    __shared__ VectorsMemory<shape, Value> memory;
    const MergeShares shares{csr.row_count, csr.values.size(), shape.size()};
    const Offset begin = shares.begin(blockIdx.x);
    const int steps = static_cast<int>(shares.begin(Offset{blockIdx.x} + 1) - begin);
    const Index first_row = __ldg(first_rows + blockIdx.x);
    const int rows = __ldg(first_rows + blockIdx.x + 1) - first_row;
    const int nonzeros = steps - rows;
    load_share_of_vectors(csr, {begin - first_row, nonzeros, first_row, rows}, memory);

    const int group = static_cast<int>(threadIdx.x) / tiles.parts;
    const int part = static_cast<int>(threadIdx.x) % tiles.parts;
    const auto put = [&](int row, Part sums) {
        const Run<Known<1>> run{first_row + row};
        write_sums<CompressedRows<1>>(csr, run, part, TargetRows{}, StreamingLoad{}, accumulate, sums, y);
    };
    // The sum of the row that ends first is written after the segmented sum: earlier groups have nonzeros of it.
    Part first{};
    const Segment<Part> own = follow_path(memory, group, part, steps, x, first, put);
    const SegmentedSums<Part> sums = segmented_sums(own, memory.of_warps);
    if (own.has_end) put(memory.first_rows[group], sums.carried_in + first);
    if (group != 0) return;
    // No row is open if the last nonzero here is that of a row that ends here.
    const bool is_open = nonzeros > (rows == 0 ? 0 : memory.row_ends[rows - 1]);
    if (part == 0) carried.rows[blockIdx.x] = is_open ? first_row + rows : -1;
    if (!is_open) return;
    const Value factor = times_row_value(csr, first_row + rows, Value{1});
    Value* const places = carried.sums + Offset{blockIdx.x} * (tiles.packet * tiles.packets);
    Part::for_each(part, [&](int i, int number) {
#pragma unroll
        for (int j = 0; j < tiles.packet; ++j) {
            places[number * tiles.packet + j] = factor * sums.left_open.packets[i].elements[j];
        }
    });
}

template <int vectors, typename Arrays, typename Value>
__global__ void __launch_bounds__(merge_groups(vectors, sizeof(Value)).threads)
    multiply_shares_of_vectors(const __grid_constant__ Arrays csr, const Index* __restrict__ first_rows,
                               const Value* __restrict__ x, Value* __restrict__ y, const Carried<Value> carried,
                               bool accumulate) {
    multiply_share_of_vectors<merge_groups(vectors, sizeof(Value))>(csr, first_rows, x, y, carried, accumulate);
}

}  // namespace workbench::csr_merge
