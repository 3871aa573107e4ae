// BiCGStab in one kernel that stays on the GPU for all iterations of a launch, on the parts of persistent_cg.cuh. The steps are
// those of steps.hpp, each for the rows of a part. r and q are in shared memory if there is room, and so is the vector that is
// multiplied, with its halo; the others are in global memory.
//
// An iteration waits for all blocks three times: for shadow.q, for t.t and t.s, and for r.r and shadow.r, each with packets of
// its own, so that none is overwritten before all blocks have read it. The elements of M s and M p that other blocks read share
// one array of packets: a block writes those of M p only after the third wait, which every block answers after it has read
// those of M s, and those of M s after the first wait, which every block answers after it has read those of M p.
#pragma once

#include "kernels/krylov/persistent_cg.cuh"

namespace workbench::krylov {
namespace persistent {

template <typename Value, typename Stored>
class StabWork : public Work<Value, Stored> {
public:
    __device__ __forceinline__ StabWork(const PersistentArguments<Value, Stored>& arguments, unsigned char* memory,
                                        BlockMemory& block)
        : Work<Value, Stored>(arguments, memory, block) {}

    /// Call it after load().
    __device__ __forceinline__ void take_vectors() {
        const Index first = this->part_.first_row;
        v_.size = this->part_.rows;
        v_.b = this->a_.b + first;
        v_.inverse_diagonal = this->inverse_diagonal_;
        v_.x = this->a_.x + first;
        v_.r = this->r_;
        v_.p = this->a_.p + first;
        v_.q = this->q_;
        v_.shadow = this->a_.shadow + first;
        v_.t = this->a_.t + first;
        v_.mp = this->a_.mp + first;
        v_.ms = this->a_.ms == nullptr ? this->r_ : this->a_.ms + first;
    }

    /// r = shadow = p = b - A x.
    __device__ __forceinline__ void begin() {
        multiply(v_.q);
        (void)run(Residual());
        (void)finish(StabBegin(), run(StabBegin()), 0);
    }

    /// Returns true if another iteration follows in this launch.
    __device__ __forceinline__ bool iterate() {
        multiply(v_.q);
        if (!finish(StabLength(), run(StabLength()), 0)) return false;
        (void)run(StabHalf());
        exchange(v_.ms);
        multiply(v_.t);
        if (!finish(StabOmega(), run(StabOmega()), 1)) return false;
        if (!finish(StabUpdate(), run(StabUpdate()), 3)) return false;
        (void)run(StabDirection());
        if (!this->iterates()) return false;
        exchange(v_.mp);
        return true;
    }

    /// Writes what the next launch needs and is not in global memory yet.
    __device__ __forceinline__ void store() {
        if (this->block_.signal.failed) return;
        if (this->part_.vectors > 0) {
            for (Index i = this->thread_; i < this->part_.rows; i += persistent_threads) {
                this->a_.r[this->part_.first_row + i] = this->r_[i];
            }
        }
        if (blockIdx.x == 0 && this->thread_ == 0) *this->a_.scalars = this->scalars();
    }

private:
    __device__ __forceinline__ void multiply(Value* result) {
        (void)this->multiply_into(result);
        __syncthreads();  // other threads read the rows
    }

    /// A step for all rows. Returns the thread's share of its sums.
    template <typename Step>
    __device__ __forceinline__ Sums run(Step) {
        Sums sums;
        const Scalars& scalars = this->scalars();
        for_rows(
            this->thread_, this->part_.rows, persistent_threads, [&](Index i) { return Step::read(v_, i); },
            [&](Index i, const Element<Value>& element) { Step::write(v_, scalars, i, element, sums); });
        return sums;
    }

    /// Adds the sums of all blocks and finishes the step. place: of the first of two sums among the packets. Returns false if
    /// the solve ends here.
    template <typename Step>
    __device__ __forceinline__ bool finish(Step, const Sums& sums, int place) {
        double first = sum_over_block(sums.first, this->block_.of_warps[0]);
        double second = sum_over_block(sums.second, this->block_.of_warps[1]);
        if (this->warp() == 0) {
            Packet* const firsts = this->a_.packets + place * most_persistent_blocks;
            Packet* const seconds = firsts + most_persistent_blocks;
            const bool two = place > 0;
            if (this->lane() == 0) {
                store_packet(firsts + blockIdx.x, first, this->tag_);
                if (two) store_packet(seconds + blockIdx.x, second, this->tag_);
            }
            bool came = wait_for_packets(firsts, this->tag_, this->a_.failed, this->a_.patience, first);
            if (came && two) came = wait_for_packets(seconds, this->tag_, this->a_.failed, this->a_.patience, second);
            if (this->lane() == 0) {
                if (came) Step::finish(this->scalars(), {first, second});
                this->block_.signal.goes_on = came && this->scalars().state == KrylovState::running;
                this->block_.signal.iterates = came && !this->a_.begins && this->scalars().goes_on();
                this->block_.signal.failed = !came;
            }
        }
        ++this->tag_;
        __syncthreads();
        return this->block_.signal.goes_on;
    }

    /// Gives a vector's elements to the blocks that read them, and takes it as the vector that is multiplied, with its halo.
    __device__ __forceinline__ void exchange(const Value* vector) {
        for (Index i = this->thread_; i < this->part_.exported; i += persistent_threads) {
            store_packet(this->a_.exports + this->part_.first_row + i, vector[i], this->tag_);
        }
        for (Index i = this->thread_; i < this->part_.rows; i += persistent_threads) this->p_[i] = vector[i];
        Value* const halo = this->p_ + this->part_.rows;
        for_rows(
            this->thread_, this->part_.halo, persistent_threads,
            [&](Index i) { return load_packet(this->a_.exports + this->halo_[i]); },
            [&](Index i, Packet found) {
                // A block that gave up a wait writes no more packets.
                constexpr unsigned rounds_between_looks = 1024;
                for (unsigned round = 1; found.tag != this->tag_; ++round) {
                    found = load_packet(this->a_.exports + this->halo_[i]);
                    if (round % rounds_between_looks != 0) continue;
                    if (*const_cast<volatile unsigned*>(this->a_.failed) != 0) break;
                }
                halo[i] = static_cast<Value>(found.value);
            });
        ++this->tag_;
        __syncthreads();
    }

    Vectors<Value> v_;  // of the part
};

}  // namespace persistent

/// The grid must be resident at once.
template <typename Value, typename Stored>
__global__ void __launch_bounds__(persistent_threads, 1)
    persistent_bicgstab(const __grid_constant__ PersistentArguments<Value, Stored> a) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ persistent::BlockMemory block;
    if (!persistent::has_work(a, block)) return;
    persistent::StabWork<Value, Stored> work(a, memory, block);
    work.load();
    work.take_vectors();
    if (a.begins) {
        work.begin();
    } else {
        while (work.iterate()) {
        }
    }
    work.store();
}

}  // namespace workbench::krylov
