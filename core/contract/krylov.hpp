// Krylov solvers for A x = b on a device, which show what a kernel is worth in an iterative solve.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/contract/precision.hpp"
#include "core/matrix/interface.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// Conjugate gradients (Hestenes, Stiefel 1952) for symmetric positive definite matrices, and BiCGStab (van der Vorst 1992) for
/// all others.
enum class KrylovMethod { cg, bicgstab };

[[nodiscard]] constexpr std::string_view name_of(KrylovMethod method) { return method == KrylovMethod::cg ? "cg" : "bicgstab"; }

/// The state of a solve. indefinite: p.Ap or r.Mr is not positive, so the matrix or its diagonal is not positive definite.
/// breakdown: a divisor is 0, or a scalar is not finite.
enum class KrylovState { running, converged, indefinite, breakdown };

struct KrylovProgress {
    KrylovState state = KrylovState::running;
    std::int64_t iterations = 0;
    double residual = 0;  // |r|_2 of the recurrence
    double divisor = 0;   // the scalar that ended the solve if the state is indefinite or breakdown
};

struct KrylovPlan {
    KrylovMethod method = KrylovMethod::cg;
    double stop_below = 0;             // |r|_2 at which it has converged
    std::int64_t most_iterations = 0;  // in total
    Index size = 0;                    // of the vectors, where no b is given
    bool preconditioned = false;       // by a diagonal, also where none is given
    /// The preconditioner of a solve on the host if it is a function: z = M r for r and z [size] of the solve's precision. Such
    /// a solve starts with begin_again.
    std::function<void(const void* r, void* z)> precondition = {};
};

/// y = A x for x and y [rows] on the device, in the order of the solver's vectors. Asynchronous.
template <ValueType Value>
using KrylovProduct = std::function<void(const Value* x, Value* y)>;

/// The operands of the product y = A x of an iteration, on the device.
template <ValueType Value>
struct KrylovOperands {
    const Value* x = nullptr;
    Value* y = nullptr;
};

/// One solve. Its vectors [size] are on the device and share one order; sums over them are in f64. Iterations do not wait for
/// the host: scalars and the convergence test stay on the device.
template <ValueType Value>
class Krylov : public Interface {
public:
    /// Sets the product for the following iterations. Objects that it refers to must outlive its last use.
    virtual void use(KrylovProduct<Value> product) = 0;

    /// b [size] on the device, which the caller may replace before begin_again.
    [[nodiscard]] virtual Value* right_hand_side() = 0;
    /// Starts a new solve from x = 0 for the current right-hand side. The solve has converged when |r|_2 <= tolerance * |b|_2.
    /// Waits for the device. Returns |b|_2.
    virtual double begin_again(double tolerance) = 0;
    /// x [size] on the device, which the caller may replace before restart.
    [[nodiscard]] virtual Value* solution() = 0;
    /// [size] on the device, which the caller may replace before begin_again; null: there is none.
    [[nodiscard]] virtual Value* inverse_diagonal() = 0;

    /// Restarts the method with r = b - A x for the current x (initially 0), also after a breakdown. The iteration count
    /// continues.
    virtual void restart() = 0;

    /// Launches up to `iterations` iterations, which end early if the state is no longer `running`. Asynchronous.
    virtual void launch(std::int64_t iterations) = 0;

    /// Waits for the launched iterations.
    [[nodiscard]] virtual KrylovProgress wait() = 0;

    [[nodiscard]] virtual std::vector<Value> x() = 0;

    /// |r|_2 before the first iteration and after each iteration.
    [[nodiscard]] virtual std::vector<double> history() = 0;

    /// The bytes of vectors that an iteration must move, beside its products: each vector once per step that reads or writes
    /// it.
    [[nodiscard]] virtual std::int64_t vector_bytes() const = 0;
};

