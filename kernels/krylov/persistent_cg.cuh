// Conjugate gradients in one kernel that stays on the GPU for all iterations of a launch (persistent_block.cuh), with one wait
// an iteration. Source: Meurant, "Multitasking the conjugate gradient method on the CRAY X-MP/48" (1987): r.Mr of the next
// iteration is predicted from p.Ap and Ap.MAp, which are known together, and computed in the next iteration for what follows
// (CgStep in steps.hpp).
//
// A block gets p in its halo in one of two ways (Part::halo_has_r). It keeps r there, too, gets the elements of q = A p, which
// are sent with the sums of an iteration, and computes p in the same way as the owners. Or it gets the elements of p, which
// their owners send as soon as they have the sums: that is a second wait, but for those elements alone, and the halo takes half
// the memory.
//
// A thread keeps the elements of r and q of its first rows in registers, because shared memory has little room beside the
// matrix.
#pragma once

#include "kernels/krylov/persistent_block.cuh"

namespace workbench::krylov {
namespace persistent {

/// z + beta p, rounded in one way wherever it is computed.
template <typename Value>
__device__ __forceinline__ Value next_direction(Value z, double beta, Value p) {
    return static_cast<Value>(fma(beta, static_cast<double>(p), static_cast<double>(z)));
}

/// r - alpha q, likewise.
template <typename Value>
__device__ __forceinline__ Value next_residual(Value r, double alpha, double q) {
    return static_cast<Value>(fma(-alpha, q, static_cast<double>(r)));
}

template <typename Value, typename Stored, int run, BlockShape shape>
class CgWork : public Work<Value, Stored, run, shape.warps> {
    using Base = Work<Value, Stored, run, shape.warps>;

public:
    __device__ __forceinline__ CgWork(const PersistentArguments<Value, Stored>& arguments, unsigned char* memory,
                                      BlockMemory& block)
        : Base(arguments, memory, block) {
        const SharedPlaces places = shared_places<Value, Stored, run>(part_);
        const auto in_shared = [&](std::size_t place) { return reinterpret_cast<Value*>(memory + place); };
        const Index in_memory = part_.rows - part_.in_registers;
        r_ = part_.vectors > 0 ? in_shared(places.r) : own_.r + part_.first_row + part_.in_registers;
        r_of_halo_ = part_.vectors > 0 ? r_ + in_memory : a_.r_of_halo + part_.first_halo;
        q_ = part_.vectors > 1 ? in_shared(places.q) : a_.q + part_.first_row + part_.in_registers;
        diagonal_ = part_.vectors > 2 ? in_shared(places.inverse_diagonal) : nullptr;
    }

    /// Fills registers and shared memory.
    __device__ __forceinline__ void load() {
        this->load_inverse_diagonal();
        Base::load();
        const Value* r = own_.r + part_.first_row;
#pragma unroll
        for (int k = 0; k < rows_in_registers; ++k) r_in_registers_[k] = has(k) ? r[row(k)] : Value{0};
        if (part_.vectors > 0) {
            for_memory_rows([&](Index i) { r_[i - part_.in_registers] = r[i]; });
        }
        for (Index i = thread_; i < part_.halo_of_r(); i += threads) r_of_halo_[i] = own_.r[halo_[i]];
        // In the order of update().
        residuals_ = {};
        for_register_rows([&](int k, Index i) { add_residual(r_in_registers_[k], i); });
        for_memory_rows([&](Index i) { add_residual(r[i], i); });
    }

    /// r = b - A x and p = M r.
    __device__ __forceinline__ void begin() {
        multiply_p();
        __syncthreads();  // other threads have read p
        residuals_ = {};
        const Value* b = a_.b + part_.first_row;
        const Value* product = a_.product == nullptr ? nullptr : a_.product + part_.first_row;
        const auto subtract = [&](Value& r, Value q, Index i) {
            r = b[i] - (product == nullptr ? q : product[i]);
            p_[i] = inverse_diagonal(i) * r;
            add_residual(r, i);
        };
        for_register_rows([&](int k, Index i) { subtract(r_in_registers_[k], q_in_registers_[k], i); });
        for_memory_rows([&](Index i) { subtract(r_[i - part_.in_registers], q_[i - part_.in_registers], i); });
        (void)add_up_residual();
    }

