// BiCGStab in one kernel that stays on the GPU for all iterations of a launch, on one GPU (persistent_block.cuh). The steps are
// those of steps.hpp, each for the rows of a part. r and q are in shared memory if there is room, and so is the vector that is
// multiplied, with its halo; the others are in global memory.
//
// An iteration waits for all blocks three times: for shadow.q, for t.t and t.s, and for r.r and shadow.r. The elements of M s
// and M p that other blocks read are sent before a wait, with its tag.
#pragma once

#include "kernels/krylov/persistent_block.cuh"

namespace workbench::krylov {
namespace persistent {

template <typename Value, typename Stored, int warps>
class StabWork : public Work<Value, Stored, 1, warps> {
    using Base = Work<Value, Stored, 1, warps>;
    static constexpr int threads = Base::threads;

public:
    __device__ __forceinline__ StabWork(const PersistentArguments<Value, Stored>& arguments, unsigned char* memory,
                                        BlockMemory& block)
        : Base(arguments, memory, block) {
        const SharedPlaces places = shared_places<Value, Stored>(this->part_);
        const auto in_shared = [&](std::size_t place) { return reinterpret_cast<Value*>(memory + place); };
        const Index first = this->part_.first_row;
        const Index vectors = this->part_.vectors;
        v_.size = this->part_.rows;
        v_.b = this->a_.b + first;
        v_.inverse_diagonal =
            vectors > 2 && this->preconditioned() ? in_shared(places.inverse_diagonal) : this->inverse_diagonal_;
        v_.x = this->own_.x + first;
        v_.r = vectors > 0 ? in_shared(places.r) : this->own_.r + first;
        v_.p = this->own_.p + first;
        v_.q = vectors > 1 ? in_shared(places.q) : this->a_.q + first;
        v_.shadow = this->a_.shadow + first;
        v_.t = this->a_.t + first;
        v_.mp = this->a_.mp + first;
        v_.ms = this->a_.ms == nullptr ? v_.r : this->a_.ms + first;
    }

    /// Fills shared memory.
    __device__ __forceinline__ void load() {
        for (Index i = this->thread_; i < this->part_.rows; i += threads) {
            if (this->part_.vectors > 0) v_.r[i] = this->own_.r[this->part_.first_row + i];
            if (this->part_.vectors > 2 && this->preconditioned()) {
                const_cast<Value*>(v_.inverse_diagonal)[i] = this->inverse_diagonal_[i];
            }
        }
        Base::load();
    }

    /// r = shadow = p = b - A x.
    __device__ __forceinline__ void begin() {
        multiply_into(v_.q);
        if (this->a_.product != nullptr) {
            const Value* product = this->a_.product + this->part_.first_row;
            for (Index i = this->thread_; i < this->part_.rows; i += threads) v_.q[i] = product[i];
        }
        (void)step(Residual());
        (void)finish(StabBegin(), step(StabBegin()));
    }

    /// Returns true if another iteration follows in this launch.
    __device__ __forceinline__ bool iterate() {
        multiply_into(v_.q);
        if (!finish(StabLength(), step(StabLength()))) return false;
        (void)step(StabHalf());
        exchange(v_.ms);
        multiply_into(v_.t);
        if (!finish(StabOmega(), step(StabOmega()))) return false;
        if (!finish(StabUpdate(), step(StabUpdate()))) return false;
        (void)step(StabDirection());
        if (!this->iterates()) return false;
        exchange(v_.mp);
        return true;
    }

    /// Writes what the next launch needs and is not in global memory yet.
    __device__ __forceinline__ void store() {
        if (this->block_.failed) return;
        if (this->part_.vectors > 0) {
            for (Index i = this->thread_; i < this->part_.rows; i += threads) {
                this->own_.r[this->part_.first_row + i] = v_.r[i];
            }
        }
        if (blockIdx.x == 0 && this->thread_ == 0) *this->a_.scalars = this->scalars();
    }

private:
    __device__ __forceinline__ void multiply_into(Value* result) {
        this->multiply([&](Index, Index i, Value of_row) { result[i] = of_row; });
        __syncthreads();  // other threads read the rows
    }

    /// A step for all rows. Returns the thread's share of its sums.
    template <typename Step>
    __device__ __forceinline__ Sums step(Step) {
        Sums sums;
        const Scalars& scalars = this->scalars();
        for_rows(
            this->thread_, this->part_.rows, threads, [&](Index i) { return Step::read(v_, i); },
            [&](Index i, const Element<Value>& element) { Step::write(v_, scalars, i, element, sums); });
        return sums;
    }

    /// Adds the sums of all blocks and finishes the step. Returns false if the solve ends here.
    template <typename Step>
    __device__ __forceinline__ bool finish(Step, const Sums& of_thread) {
        const double sums[] = {of_thread.first, of_thread.second};
        this->send_sums(sums);
        this->template wait_for_sums<2>();
        return this->finish_wait([&](Scalars& s) { Step::finish(s, {this->sum_of(0), this->sum_of(1)}); });
    }

    /// Gives a vector's elements to the blocks that read them, and takes it as the vector that is multiplied, with its halo.
    __device__ __forceinline__ void exchange(const Value* vector) {
        Packet* const own_exports = this->exports_of(this->own_) + this->part_.first_row;
        for (Index i = this->thread_; i < this->part_.rows; i += threads) {
            this->give(own_exports, i, vector[i]);
            this->p_[i] = vector[i];
        }
        this->receive_halo();
        __syncthreads();
    }

    Vectors<Value> v_;  // of the part
};

}  // namespace persistent

/// The grid must be resident at once.
template <typename Value, typename Stored, int warps>
__global__ void __launch_bounds__(32 * warps, 1)
    persistent_bicgstab(const __grid_constant__ PersistentArguments<Value, Stored> a) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ persistent::BlockMemory block;
    if (!persistent::has_work(a, block)) return;
    persistent::StabWork<Value, Stored, warps> work(a, memory, block);
    work.load();
    if (a.begins) {
        work.begin();
    } else {
        while (work.iterate()) {
        }
    }
    work.store();
}

}  // namespace workbench::krylov
