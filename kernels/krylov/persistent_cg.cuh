// Conjugate gradients in one kernel that stays on the GPU for all iterations of a launch. Each multiprocessor has one thread
// block with one part of the matrix (persistent_matrix.hpp). What fits stays in shared memory: p of the part and its halo,
// other vectors, and as much of the matrix as there is room for.
//
// An iteration waits for all blocks twice, for p.Ap and for r.r. Each block writes its sum and a tag, which is different for
// each wait, as one packet of 16 bytes, and reads the packets of all blocks until all of them have the tag. It adds the sums
// in the order of the blocks, so that all blocks have the same scalars to the bit, and so has every run. Elements of M r that
// other blocks read (`exports`) are packets with the tag of the second wait, too; so nothing needs a fence. Each block then
// computes the elements of p in its halo by itself, in the same way as their owners.
//
// No packet is overwritten before all blocks have read it: a block writes the packets of a wait again an iteration later, after
// the other wait, which every block answers only once it has all packets of the first.
#pragma once

#include <cstdint>

#include "kernels/krylov/persistent_matrix.hpp"
#include "kernels/krylov/steps.hpp"

namespace workbench::krylov {

inline constexpr int persistent_threads = 32 * warps_of_part;
inline constexpr int packets_per_lane = 5;  // that one warp waits for
inline constexpr int most_persistent_blocks = 32 * packets_per_lane;

/// A sum of a block, or an exported element.
struct alignas(16) Packet {
    double value;
    unsigned long long tag;
};

inline constexpr int packet_places = 3 * most_persistent_blocks;  // p.Ap, r.r and r.Mr

template <typename Value>
struct PersistentArguments {
    const Part* parts = nullptr;
    const Slice* slices = nullptr;
    const Index* halo = nullptr;
    const Value* values = nullptr;
    const std::uint16_t* columns = nullptr;
    // Vectors in the order of parts, [places].
    const Value* b = nullptr;
    const Value* inverse_diagonal = nullptr;  // null: not preconditioned
    Value* x = nullptr;
    Value* r = nullptr;
    Value* p = nullptr;
    Value* q = nullptr;
    Packet* exports = nullptr;  // [places] elements of M r
    Packet* packets = nullptr;  // [packet_places]
    Scalars* scalars = nullptr;
    Index kept = 0;              // entries of a part after the resident ones that stay in L2
    unsigned* failed = nullptr;  // 1 after a wait that took too long
    bool begins = false;         // r = b - A x and p = M r, instead of iterations
    std::int64_t iterations = 0;
    std::int64_t most_iterations = 0;
    unsigned long long first_tag = 0;  // above all tags of earlier launches
    unsigned long long patience = 0;   // of a wait, in nanoseconds
};

namespace persistent {

// Volatile, so that the compiler keeps them in order and does not reuse a value that was read before.
__device__ __forceinline__ void store_packet(Packet* at, double value, unsigned long long tag) {
    asm volatile("{ .reg .b128 packet; mov.b128 packet, {%1, %2}; st.relaxed.gpu.global.b128 [%0], packet; }" ::"l"(at),
                 "l"(__double_as_longlong(value)), "l"(tag)
                 : "memory");
}

__device__ __forceinline__ Packet load_packet(const Packet* at) {
    long long value = 0;
    Packet packet;
    asm volatile("{ .reg .b128 packet; ld.relaxed.gpu.global.b128 packet, [%2]; mov.b128 {%0, %1}, packet; }"
                 : "=l"(value), "=l"(packet.tag)
                 : "l"(at)
                 : "memory");
    packet.value = __longlong_as_double(value);
    return packet;
}

__device__ __forceinline__ unsigned long long nanoseconds() {
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

__device__ __forceinline__ double sum_over_lanes(double sum) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    return sum;
}

/// Waits until all blocks have written packets with this tag, and adds their sums. One warp calls it; all lanes get the sum.
/// Returns false if that takes too long, or another block has given up.
__device__ inline bool wait_for_packets(const Packet* packets, unsigned long long tag, unsigned* failed,
                                        unsigned long long patience, double& sum) {
    constexpr unsigned rounds_between_looks = 1024;
    const unsigned lane = threadIdx.x % 32;
    const unsigned blocks = gridDim.x;
    unsigned long long start = 0;
    Packet found[packets_per_lane];
    for (unsigned round = 1;; ++round) {
        bool all = true;
#pragma unroll
        for (int i = 0; i < packets_per_lane; ++i) found[i] = load_packet(packets + min(lane + 32u * i, blocks - 1));
#pragma unroll
        for (int i = 0; i < packets_per_lane; ++i) all = all && found[i].tag == tag;
        if (__all_sync(~0u, all)) break;
        if (round % rounds_between_looks != 0) continue;
        const unsigned long long now = nanoseconds();
        if (start == 0) start = now;
        const bool gives_up = now - start > patience || *const_cast<volatile unsigned*>(failed) != 0;
        if (__any_sync(~0u, gives_up)) {
            *const_cast<volatile unsigned*>(failed) = 1;
            return false;
        }
    }
    sum = 0;
#pragma unroll
    for (int i = 0; i < packets_per_lane; ++i) sum += lane + 32u * i < blocks ? found[i].value : 0.0;
    sum = sum_over_lanes(sum);
    return true;
}

/// The sum of all threads, in warp 0; contains a barrier. of_warps: [32] in shared memory.
__device__ __forceinline__ double sum_over_block(double sum, double* of_warps) {
    sum = sum_over_lanes(sum);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    return threadIdx.x < 32 ? sum_over_lanes(of_warps[threadIdx.x]) : 0.0;
}

/// Visits rows `first`, `first` + step, ... below `count`, with the reads of four rows before their writes.
template <typename Read, typename Write>
__device__ __forceinline__ void for_rows(Index first, Index count, Index step, const Read& read, const Write& write) {
    Index i = first;
    for (; i + 3 * step < count; i += 4 * step) {
        const auto a = read(i);
        const auto b = read(i + step);
        const auto c = read(i + 2 * step);
        const auto d = read(i + 3 * step);
        write(i, a);
        write(i + step, b);
        write(i + 2 * step, c);
        write(i + 3 * step, d);
    }
    for (; i < count; i += step) write(i, read(i));
}

struct FromShared {
    template <typename T>
    __device__ __forceinline__ T operator()(const T* at) const {
        return *at;
    }
};

/// Not through L1, which has little room beside the shared memory, and with a policy for L2.
struct FromGlobal {
    unsigned long long policy;