    /// Returns true if another iteration follows in this launch.
    __device__ __forceinline__ bool iterate() {
        multiply_p();
        const double sums[] = {residuals_.first, residuals_.second, length_, image_};
        this->send_sums(sums);
        Value x[rows_in_registers];
        Value* const x_of_part = own_.x + part_.first_row;
#pragma unroll
        for (int k = 0; k < rows_in_registers; ++k) x[k] = has(k) ? x_of_part[row(k)] : Value{0};
        const Packet* const images = this->exports_of(own_);
        Packet q_of_halo[halo_in_registers];
#pragma unroll
        for (int k = 0; k < halo_in_registers; ++k) {
            if (row(k) < part_.halo_of_r()) q_of_halo[k] = load_packet(images + halo_[row(k)]);
        }
        this->template wait_for_sums<4>();
#pragma unroll
        for (int k = 0; k < halo_in_registers; ++k) {
            if (row(k) < part_.halo_of_r()) q_of_halo[k].value = this->wait_for(images + halo_[row(k)], q_of_halo[k], tag_);
        }
        const bool goes_on = this->finish_wait([&](Scalars& s) {
            CgStep::finish(s, {this->sum_of(0), this->sum_of(1), this->sum_of(2), this->sum_of(3)});
        });
        if (!goes_on) return false;
        const double alpha = block_.signal.alpha;
        const double beta = block_.signal.beta;
        residuals_ = {};
        Packet* const directions = this->exports_of(own_) + part_.first_row;
        const bool sends_p = !part_.halo_has_r && this->iterates();
        const auto update = [&](Value& r, Value q, Index i) {
            r = next_residual(r, alpha, q);
            p_[i] = next_direction(inverse_diagonal(i) * r, beta, p_[i]);
            if (sends_p) this->give(directions, i, p_[i]);
            add_residual(r, i);
        };
        for_register_rows([&](int k, Index i) {
            x_of_part[i] = static_cast<Value>(x[k] + alpha * p_[i]);
            update(r_in_registers_[k], q_in_registers_[k], i);
        });
        for_rows(
            row(rows_in_registers), part_.rows, threads,
            [&](Index i) {
                return MemoryRow{x_of_part[i], r_[i - part_.in_registers], q_[i - part_.in_registers]};
            },
            [&](Index i, MemoryRow read) {
                x_of_part[i] = static_cast<Value>(read.x + alpha * p_[i]);
                update(read.r, read.q, i);
                r_[i - part_.in_registers] = read.r;
            });
        if (!this->iterates()) {
            (void)add_up_residual();
            return false;
        }
        if (part_.halo_has_r) {
            compute_halo(q_of_halo, alpha, beta);
        } else {
            this->receive_halo();
        }
        __syncthreads();
        return true;
    }

    /// Writes what the next launch needs.
    __device__ __forceinline__ void store() {
        if (block_.failed) return;
        const auto store_row = [&](Index i, Value r) {
            own_.p[part_.first_row + i] = p_[i];
            own_.r[part_.first_row + i] = r;
            if (i >= part_.sent) return;
            for (Index at = this->first_target(i); at < this->first_target(i + 1); ++at) {
                const Target target = a_.targets[at];
                const PeerMemory<Value>& peer = a_.memory[target.rank];
                peer.p[target.place] = p_[i];
                peer.r[target.place] = r;
                peer.x[target.place] = own_.x[part_.first_row + i];
                if (this->preconditioned()) peer.inverse_diagonal[target.place] = inverse_diagonal(i);
            }
        };
        for_register_rows([&](int k, Index i) { store_row(i, r_in_registers_[k]); });
        for_memory_rows([&](Index i) { store_row(i, r_[i - part_.in_registers]); });
        if (blockIdx.x == 0 && thread_ == 0) *a_.scalars = this->scalars();
    }

private:
    using Base::a_;
    using Base::block_;
    using Base::halo_;
    using Base::own_;
    using Base::p_;
    using Base::part_;
    using Base::tag_;
    using Base::thread_;
    using Base::threads;

    static constexpr int rows_in_registers = shape.rows_of_thread;
    static constexpr int halo_in_registers = 2;  // elements of q that a thread keeps while it waits for alpha

    struct MemoryRow {
        Value x, r, q;
    };

    [[nodiscard]] __device__ __forceinline__ Index row(int k) const { return thread_ + k * threads; }
    [[nodiscard]] __device__ __forceinline__ bool has(int k) const { return row(k) < part_.in_registers; }

    template <typename Body>
    __device__ __forceinline__ void for_register_rows(const Body& body) {
#pragma unroll
        for (int k = 0; k < rows_in_registers; ++k) {
            if (has(k)) body(k, row(k));
        }
    }

    template <typename Body>
    __device__ __forceinline__ void for_memory_rows(const Body& body) {
        for (Index i = row(rows_in_registers); i < part_.rows; i += threads) body(i);
    }