/// A solve that calls its product in each iteration.
template <ValueType Value>
class KrylovByProducts : public Krylov<Value> {
public:
    /// For timing products within a solve (conjugate gradients only): with A x already in y of operands(), does the rest of the
    /// iteration and waits. It never ends: it continues if p.Ap is not positive, and starts again with x = 0 after convergence,
    /// overflow or the iteration limit. `launch` cannot continue such a solve.
    virtual void rest_of_iteration() = 0;
    [[nodiscard]] virtual KrylovOperands<Value> operands() const = 0;

    /// Permutes all vectors: element i moves to target[i]. target: [size], on the device. Asynchronous.
    virtual void reorder(const Index* target) = 0;
};

template <ValueType Value>
struct SeveralPlan {
    Index size = 0;
    int count = 1;                     // of right-hand sides
    std::int64_t most_iterations = 0;  // of each
    bool preconditioned = false;       // by a diagonal
};

/// Conjugate gradients with several right-hand sides of one matrix, which advance together: an iteration multiplies the
/// directions of all of them at once, and everything else is that of a Krylov for each. A right-hand side whose state is no
/// longer `running` stays as it is. Vectors are [size x count], row by row.
template <ValueType Value>
class SeveralKrylov : public Interface {
public:
    /// Sets the product of all right-hand sides for the following iterations; see Krylov::use.
    virtual void use(KrylovProduct<Value> product) = 0;

    [[nodiscard]] virtual int count() const = 0;
    /// B, X and the inverse of the diagonal, on the device; the last is null if there is none. The caller may replace B and
    /// the diagonal before begin_again, and X before restart.
    [[nodiscard]] virtual Value* right_hand_sides() = 0;
    [[nodiscard]] virtual Value* solutions() = 0;
    [[nodiscard]] virtual Value* inverse_diagonal() = 0;

    /// Starts new solves from X = 0. Each has converged when |r|_2 <= tolerance * |b|_2. Waits for the device. Returns |b|_2 of
    /// each.
    virtual std::vector<double> begin_again(double tolerance) = 0;
    /// Restarts these with r = b - A x for their current x; see Krylov::restart. Waits.
    virtual void restart(std::span<const int> which) = 0;
    /// Ends one, whose x then stays as it is.
    virtual void stop(int which) = 0;

    /// Launches up to `iterations` iterations. They end early if none is `running` any more, or one of those that are has done
    /// the plan's most iterations. Asynchronous.
    virtual void launch(std::int64_t iterations) = 0;
    /// Waits for the launched iterations. [count]
    [[nodiscard]] virtual std::vector<KrylovProgress> wait() = 0;

    /// See Krylov::history.
    [[nodiscard]] virtual std::vector<double> history(int which) = 0;
    /// See Krylov::vector_bytes; of an iteration in which all are `running`.
    [[nodiscard]] virtual std::int64_t vector_bytes() const = 0;
};

/// A matrix that a device has ready for solves in one kernel, which stays on the device for all iterations of a launch. The
/// iterations of such a solve multiply with this matrix. `use` sets the product of restarts, which refine the solution where
/// the values of this matrix are rounded.
template <ValueType Value>
class PersistentSolver : public Interface {
public:
    /// Like make_krylov (solvers.hpp). This object must outlive the solve.
    [[nodiscard]] virtual std::unique_ptr<Krylov<Value>> begin(const KrylovPlan& plan, std::span<const Value> b,
                                                               std::span<const Value> inverse_diagonal) = 0;

    /// False if the parts of conjugate gradients keep p alone of other parts' elements (HaloOfParts). Ranks must agree on it.
    [[nodiscard]] virtual bool halo_has_r() const { return true; }

    /// Replaces the values, for the next solves: [nonzeros] in the order of the matrix as it was given, on the device. The
    /// problem must have announced it. Allocates nothing; may wait for the device. Throws Unsuitable if the values were exact
    /// in f32 and these are not; others must then be set before the next solve.
    virtual void set_values(const Value* values) = 0;
};

}  // namespace workbench