    __device__ __forceinline__ double operator()(const double* at) const {
        double value = 0;
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(value) : "l"(at), "l"(policy));
        return value;
    }
    __device__ __forceinline__ float operator()(const float* at) const {
        float value = 0;
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(at), "l"(policy));
        return value;
    }
    __device__ __forceinline__ std::uint16_t operator()(const std::uint16_t* at) const {
        std::uint16_t value = 0;
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(value) : "l"(at), "l"(policy));
        return value;
    }
};

/// Adds `count` entries of a row. All loads of the matrix come before their first use; so they are in flight together.
template <int count, typename Load, typename Value>
__device__ __forceinline__ Value add_entries(Value sum, const Value* values, const std::uint16_t* columns, const Value* p,
                                             Load load) {
    std::uint16_t column[count];
    Value value[count];
#pragma unroll
    for (int j = 0; j < count; ++j) column[j] = load(columns + 32 * j);
#pragma unroll
    for (int j = 0; j < count; ++j) value[j] = load(values + 32 * j);
#pragma unroll
    for (int j = 0; j < count; ++j) sum += value[j] * p[column[j]];
    return sum;
}

/// A row times p. The branches are the same for all lanes of a warp.
template <typename Load, typename Value>
__device__ __forceinline__ Value multiply_row(const Value* values, const std::uint16_t* columns, int width, const Value* p,
                                              Load load) {
    Value sum = 0;
    for (; width >= 8; width -= 8, values += 256, columns += 256) sum = add_entries<8>(sum, values, columns, p, load);
    switch (width) {
        case 1: return add_entries<1>(sum, values, columns, p, load);
        case 2: return add_entries<2>(sum, values, columns, p, load);
        case 3: return add_entries<3>(sum, values, columns, p, load);
        case 4: return add_entries<4>(sum, values, columns, p, load);
        case 5: return add_entries<5>(sum, values, columns, p, load);
        case 6: return add_entries<6>(sum, values, columns, p, load);
        case 7: return add_entries<7>(sum, values, columns, p, load);
        default: return sum;
    }
}

