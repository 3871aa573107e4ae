// The solvers that a device runs.
#pragma once

#include <memory>
#include <span>

#include "core/contract/device.hpp"
#include "core/contract/errors.hpp"
#include "core/contract/krylov.hpp"
#include "core/contract/planned_matrix.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

class Ranks;  // ranks.hpp

/// Element `row` of this rank's vectors, which rank `rank` has as its remote element `remote`.
struct SentElement {
    Index row = 0;
    int rank = 0;
    Index remote = 0;
};

/// What the parts of conjugate gradients in a persistent kernel keep of the elements of other parts that their rows multiply.
/// with_r: r and p, so that all parts wait once an iteration. without_r: p alone, which takes less memory, and a second wait
/// for these elements. by_room: with_r if the r of all parts fits in shared memory (docs/results/h200-on-chip.md), of those of
/// this rank; PersistentSolver::halo_has_r is then the choice, and ranks that differ must be made again. The bits of a solve
/// are the same.
enum class HaloOfParts { by_room, with_r, without_r };

/// The rows of the matrix of persistent solves; vectors are in their order. Without ranks it is square.
template <ValueType Value>
struct PersistentProblem {
    // The matrix on the host, on the device with ascending columns, or both. Columns after the rows: remote elements, which
    // other ranks send.
    const CsrMatrix* matrix = nullptr;
    const CsrOnDevice<Value>* there = nullptr;
    const Index* old_of_new = nullptr;  // [rows] on the device: rows and columns are divided in this order; null: in that given
    std::span<const Index> cuts = {};   // in the order of the division: the boundaries of a partition of the rows, or empty
    KrylovMethod method = KrylovMethod::cg;
    bool preconditioned = false;
    Ranks* ranks = nullptr;                  // that solve together, one GPU each; null: this one alone
    std::span<const SentElement> sent = {};  // to other ranks; a row has at most one element for each of them
    bool new_values = false;                 // PersistentSolver::set_values will be called
    HaloOfParts halo = HaloOfParts::by_room;

    [[nodiscard]] Index rows() const { return matrix != nullptr ? matrix->rows : there->rows; }
    [[nodiscard]] Index columns() const { return matrix != nullptr ? matrix->columns : there->columns; }
    [[nodiscard]] std::int64_t nonzeros() const { return matrix != nullptr ? matrix->nonzeros() : there->nonzeros; }
};

/// Makes the solvers of a device, which must outlive them. By default it makes none.
class Solvers : public Interface {
public:
    /// See make_krylov and make_persistent_solver.
    [[nodiscard]] virtual std::unique_ptr<KrylovByProducts<float>> krylov(const KrylovPlan&, std::span<const float> /*b*/,
                                                                          std::span<const float> /*inverse_diagonal*/) {
        return nullptr;
    }
    [[nodiscard]] virtual std::unique_ptr<KrylovByProducts<double>> krylov(const KrylovPlan&, std::span<const double> /*b*/,
                                                                           std::span<const double> /*inverse_diagonal*/) {
        return nullptr;
    }
    /// See make_several_krylov.
    [[nodiscard]] virtual std::unique_ptr<SeveralKrylov<float>> several(const SeveralPlan<float>&) { return nullptr; }
    [[nodiscard]] virtual std::unique_ptr<SeveralKrylov<double>> several(const SeveralPlan<double>&) { return nullptr; }
    [[nodiscard]] virtual std::unique_ptr<PersistentSolver<float>> persistent(const PersistentProblem<float>&) {
        return nullptr;
    }
    [[nodiscard]] virtual std::unique_ptr<PersistentSolver<double>> persistent(const PersistentProblem<double>&) {
        return nullptr;
    }
};

/// A solver with the initial guess x = 0. b and inverse_diagonal are [size], in the order of the vectors of the product. If
/// they are empty, b = 0, and there is no preconditioner unless the plan has one, whose diagonal is then 0: the caller sets
/// both before begin_again. Null if the device has no solver. The device must outlive it.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<KrylovByProducts<Value>> make_krylov(Device& device, const KrylovPlan& plan,
                                                                   std::span<const Value> b,
                                                                   std::span<const Value> inverse_diagonal) {
    Solvers* const solvers = device.solvers();
    return solvers == nullptr ? nullptr : solvers->krylov(plan, b, inverse_diagonal);
}

/// A solver for several right-hand sides, B = X = 0 and a diagonal of 1. Null if the device has none. The device must outlive
/// it. Throws MachineError if memory does not suffice.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<SeveralKrylov<Value>> make_several_krylov(Device& device, const SeveralPlan<Value>& plan) {
    Solvers* const solvers = device.solvers();
    return solvers == nullptr ? nullptr : solvers->several(plan);
}

/// A matrix for persistent solves. Throws Unsuitable with the reason if the device cannot run them, or not with this matrix.
/// The device and the ranks must outlive it; the problem need not. With ranks, it does not communicate, so that one rank may
/// throw alone; PersistentSolver::begin is collective, and throws Unsuitable on all ranks if the GPU of one cannot take part.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<PersistentSolver<Value>> make_persistent_solver(Device& device,
                                                                              const PersistentProblem<Value>& problem) {
    Solvers* const solvers = device.solvers();
    auto solver = solvers == nullptr ? nullptr : solvers->persistent(problem);
    if (solver == nullptr) {
        throw Unsuitable("a persistent kernel needs a GPU; this device is " + device.properties().name);
    }
    return solver;
}

}  // namespace workbench