    __device__ __forceinline__ void load_inverse_diagonal() {
        if (!this->preconditioned() || diagonal_ == nullptr) return;
        for (Index i = thread_; i < part_.rows; i += threads) diagonal_[i] = this->inverse_diagonal_[i];
        for (Index i = thread_; i < part_.halo_of_r(); i += threads) {
            diagonal_[part_.rows + i] = own_.inverse_diagonal[a_.halo[part_.first_halo + i]];
        }
        this->inverse_diagonal_ = diagonal_;
    }

    [[nodiscard]] __device__ __forceinline__ Value inverse_diagonal(Index i) const {
        return this->preconditioned() ? this->inverse_diagonal_[i] : Value{1};
    }
    [[nodiscard]] __device__ __forceinline__ Value inverse_diagonal_of_halo(Index i) const {
        if (!this->preconditioned()) return 1;
        return diagonal_ != nullptr ? diagonal_[part_.rows + i] : own_.inverse_diagonal[halo_[i]];
    }

    /// r and p in the halo. q: the first elements that the thread got before the sums.
    __device__ __forceinline__ void compute_halo(const Packet (&q)[halo_in_registers], double alpha, double beta) {
        Value* const p = p_ + part_.rows;
        const unsigned long long tag = tag_ - 1;  // of q
        const Packet* const images = this->exports_of(own_, tag);
        const auto compute = [&](Index i, double image) {
            r_of_halo_[i] = next_residual(r_of_halo_[i], alpha, image);
            p[i] = next_direction(inverse_diagonal_of_halo(i) * r_of_halo_[i], beta, p[i]);
        };
#pragma unroll
        for (int k = 0; k < halo_in_registers; ++k) {
            if (row(k) < part_.halo) compute(row(k), q[k].value);
        }
        for_rows(
            row(halo_in_registers), part_.halo, threads, [&](Index i) { return load_packet(images + halo_[i]); },
            [&](Index i, const Packet& found) { compute(i, this->wait_for(images + halo_[i], found, tag)); });
    }

    /// q = A p, which is sent to the blocks that keep r in their halo, and this thread's shares of p.q and q.Mq.
    __device__ __forceinline__ void multiply_p() {
        length_ = 0;
        image_ = 0;
        Packet* const exports = this->exports_of(own_) + part_.first_row;
        this->multiply([&](Index k, Index i, Value q) {
            keep(k, i, q);
            if (part_.halo_has_r) this->give(exports, i, q);
            length_ += product(p_[i], q);
            image_ += product(q, inverse_diagonal(i) * q);
        });
    }

    /// Stores the element of q of the thread's row `k`. The index of a register must be a constant, so all are compared.
    __device__ __forceinline__ void keep(Index k, Index i, Value q) {
#pragma unroll
        for (int known = 0; known < rows_in_registers; ++known) {
            if (k == known) q_in_registers_[known] = q;
        }
        if (k >= rows_in_registers) q_[i - part_.in_registers] = q;
    }

    __device__ __forceinline__ void add_residual(Value r, Index i) {
        residuals_.first += product(r, r);
        residuals_.second += product(r, inverse_diagonal(i) * r);
    }

    /// Finds r.r and r.Mr over all rows.
    __device__ __forceinline__ bool add_up_residual() {
        const double sums[] = {residuals_.first, residuals_.second};
        this->send_sums(sums);
        this->template wait_for_sums<2>();
        return this->finish_wait([&](Scalars& s) { CgStep::take_residual(s, this->sum_of(0), this->sum_of(1)); });
    }

    Sums residuals_;     // this thread's shares of r.r and r.Mr
    double length_ = 0;  // of p.q
    double image_ = 0;   // of q.Mq
    Value r_in_registers_[rows_in_registers];
    Value q_in_registers_[rows_in_registers];
    // In shared memory, or in global memory if there is no room. r_ and q_ have the rows that are not in registers.
    Value* r_;
    Value* r_of_halo_;
    Value* q_;
    Value* diagonal_ = nullptr;  // inverse, of rows and halo; null: in global memory
};

}  // namespace persistent

/// The grid must be resident at once. CUDA takes numbers as template parameters of kernels, not a BlockShape.
template <typename Value, typename Stored, int run, int warps, int rows_of_thread>
__global__ void __launch_bounds__(32 * warps, 1) persistent_cg(const __grid_constant__ PersistentArguments<Value, Stored> a) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ persistent::BlockMemory block;
    if (!persistent::has_work(a, block)) return;
    persistent::CgWork<Value, Stored, run, BlockShape{warps, rows_of_thread}> work(a, memory, block);
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
