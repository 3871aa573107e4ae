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

inline constexpr int packet_places = 5 * most_persistent_blocks;  // of each sum; CG has p.Ap, r.r and r.Mr

/// Value: the type of vectors. Stored: that of the matrix's values.
template <typename Value, typename Stored>
struct PersistentArguments {
    const Part* parts = nullptr;
    const Slice* slices = nullptr;
    const Index* halo = nullptr;
    const Stored* values = nullptr;
    const std::uint16_t* columns = nullptr;
    // Vectors in the order of parts, [places].
    const Value* b = nullptr;
    const Value* inverse_diagonal = nullptr;  // null: not preconditioned
    Value* x = nullptr;
    Value* r = nullptr;
    Value* p = nullptr;
    Value* q = nullptr;
    const Value* direction = nullptr;  // what the first product multiplies: x for a beginning, otherwise p, or M p of BiCGStab
    // BiCGStab. Without a preconditioner, mp is p, and ms is null: r takes its place.
    Value* shadow = nullptr;
    Value* t = nullptr;
    Value* mp = nullptr;
    Value* ms = nullptr;
    Packet* exports = nullptr;  // [places] elements that other blocks read: of M r; of M s and M p
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
template <int count, typename Load, typename Value, typename Stored>
__device__ __forceinline__ Value add_entries(Value sum, const Stored* values, const std::uint16_t* columns, const Value* p,
                                             Load load) {
    std::uint16_t column[count];
    Stored value[count];
#pragma unroll
    for (int j = 0; j < count; ++j) column[j] = load(columns + 32 * j);
#pragma unroll
    for (int j = 0; j < count; ++j) value[j] = load(values + 32 * j);
#pragma unroll
    for (int j = 0; j < count; ++j) sum += static_cast<Value>(value[j]) * p[column[j]];
    return sum;
}

/// A row times p. The branches are the same for all lanes of a warp.
template <typename Load, typename Value, typename Stored>
__device__ __forceinline__ Value multiply_row(const Stored* values, const std::uint16_t* columns, int width, const Value* p,
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

/// Shared memory of a block beside that of its part.
struct BlockMemory {
    double of_warps[2][32];
    Signal signal;
    alignas(16) unsigned char scalars[sizeof(Scalars)];
};

template <typename Value>
struct RowOfUpdate {
    Value r, q, inverse_diagonal;
};

/// A thread's share of the work on the part of its block. All threads of the block call each function.
template <typename Value, typename Stored>
class Work {
public:
    __device__ __forceinline__ Work(const PersistentArguments<Value, Stored>& arguments, unsigned char* memory,
                                    BlockMemory& block)
        : a_(arguments),
          block_(block),
          part_(arguments.parts[blockIdx.x]),
          memory_(memory),
          thread_(static_cast<Index>(threadIdx.x)),
          tag_(arguments.first_tag),
          inverse_diagonal_(preconditioned() ? arguments.inverse_diagonal + part_.first_row : nullptr) {
        const SharedPlaces places = shared_places<Value, Stored>(part_);
        p_ = reinterpret_cast<Value*>(memory);
        r_ = part_.vectors > 0 ? reinterpret_cast<Value*>(memory + places.r) : a_.r + part_.first_row;
        q_ = part_.vectors > 1 ? reinterpret_cast<Value*>(memory + places.q) : a_.q + part_.first_row;
        halo_ = reinterpret_cast<Index*>(memory + places.halo);
        slices_ = reinterpret_cast<Slice*>(memory + places.slices);
        resident_values_ = reinterpret_cast<Stored*>(memory + places.values);
        resident_columns_ = reinterpret_cast<std::uint16_t*>(memory + places.columns);
    }

    /// Fills shared memory.
    __device__ __forceinline__ void load() {
        const Value* direction = a_.direction;
        for (Index i = thread_; i < part_.rows; i += persistent_threads) {
            p_[i] = direction[part_.first_row + i];
            if (part_.vectors > 0) r_[i] = a_.r[part_.first_row + i];
        }
        if (preconditioned() && part_.vectors > 2) {
            auto* copy = reinterpret_cast<Value*>(memory_ + shared_places<Value, Stored>(part_).inverse_diagonal);
            for (Index i = thread_; i < part_.rows; i += persistent_threads) copy[i] = inverse_diagonal_[i];
            inverse_diagonal_ = copy;
        }
        for (Index i = thread_; i < part_.halo; i += persistent_threads) {
            halo_[i] = a_.halo[part_.first_halo + i];
            p_[part_.rows + i] = direction[halo_[i]];
        }
        for (Index i = thread_; i < part_.resident; i += persistent_threads) {
            resident_values_[i] = a_.values[part_.first_entry + i];
            resident_columns_[i] = a_.columns[part_.first_entry + i];
        }
        for (Index i = thread_; i < part_.slices(); i += persistent_threads) slices_[i] = a_.slices[part_.first_slice + i];
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(stays_in_l2_));
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(passes_through_l2_));
        __syncthreads();
    }