/// z + beta p, rounded in one way wherever it is computed.
template <typename Value>
__device__ __forceinline__ Value next_direction(Value z, double beta, Value p) {
    return static_cast<Value>(fma(beta, static_cast<double>(p), static_cast<double>(z)));
}

/// From warp 0 to all threads of the block.
struct Signal {
    double factor;  // alpha or beta
    bool goes_on;   // the state is `running`, and no wait has failed
    bool iterates;  // another iteration follows in this launch
    bool failed;
};

template <typename Value>
struct RowOfUpdate {
    Value r, q, inverse_diagonal;
};

}  // namespace persistent

/// The grid must be resident at once.
template <typename Value>
__global__ void __launch_bounds__(persistent_threads, 1) persistent_cg(const PersistentArguments<Value> a) {
    using namespace persistent;
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ double of_warps[2][32];
    __shared__ Signal signal;
    __shared__ __align__(16) unsigned char place_of_scalars[sizeof(Scalars)];
    Scalars& scalars = *reinterpret_cast<Scalars*>(place_of_scalars);  // thread 0 alone uses it

    const Index thread = static_cast<Index>(threadIdx.x);
    const int lane = thread % 32;
    const int warp = thread / 32;
    if (thread == 0) {
        scalars = *a.scalars;
        if (blockIdx.x != 0) scalars.history = nullptr;  // one block records it
        if (a.begins) scalars.state = KrylovState::running;
        const std::int64_t until = scalars.iterations + a.iterations;
        scalars.until = until < a.most_iterations ? until : a.most_iterations;
        signal.iterates = a.begins || scalars.goes_on();
        signal.failed = false;
    }
    __syncthreads();
    if (!signal.iterates) return;

    const Part part = a.parts[blockIdx.x];
    const SharedPlaces places = shared_places<Value>(part);
    auto* p = reinterpret_cast<Value*>(memory);
    auto* resident_values = reinterpret_cast<Value*>(memory + places.values);
    auto* resident_columns = reinterpret_cast<std::uint16_t*>(memory + places.columns);
    auto* halo = reinterpret_cast<Index*>(memory + places.halo);
    auto* slices = reinterpret_cast<Slice*>(memory + places.slices);
    Value* r = part.vectors > 0 ? reinterpret_cast<Value*>(memory + places.r) : a.r + part.first_row;
    Value* q = part.vectors > 1 ? reinterpret_cast<Value*>(memory + places.q) : a.q + part.first_row;
    const bool preconditioned = a.inverse_diagonal != nullptr;
    const Value* inverse_diagonal = preconditioned ? a.inverse_diagonal + part.first_row : nullptr;
    const Value* values = a.values + part.first_entry;
    const std::uint16_t* columns = a.columns + part.first_entry;
    Value* x = a.x + part.first_row;

    const Value* direction = a.begins ? a.x : a.p;
    for (Index i = thread; i < part.rows; i += persistent_threads) {
        p[i] = direction[part.first_row + i];
        if (part.vectors > 0) r[i] = a.r[part.first_row + i];
    }
    if (preconditioned && part.vectors > 2) {
        auto* copy = reinterpret_cast<Value*>(memory + places.inverse_diagonal);
        for (Index i = thread; i < part.rows; i += persistent_threads) copy[i] = inverse_diagonal[i];
        inverse_diagonal = copy;
    }
    for (Index i = thread; i < part.halo; i += persistent_threads) {
        halo[i] = a.halo[part.first_halo + i];
        p[part.rows + i] = direction[halo[i]];
    }
    for (Index i = thread; i < part.resident; i += persistent_threads) {
        resident_values[i] = values[i];
        resident_columns[i] = columns[i];
    }
    for (Index i = thread; i < part.slices(); i += persistent_threads) slices[i] = a.slices[part.first_slice + i];
    __syncthreads();

    unsigned long long stays_in_l2 = 0;
    unsigned long long passes_through_l2 = 0;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(stays_in_l2));
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(passes_through_l2));
    const Index end_of_kept = part.resident + a.kept;
    const Index rows = part.rows;
    unsigned long long tag = a.first_tag;
    for (;;) {
        double sum = 0;
        for (Index s = warp; s < part.slices(); s += warps_of_part) {
            const Slice slice = slices[s];
            const Index first = slice.first + lane;
            const Index row = s * rows_per_slice + lane;
            const FromGlobal from_global{slice.first < end_of_kept ? stays_in_l2 : passes_through_l2};
            const Value of_row =
                slice.first < part.resident
                    ? multiply_row(resident_values + first, resident_columns + first, slice.width, p, FromShared())
                    : multiply_row(values + first, columns + first, slice.width, p, from_global);
            q[row] = of_row;
            sum += product(p[row], of_row);
        }

        double alpha = 0;
        if (!a.begins) {
            sum = sum_over_block(sum, of_warps[0]);
            if (warp == 0) {
                if (lane == 0) store_packet(a.packets + blockIdx.x, sum, tag);
                const bool came = wait_for_packets(a.packets, tag, a.failed, a.patience, sum);
                if (lane == 0) {
                    if (came) CgLength::finish(scalars, {sum, 0});
                    signal.factor = scalars.alpha;
                    signal.goes_on = came && scalars.state == KrylovState::running;
                    signal.failed = !came;
                }
            }
            ++tag;
            __syncthreads();
            if (!signal.goes_on) break;
            alpha = signal.factor;
        }

        // r, M r in q, and its sums.
        double square = 0;
        double weighted = 0;
        for_rows(
            thread, rows, persistent_threads,
            [&](Index i) {
                return RowOfUpdate<Value>{a.begins ? a.b[part.first_row + i] : r[i], q[i],
                                          preconditioned ? inverse_diagonal[i] : Value{1}};
            },
            [&](Index i, const RowOfUpdate<Value>& row) {
                const auto next = a.begins ? row.r - row.q : static_cast<Value>(row.r - alpha * row.q);
                const Value z = row.inverse_diagonal * next;
                r[i] = next;
                q[i] = z;
                square += product(next, next);
                weighted += product(next, z);
                if (i < part.exported) store_packet(a.exports + part.first_row + i, z, tag);
            });
        square = sum_over_block(square, of_warps[0]);
        if (preconditioned) weighted = sum_over_block(weighted, of_warps[1]);
        if (warp == 0) {
            Packet* packets = a.packets + most_persistent_blocks;
            Packet* others = packets + most_persistent_blocks;
            if (lane == 0) {
                if (preconditioned) store_packet(others + blockIdx.x, weighted, tag);
                store_packet(packets + blockIdx.x, square, tag);
            }
            bool came = wait_for_packets(packets, tag, a.failed, a.patience, square);
            weighted = square;
            if (came && preconditioned) came = wait_for_packets(others, tag, a.failed, a.patience, weighted);
            if (lane == 0) {
                if (came && a.begins) CgBegin::finish(scalars, {square, weighted});
                if (came && !a.begins) CgUpdate::finish(scalars, {square, weighted});
                signal.factor = scalars.beta;
                signal.goes_on = came && scalars.state == KrylovState::running;
                signal.iterates = came && !a.begins && scalars.goes_on();
                signal.failed = !came;
            }
        } else if (!a.begins) {
            // While the packets travel.
            for_rows(
                thread - 32, rows, persistent_threads - 32, [&](Index i) { return x[i]; },
                [&](Index i, Value before) { x[i] = static_cast<Value>(before + alpha * p[i]); });
        }
        __syncthreads();
        if (a.begins) {
            for (Index i = thread; i < rows; i += persistent_threads) p[i] = q[i];
            break;
        }
        if (!signal.goes_on) break;
        const double beta = signal.factor;
        if (signal.iterates) {
            for_rows(
                thread, part.halo, persistent_threads, [&](Index i) { return load_packet(a.exports + halo[i]); },
                [&](Index i, Packet z) {
                    while (z.tag != tag) z = load_packet(a.exports + halo[i]);
                    p[rows + i] = next_direction(static_cast<Value>(z.value), beta, p[rows + i]);
                });
        }
        for (Index i = thread; i < rows; i += persistent_threads) p[i] = next_direction(q[i], beta, p[i]);
        if (!signal.iterates) break;
        ++tag;
        __syncthreads();
    }

    if (signal.failed) return;
    for (Index i = thread; i < rows; i += persistent_threads) {
        a.p[part.first_row + i] = p[i];
        if (part.vectors > 0) a.r[part.first_row + i] = r[i];
    }
    if (blockIdx.x == 0 && thread == 0) *a.scalars = scalars;
}

}  // namespace workbench::krylov
