// The common parts of the persistent kernels of all methods. Each multiprocessor has one thread block with one part of the
// matrix (persistent_matrix.hpp). Shared memory contains the vector that is multiplied, for the part and its halo, other
// vectors, and as much of the matrix as there is room for.
//
// All blocks wait for each other to add sums over all rows. A block writes its sums, each with a tag that is different for each
// wait, as packets of 16 bytes, and reads the packets of all blocks until all of them have the tag. It adds the sums in the
// order of the blocks, so that all blocks, and all runs, have bit-identical scalars. Vector elements that other
// blocks read are also packets with a tag, so that nothing needs a fence.
//
// The blocks can belong to several GPUs, one for each rank, which write each other's memory (PeerMemory).
//
// The packets of two successive waits are apart. A block writes the packets of a wait again two waits later. It has then
// received the sums of the wait between, which every block sends only after it has read all packets of the first.
#pragma once

#include <cstdint>

#include "kernels/krylov/persistent_matrix.hpp"
#include "kernels/krylov/steps.hpp"

namespace workbench::krylov {

inline constexpr int packets_per_lane = 5;                            // that one warp waits for
inline constexpr int most_persistent_blocks = 32 * packets_per_lane;  // of a rank
inline constexpr int most_persistent_ranks = 8;
inline constexpr int sums_of_wait = 4;  // at most

/// A sum of a block, or an exported element.
struct alignas(16) Packet {
    double value;
    unsigned long long tag;
};

/// The packets of the sums of two waits.
inline constexpr int sum_packets = 2 * most_persistent_ranks * sums_of_wait * most_persistent_blocks;

/// The memory of one rank's GPU that the GPUs of other ranks write. Vectors have the rank's places, then an element for each
/// one that the rank needs from others.
template <typename Value>
struct PeerMemory {
    int blocks = 0;
    Packet* sums = nullptr;     // [sum_packets]
    Packet* exports = nullptr;  // [2][places of a vector] elements that other blocks read; successive exports are apart
    Index places = 0;           // of a vector, with the remote elements
    Index remote = 0;
    Value* x = nullptr;
    Value* r = nullptr;
    Value* p = nullptr;
    Value* inverse_diagonal = nullptr;  // null: not preconditioned
};

/// Value: the type of vectors. Stored: that of the matrix's values.
template <typename Value, typename Stored>
struct PersistentArguments {
    const Part* parts = nullptr;
    const Slice* slices = nullptr;
    const Index* halo = nullptr;
    const Index* first_targets = nullptr;
    const Target* targets = nullptr;
    const Stored* values = nullptr;
    const std::uint16_t* columns = nullptr;
    int rank = 0;
    int ranks = 1;
    PeerMemory<Value> memory[most_persistent_ranks];  // of each rank
    // Vectors in the order of parts, [places].
    const Value* b = nullptr;
    Value* q = nullptr;
    Value* r_of_halo = nullptr;  // [halo] conjugate gradients: r in the halo of parts that keep it and have no room for it
    // BiCGStab. Without a preconditioner, mp is p, and ms is null: r takes its place.
    Value* shadow = nullptr;
    Value* t = nullptr;
    Value* mp = nullptr;
    Value* ms = nullptr;
    const Value* product = nullptr;    // A x for a beginning; null: the kernel multiplies
    const Value* direction = nullptr;  // what the first product multiplies: x for a beginning, otherwise p, or M p of BiCGStab
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
    asm volatile("{ .reg .b128 packet; mov.b128 packet, {%1, %2}; st.relaxed.sys.global.b128 [%0], packet; }" ::"l"(at),
                 "l"(__double_as_longlong(value)), "l"(tag)
                 : "memory");
}

__device__ __forceinline__ Packet load_packet(const Packet* at) {
    long long value = 0;
    Packet packet;
    asm volatile("{ .reg .b128 packet; ld.relaxed.sys.global.b128 packet, [%2]; mov.b128 {%0, %1}, packet; }"
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

/// Limits a wait in which `is_over` is called again and again.
class Patience {
public:
    __device__ __forceinline__ Patience(unsigned* failed, unsigned long long limit) : failed_(failed), limit_(limit) {}

    /// True if the wait takes too long, or another block has given up.
    __device__ __forceinline__ bool is_over() {
        constexpr unsigned rounds_between_looks = 1024;
        if (++rounds_ % rounds_between_looks != 0) return false;
        const unsigned long long now = nanoseconds();
        if (start_ == 0) start_ = now;
        return now - start_ > limit_ || *const_cast<volatile unsigned*>(failed_) != 0;
    }

    __device__ __forceinline__ void give_up() const { *const_cast<volatile unsigned*>(failed_) = 1; }

private:
    unsigned* failed_;
    unsigned long long limit_;
    unsigned long long start_ = 0;
    unsigned rounds_ = 0;
};

/// Waits until `count` packets have this tag, and adds their values in their order. One warp calls it; all lanes get the sum.
/// Returns false if that takes too long.
__device__ inline bool wait_for_sum(const Packet* packets, int count, unsigned long long tag, Patience patience, double& sum) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    Packet found[packets_per_lane];
    for (;;) {
        bool all = true;
#pragma unroll
        for (int i = 0; i < packets_per_lane; ++i) found[i] = load_packet(packets + min(lane + 32 * i, count - 1));
#pragma unroll
        for (int i = 0; i < packets_per_lane; ++i) all = all && found[i].tag == tag;
        if (__all_sync(~0u, all)) break;
        if (!__any_sync(~0u, patience.is_over())) continue;
        patience.give_up();
        return false;
    }
    sum = 0;
#pragma unroll
    for (int i = 0; i < packets_per_lane; ++i) sum += lane + 32 * i < count ? found[i].value : 0.0;
    sum = sum_over_lanes(sum);
    return true;
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

/// Adds `count` runs of a row. All loads of the matrix come before their first use; so they are in flight together.
template <int count, int run, typename Load, typename Value, typename Stored>
__device__ __forceinline__ Value add_runs(Value sum, const Stored* values, const std::uint16_t* columns, const Value* p,
                                          Load load) {
    std::uint16_t column[count];
    Stored value[count * run];
#pragma unroll
    for (int j = 0; j < count; ++j) column[j] = load(columns + 32 * j);
#pragma unroll
    for (int j = 0; j < count * run; ++j) value[j] = load(values + 32 * j);
#pragma unroll
    for (int j = 0; j < count * run; ++j) sum += static_cast<Value>(value[j]) * p[column[j / run] + j % run];
    return sum;
}

/// A row of `runs` runs times p. The branches are the same for all lanes of a warp.
template <int run, typename Load, typename Value, typename Stored>
__device__ __forceinline__ Value multiply_row(const Stored* values, const std::uint16_t* columns, int runs, const Value* p,
                                              Load load) {
    constexpr int most = run == 1 ? 8 : run == 2 ? 4 : 3;
    Value sum = 0;
    for (; runs >= most; runs -= most, values += 32 * run * most, columns += 32 * most) {
        sum = add_runs<most, run>(sum, values, columns, p, load);
    }
    switch (runs) {
        case 1: return add_runs<1, run>(sum, values, columns, p, load);
        case 2: return add_runs<2, run>(sum, values, columns, p, load);
        default: break;
    }
    if constexpr (most > 3) {
        if (runs == 3) return add_runs<3, run>(sum, values, columns, p, load);
    }
    if constexpr (most > 4) {
        switch (runs) {
            case 4: return add_runs<4, run>(sum, values, columns, p, load);
            case 5: return add_runs<5, run>(sum, values, columns, p, load);
            case 6: return add_runs<6, run>(sum, values, columns, p, load);
            case 7: return add_runs<7, run>(sum, values, columns, p, load);
            default: break;
        }
    }
    return sum;
}

/// From thread 0 to all threads of the block.
struct Signal {
    double alpha;
    double beta;
    bool goes_on;   // the state is `running`, and no wait has failed
    bool iterates;  // another iteration follows in this launch
};

/// Shared memory of a block beside that of its part.
struct BlockMemory {
    double of_warps[sums_of_wait][32];
    double of_ranks[most_persistent_ranks][sums_of_wait];
    Signal signal;
    bool failed;
    alignas(16) unsigned char scalars[sizeof(Scalars)];
};

/// A thread's share of the work on the part of its block. All threads of the block call each function.
template <typename Value, typename Stored, int run, int warps>
class Work {
protected:
    static constexpr int threads = 32 * warps;

    __device__ __forceinline__ Work(const PersistentArguments<Value, Stored>& arguments, unsigned char* memory,
                                    BlockMemory& block)
        : a_(arguments),
          own_(arguments.memory[arguments.rank]),
          block_(block),
          part_(arguments.parts[blockIdx.x]),
          thread_(static_cast<Index>(threadIdx.x)),
          tag_(arguments.first_tag),
          inverse_diagonal_(own_.inverse_diagonal == nullptr ? nullptr : own_.inverse_diagonal + part_.first_row) {
        const SharedPlaces places = shared_places<Value, Stored, run>(part_);
        p_ = reinterpret_cast<Value*>(memory);
        halo_ = part_.keeps_halo ? reinterpret_cast<const Index*>(memory + places.halo) : a_.halo + part_.first_halo;
        slices_ = reinterpret_cast<Slice*>(memory + places.slices);
        resident_values_ = reinterpret_cast<Stored*>(memory + places.values);
        resident_columns_ = reinterpret_cast<std::uint16_t*>(memory + places.columns);
    }

    /// Fills the shared memory of p and of the matrix.
    __device__ __forceinline__ void load() {
        const Value* direction = a_.direction;
        for (Index i = thread_; i < part_.rows; i += threads) p_[i] = direction[part_.first_row + i];
        const Index* const listed = a_.halo + part_.first_halo;
        for (Index i = thread_; i < part_.halo; i += threads) {
            if (part_.keeps_halo) const_cast<Index*>(halo_)[i] = listed[i];
            p_[part_.rows + i] = direction[listed[i]];
        }
        const Offset first_run = part_.first_entry / run;
        for (Index i = thread_; i < part_.resident; i += threads) resident_values_[i] = a_.values[part_.first_entry + i];
        for (Index i = thread_; i < part_.resident / run; i += threads) resident_columns_[i] = a_.columns[first_run + i];
        for (Index i = thread_; i < part_.slices(); i += threads) slices_[i] = a_.slices[part_.first_slice + i];
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(stays_in_l2_));
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(passes_through_l2_));
        if (thread_ == 0) block_.failed = false;
        __syncthreads();
    }

    /// Calls keep(k, i, of_row) with the product of each row i = thread + k * threads and p.
    template <typename Keep>
    __device__ __forceinline__ void multiply(const Keep& keep) {
        const Stored* values = a_.values + part_.first_entry + lane();
        const std::uint16_t* columns = a_.columns + part_.first_entry / run + lane();
        Index k = 0;
        for (Index s = warp(); s < part_.slices(); s += warps, ++k) {
            const Slice slice = slices_[s];
            const Index first = slice.first;
            const Index first_run = slice.first / run;
            const FromGlobal from_global{first < part_.resident + a_.kept ? stays_in_l2_ : passes_through_l2_};
            const Value of_row = first < part_.resident
                                     ? multiply_row<run>(resident_values_ + first + lane(),
                                                         resident_columns_ + first_run + lane(), slice.runs, p_, FromShared())
                                     : multiply_row<run>(values + first, columns + first_run, slice.runs, p_, from_global);
            keep(k, s * rows_per_slice + lane(), of_row);
        }
    }

    /// Sends the sums of this block to all blocks. Contains a barrier.
    template <int count>
    __device__ __forceinline__ void send_sums(const double (&sums)[count]) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const double of_warp = sum_over_lanes(sums[i]);
            if (lane() == 0) block_.of_warps[i][warp()] = of_warp;
        }
        __syncthreads();
        if (warp() >= count) return;
        const double of_block = sum_over_lanes(lane() < warps ? block_.of_warps[warp()][lane()] : 0.0);
        if (lane() < a_.ranks) store_packet(sums_at(a_.memory[lane()], a_.rank, warp()) + blockIdx.x, of_block, tag_);
    }

    /// Waits for the sums of all blocks, which are then in block_.of_ranks after the next barrier.
    template <int count>
    __device__ __forceinline__ void wait_for_sums() {
        for (int i = warp(); i < count * a_.ranks; i += warps) {
            const int rank = i / count;
            double sum = 0;
            const bool came = wait_for_sum(sums_at(own_, rank, i % count), a_.memory[rank].blocks, tag_, patience(), sum);
            if (lane() == 0) block_.of_ranks[rank][i % count] = sum;
            if (!came) block_.failed = true;
        }
    }

    /// For thread 0, after a wait: sum `i` over all blocks.
    [[nodiscard]] __device__ __forceinline__ double sum_of(int i) const {
        double sum = block_.of_ranks[0][i];
        for (int rank = 1; rank < a_.ranks; ++rank) sum += block_.of_ranks[rank][i];
        return sum;
    }

    /// Ends a wait: `finish` computes the scalars in thread 0. Returns false if the solve ends here. Contains barriers.
    template <typename Finish>
    __device__ __forceinline__ bool finish_wait(const Finish& finish) {
        __syncthreads();
        if (thread_ == 0) {
            if (!block_.failed) finish(scalars());
            const Scalars& s = scalars();
            block_.signal = {s.alpha, s.beta, !block_.failed && s.state == KrylovState::running,
                             !block_.failed && !a_.begins && s.goes_on()};
        }
        ++tag_;
        __syncthreads();
        return block_.signal.goes_on;
    }

    /// Waits for an exported element.
    [[nodiscard]] __device__ __forceinline__ double wait_for(const Packet* at, Packet found, unsigned long long tag) {
        Patience limit = patience();
        while (found.tag != tag) {
            found = load_packet(at);
            if (!limit.is_over()) continue;
            limit.give_up();
            block_.failed = true;
            break;
        }
        return found.value;
    }

    /// Gives an element of the part to the blocks that read it. exports: those of the part.
    __device__ __forceinline__ void give(Packet* exports, Index i, double value) {
        if (i >= part_.exported) return;
        store_packet(exports + i, value, tag_);
        if (i >= part_.sent) return;
        for (Index at = first_target(i); at < first_target(i + 1); ++at) {
            const Target target = a_.targets[at];
            store_packet(exports_of(a_.memory[target.rank]) + target.place, value, tag_);
        }
    }

    /// Waits for the elements of the halo of the vector that is multiplied, which their owners give with the current tag.
    __device__ __forceinline__ void receive_halo() {
        Value* const halo = p_ + part_.rows;
        const Packet* const exports = exports_of(own_);
        for_rows(
            thread_, part_.halo, threads, [&](Index i) { return load_packet(exports + halo_[i]); },
            [&](Index i, const Packet& found) { halo[i] = static_cast<Value>(wait_for(exports + halo_[i], found, tag_)); });
    }

    [[nodiscard]] __device__ __forceinline__ Index first_target(Index i) const {
        return a_.first_targets[part_.first_sent + i];
    }

    [[nodiscard]] __device__ __forceinline__ Packet* exports_of(const PeerMemory<Value>& memory) const {
        return exports_of(memory, tag_);
    }
    [[nodiscard]] __device__ __forceinline__ Packet* exports_of(const PeerMemory<Value>& memory, unsigned long long tag) const {
        return memory.exports + (tag % 2 == 0 ? 0 : memory.places);
    }

    [[nodiscard]] __device__ __forceinline__ bool iterates() const { return block_.signal.iterates; }
    [[nodiscard]] __device__ __forceinline__ int lane() const { return thread_ % 32; }
    [[nodiscard]] __device__ __forceinline__ int warp() const { return thread_ / 32; }
    [[nodiscard]] __device__ __forceinline__ bool preconditioned() const { return inverse_diagonal_ != nullptr; }
    /// For thread 0.
    [[nodiscard]] __device__ __forceinline__ Scalars& scalars() const { return *reinterpret_cast<Scalars*>(block_.scalars); }

    const PersistentArguments<Value, Stored>& a_;
    const PeerMemory<Value>& own_;
    BlockMemory& block_;
    Part part_;
    Index thread_;
    unsigned long long tag_;
    unsigned long long stays_in_l2_ = 0;
    unsigned long long passes_through_l2_ = 0;
    const Value* inverse_diagonal_;
    // In shared memory.
    Value* p_ = nullptr;  // rows, then halo
    const Index* halo_ = nullptr;
    Slice* slices_ = nullptr;
    Stored* resident_values_ = nullptr;
    std::uint16_t* resident_columns_ = nullptr;

private:
    [[nodiscard]] __device__ __forceinline__ Patience patience() const { return {a_.failed, a_.patience}; }

    [[nodiscard]] __device__ __forceinline__ Packet* sums_at(const PeerMemory<Value>& memory, int rank, int sum) const {
        const int wait = static_cast<int>(tag_ % 2);
        return memory.sums + ((wait * most_persistent_ranks + rank) * sums_of_wait + sum) * most_persistent_blocks;
    }
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
    }
    __syncthreads();
    return block.signal.iterates;
}

}  // namespace persistent
}  // namespace workbench::krylov
