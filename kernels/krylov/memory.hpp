// The vectors of a solve, in device memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/contract/device.hpp"
#include "kernels/krylov/steps.hpp"

namespace workbench::krylov {

/// What make_krylov says of empty vectors.
template <ValueType Value>
[[nodiscard]] Index size_of(const KrylovPlan& plan, std::span<const Value> b) {
    return b.empty() ? plan.size : static_cast<Index>(b.size());
}
template <ValueType Value>
[[nodiscard]] bool is_preconditioned(const KrylovPlan& plan, std::span<const Value> inverse_diagonal) {
    return plan.preconditioned || !inverse_diagonal.empty();
}
template <ValueType Value>
[[nodiscard]] DeviceMemory given_or_zero(Device& device, std::span<const Value> given, Index size, std::string_view purpose) {
    if (!given.empty()) return to_device(device, given, purpose);
    DeviceMemory memory = device.allocate(static_cast<std::size_t>(size) * sizeof(Value), purpose);
    device.zero(memory.address(), memory.bytes());
    return memory;
}

template <ValueType Value>
class Memory {
public:
    /// b and inverse_diagonal: see make_krylov. x is zeroed.
    Memory(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal, Device& device)
        : Memory(plan, device, b, inverse_diagonal) {
        if (plan.method == KrylovMethod::cg) {
            if (plan.precondition) ms_ = allocate();
            return;
        }
        for (DeviceMemory* vector : {&shadow_, &t_}) *vector = allocate();
        if (!preconditioned_ && !plan.precondition) return;
        for (DeviceMemory* vector : {&mp_, &ms_}) *vector = allocate();
    }

    /// Adds the vectors that conjugate gradients across ranks need.
    [[nodiscard]] static Memory across_ranks(std::span<const Value> b, std::span<const Value> inverse_diagonal,
                                             Device& device) {
        Memory memory({}, device, b, inverse_diagonal);
        memory.t_ = memory.allocate();
        if (memory.preconditioned_) memory.ms_ = memory.allocate();
        return memory;
    }

    /// Sets x = 0 and A x = 0.
    void begin_with_zero() {
        device_.zero(x_.address(), x_.bytes());
        device_.zero(q_.address(), q_.bytes());
    }

    [[nodiscard]] Vectors<Value> vectors() const {
        Vectors<Value> v;
        v.size = size_;
        v.b = b_.as<const Value>();
        v.inverse_diagonal = preconditioned_ ? inverse_diagonal_.as<const Value>() : nullptr;
        v.x = x_.as<Value>();
        v.r = r_.as<Value>();
        v.p = p_.as<Value>();
        v.q = q_.as<Value>();
        v.shadow = shadow_.as<Value>();
        v.t = t_.as<Value>();
        v.mp = mp_.bytes() > 0 ? mp_.as<Value>() : v.p;
        v.ms = ms_.bytes() > 0 ? ms_.as<Value>() : v.r;
        return v;
    }

    [[nodiscard]] Index size() const { return size_; }
    [[nodiscard]] Value* right_hand_side() const { return b_.as<Value>(); }
    [[nodiscard]] Value* inverse_diagonal() const { return preconditioned_ ? inverse_diagonal_.as<Value>() : nullptr; }

    /// Bytes that one iteration moves in addition to its products.
    [[nodiscard]] std::int64_t vector_bytes(KrylovMethod method) const {
        return vectors_moved(method, preconditioned_) * size_ * static_cast<std::int64_t>(sizeof(Value));
    }

    [[nodiscard]] std::vector<Value> x() {
        std::vector<Value> x(static_cast<std::size_t>(size_));
        device_.download(x_, std::as_writable_bytes(std::span(x)));
        return x;
    }

    /// Moves element i of each vector to target[i]. Vectors that live within one iteration are skipped.
    void reorder(const Index* target) {
        if (moved_.bytes() == 0) moved_ = allocate();
        for (DeviceMemory* vector : {&b_, &inverse_diagonal_, &x_, &r_, &p_, &shadow_, &mp_}) {
            if (vector->bytes() == 0) continue;
            device_.scatter(vector->as<const Value>(), target, size_, moved_.as<Value>());
            std::swap(*vector, moved_);
        }
    }

private:
    /// Allocates the vectors that all methods use.
    Memory(const KrylovPlan& plan, Device& device, std::span<const Value> b, std::span<const Value> inverse_diagonal)
        : device_(device),
          size_(size_of(plan, b)),
          preconditioned_(is_preconditioned(plan, inverse_diagonal)),
          b_(given_or_zero(device, b, size_, "the right-hand side")),
          inverse_diagonal_(given_or_zero(device, inverse_diagonal, preconditioned_ ? size_ : 0, "the diagonal")) {
        for (DeviceMemory* vector : {&x_, &r_, &p_, &q_}) *vector = allocate();
        begin_with_zero();
    }

    [[nodiscard]] DeviceMemory allocate() {
        return device_.allocate(static_cast<std::size_t>(size_) * sizeof(Value), "a vector of the solve");
    }

    Device& device_;
    Index size_ = 0;
    bool preconditioned_ = false;
    DeviceMemory b_, inverse_diagonal_, x_, r_, p_, q_, shadow_, t_, mp_, ms_, moved_;
};

/// The initial scalars of a solve.
inline Scalars first_scalars(const KrylovPlan& plan, double* history) {
    Scalars scalars;
    scalars.stop_below = plan.stop_below * plan.stop_below;
    scalars.history = history;
    return scalars;
}

/// Sets the residual at which a solve has converged, relative to that of its beginning, |r|_2, which it returns. A solve that
/// began with r = 0 has converged.
inline double stop_below(Scalars& scalars, double tolerance) {
    scalars.stop_below = tolerance * tolerance * scalars.residual;
    return std::sqrt(scalars.residual);
}

inline KrylovProgress progress_of(const Scalars& scalars) {
    return {scalars.state, scalars.iterations, std::sqrt(scalars.residual), scalars.divisor};
}

/// Converts a history of r.r to norms |r|_2.
inline std::vector<double> norms_of(std::vector<double> squares) {
    for (double& square : squares) square = std::sqrt(square);
    return squares;
}

}  // namespace workbench::krylov
