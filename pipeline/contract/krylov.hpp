// Solving A x = b on a device by products with A: what a recipe's kernel is worth to someone who iterates.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/contract/precision.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Conjugate gradients (Hestenes and Stiefel 1952), for symmetric positive definite matrices; BiCGStab (van der Vorst 1992),
/// for any others.
enum class KrylovMethod { cg, bicgstab };

[[nodiscard]] constexpr std::string_view name_of(KrylovMethod method) { return method == KrylovMethod::cg ? "cg" : "bicgstab"; }

/// Where the iterations stand. indefinite: p.Ap or r.Mr is not above 0, so that the matrix (or its diagonal) is not positive
/// definite. breakdown: a scalar by which the method divides is 0, or something is no longer finite.
enum class KrylovState { running, converged, indefinite, breakdown };

/// How far a solve has come.
struct KrylovProgress {
    KrylovState state = KrylovState::running;
    std::int64_t iterations = 0;
    double residual = 0;  // |r|_2, as the recurrence has it
    double divisor = 0;   // the scalar that ended it where state is indefinite or breakdown
};

struct KrylovPlan {
    KrylovMethod method = KrylovMethod::cg;
    double stop_below = 0;             // |r|_2 under which it has converged
    std::int64_t most_iterations = 0;  // in all
};

/// y = A x, x and y [rows] on the device in the order of the solve's vectors. Does not wait for the device.
template <ValueType Value>
using KrylovProduct = std::function<void(const Value* x, Value* y)>;

/// Where the product of an iteration reads and writes on the device: y = A x.
template <ValueType Value>
struct KrylovOperands {
    const Value* x = nullptr;
    Value* y = nullptr;
};

/// One solve. Its vectors have one order, [size], and lie on the device; all sums over them are taken in f64. An iteration does
/// not wait for the host: scalars and the test for the end stay on the device.
template <ValueType Value>
class Krylov {
public:
    Krylov() = default;
    Krylov(const Krylov&) = delete;
    Krylov& operator=(const Krylov&) = delete;
    virtual ~Krylov() = default;

    /// Multiplies from now on. What it refers to must outlive its last use.
    virtual void use(KrylovProduct<Value> product) = 0;

    /// r = b - A x with the present x (0 at first), and the method begun anew. Ends a breakdown. Iterations go on counting.
    virtual void restart() = 0;

    /// Gives the device up to so many more iterations, which end early where the state is no longer `running`. Does not wait.
    virtual void launch(std::int64_t iterations) = 0;

    /// Of conjugate gradients, for who makes the products himself and wants to see them where a solve has them: with A x in the
    /// place of y, does all else that belongs to the iteration, and waits. It never ends: where p.Ap is not positive it goes
    /// on all the same, and where the solve has converged, is no longer finite or has come to the limit, it begins anew with
    /// x = 0. `launch` does not go on from there.
    virtual void rest_of_iteration() = 0;
    [[nodiscard]] virtual KrylovOperands<Value> operands() const = 0;

    /// Waits for what was launched.
    [[nodiscard]] virtual KrylovProgress wait() = 0;

    /// Brings all vectors to another order: element i goes to place target[i]. target: [size], on the device. Does not wait.
    virtual void reorder(const Index* target) = 0;

    [[nodiscard]] virtual std::vector<Value> x() = 0;

    /// |r|_2 before the first iteration and after each one.
    [[nodiscard]] virtual std::vector<double> history() = 0;

    /// Bytes that the vectors' part of an iteration must move: each vector that a step reads or writes once a step.
    [[nodiscard]] virtual std::int64_t vector_bytes() const = 0;
};

}  // namespace workbench