    /// q = A p. Returns the thread's share of p.q.
    __device__ __forceinline__ double multiply() { return multiply_into(q_); }

    /// Likewise for another result.
    __device__ __forceinline__ double multiply_into(Value* result) {
        const Stored* values = a_.values + part_.first_entry;
        const std::uint16_t* columns = a_.columns + part_.first_entry;
        double sum = 0;
        for (Index s = warp(); s < part_.slices(); s += warps_of_part) {
            const Slice slice = slices_[s];
            const Index first = slice.first + lane();
            const Index row = s * rows_per_slice + lane();
            const FromGlobal from_global{slice.first < part_.resident + a_.kept ? stays_in_l2_ : passes_through_l2_};
            const Value of_row =
                slice.first < part_.resident
                    ? multiply_row(resident_values_ + first, resident_columns_ + first, slice.width, p_, FromShared())
                    : multiply_row(values + first, columns + first, slice.width, p_, from_global);
            result[row] = of_row;
            sum += product(p_[row], of_row);
        }
        return sum;
    }

    /// Waits for p.q and finds alpha. Returns false if the solve ends here.
    __device__ __forceinline__ bool find_length(double sum) {
        sum = sum_over_block(sum, block_.of_warps[0]);
        if (warp() == 0) {
            if (lane() == 0) store_packet(a_.packets + blockIdx.x, sum, tag_);
            const bool came = wait_for_packets(a_.packets, tag_, a_.failed, a_.patience, sum);
            if (lane() == 0) {
                if (came) CgLength::finish(scalars(), {sum, 0});
                block_.signal.factor = scalars().alpha;
                block_.signal.goes_on = came && scalars().state == KrylovState::running;
                block_.signal.failed = !came;
            }
        }
        ++tag_;
        __syncthreads();
        alpha_ = block_.signal.factor;
        return block_.signal.goes_on;
    }

    /// r, and M r in the place of q, which other blocks get. Returns the thread's share of r.r and r.Mr.
    __device__ __forceinline__ Sums update() {
        Sums sums;
        for_rows(
            thread_, part_.rows, persistent_threads,
            [&](Index i) {
                return RowOfUpdate<Value>{a_.begins ? a_.b[part_.first_row + i] : r_[i], q_[i],
                                          preconditioned() ? inverse_diagonal_[i] : Value{1}};
            },
            [&](Index i, const RowOfUpdate<Value>& row) {
                const auto next = a_.begins ? row.r - row.q : static_cast<Value>(row.r - alpha_ * row.q);
                const Value z = row.inverse_diagonal * next;
                r_[i] = next;
                q_[i] = z;
                sums.first += product(next, next);
                sums.second += product(next, z);
                if (i < part_.exported) store_packet(a_.exports + part_.first_row + i, z, tag_);
            });
        return sums;
    }

    /// Waits for r.r and r.Mr; x is computed while their packets travel. Returns false if the solve ends here.
    __device__ __forceinline__ bool find_direction(const Sums& sums) {
        const double square = sum_over_block(sums.first, block_.of_warps[0]);
        const double weighted = preconditioned() ? sum_over_block(sums.second, block_.of_warps[1]) : 0;
        if (warp() == 0) {
            wait_for_residual(square, weighted);
        } else if (!a_.begins) {
            Value* x = a_.x + part_.first_row;
            for_rows(
                thread_ - 32, part_.rows, persistent_threads - 32, [&](Index i) { return x[i]; },
                [&](Index i, Value before) { x[i] = static_cast<Value>(before + alpha_ * p_[i]); });
        }
        __syncthreads();
        return block_.signal.goes_on;
    }

    /// p = M r, without the halo, which the next launch reads again.
    __device__ __forceinline__ void begin_direction() {
        for (Index i = thread_; i < part_.rows; i += persistent_threads) p_[i] = q_[i];
    }

    /// p = M r + beta p, with the halo if an iteration follows.
    __device__ __forceinline__ void advance_direction() {
        const double beta = block_.signal.factor;
        if (iterates()) {
            Value* p_of_halo = p_ + part_.rows;
            for_rows(
                thread_, part_.halo, persistent_threads, [&](Index i) { return load_packet(a_.exports + halo_[i]); },
                [&](Index i, Packet z) {
                    while (z.tag != tag_) z = load_packet(a_.exports + halo_[i]);
                    p_of_halo[i] = next_direction(static_cast<Value>(z.value), beta, p_of_halo[i]);
                });
        }
        for (Index i = thread_; i < part_.rows; i += persistent_threads) p_[i] = next_direction(q_[i], beta, p_[i]);
        ++tag_;
    }

    [[nodiscard]] __device__ __forceinline__ bool iterates() const { return block_.signal.iterates; }

    /// Writes what the next launch needs.
    __device__ __forceinline__ void store() {
        if (block_.signal.failed) return;
        for (Index i = thread_; i < part_.rows; i += persistent_threads) {
            a_.p[part_.first_row + i] = p_[i];
            if (part_.vectors > 0) a_.r[part_.first_row + i] = r_[i];
        }
        if (blockIdx.x == 0 && thread_ == 0) *a_.scalars = scalars();
    }

protected:
    [[nodiscard]] __device__ __forceinline__ int lane() const { return thread_ % 32; }
    [[nodiscard]] __device__ __forceinline__ int warp() const { return thread_ / 32; }
    [[nodiscard]] __device__ __forceinline__ bool preconditioned() const { return a_.inverse_diagonal != nullptr; }
    /// For thread 0.
    [[nodiscard]] __device__ __forceinline__ Scalars& scalars() const { return *reinterpret_cast<Scalars*>(block_.scalars); }

    /// For warp 0.
    __device__ __forceinline__ void wait_for_residual(double square, double weighted) {
        Packet* squares = a_.packets + most_persistent_blocks;
        Packet* others = squares + most_persistent_blocks;
        if (lane() == 0) {
            if (preconditioned()) store_packet(others + blockIdx.x, weighted, tag_);
            store_packet(squares + blockIdx.x, square, tag_);
        }
        bool came = wait_for_packets(squares, tag_, a_.failed, a_.patience, square);
        weighted = square;
        if (came && preconditioned()) came = wait_for_packets(others, tag_, a_.failed, a_.patience, weighted);
        if (lane() != 0) return;
        if (came && a_.begins) CgBegin::finish(scalars(), {square, weighted});
        if (came && !a_.begins) CgUpdate::finish(scalars(), {square, weighted});
        block_.signal.factor = scalars().beta;
        block_.signal.goes_on = came && scalars().state == KrylovState::running;
        block_.signal.iterates = came && !a_.begins && scalars().goes_on();
        block_.signal.failed = !came;
    }

    const PersistentArguments<Value, Stored>& a_;
    BlockMemory& block_;
    Part part_;
    unsigned char* memory_;
    Index thread_;
    unsigned long long tag_;
    double alpha_ = 0;
    unsigned long long stays_in_l2_ = 0;
    unsigned long long passes_through_l2_ = 0;
    const Value* inverse_diagonal_;
    // In shared memory; r and q only if there is room.
    Value* p_ = nullptr;  // rows, then halo
    Value* r_ = nullptr;
    Value* q_ = nullptr;
    Index* halo_ = nullptr;
    Slice* slices_ = nullptr;
    Stored* resident_values_ = nullptr;
    std::uint16_t* resident_columns_ = nullptr;
};

/// Copies the scalars of the solve to shared memory. Returns false if there is nothing to do.
template <typename Value, typename Stored>
__device__ __forceinline__ bool has_work(const PersistentArguments<Value, Stored>& a, BlockMemory& block) {
    if (threadIdx.x == 0) {
        Scalars& scalars = *reinterpret_cast<Scalars*>(block.scalars);
        scalars = *a.scalars;
        if (blockIdx.x != 0) scalars.history = nullptr;  // one block records it
        if (a.begins) scalars.state = KrylovState::running;
        const std::int64_t until = scalars.iterations + a.iterations;
        scalars.until = until < a.most_iterations ? until : a.most_iterations;
        block.signal.iterates = a.begins || scalars.goes_on();
        block.signal.failed = false;
    }
    __syncthreads();
    return block.signal.iterates;
}

}  // namespace persistent

/// The grid must be resident at once.
template <typename Value, typename Stored>
__global__ void __launch_bounds__(persistent_threads, 1)
    persistent_cg(const __grid_constant__ PersistentArguments<Value, Stored> a) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ persistent::BlockMemory block;
    if (!persistent::has_work(a, block)) return;
    persistent::Work<Value, Stored> work(a, memory, block);
    work.load();
    for (;;) {
        const double length = work.multiply();
        if (!a.begins && !work.find_length(length)) break;
        const Sums sums = work.update();
        const bool goes_on = work.find_direction(sums);
        if (a.begins) {
            work.begin_direction();
            break;
        }
        if (!goes_on) break;
        work.advance_direction();
        if (!work.iterates()) break;
        __syncthreads();
    }
    work.store();
}

}  // namespace workbench::krylov
