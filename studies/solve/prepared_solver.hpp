// What all solves with one recipe share: a Krylov solver with its vectors, and the ways of b and x between the order of the
// input and that of the recipe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/matrix/host_array.hpp"
#include "studies/solve/solve.hpp"

namespace workbench {

/// Made once for a matrix and a recipe. A solve then allocates nothing.
template <ValueType Value>
class PreparedSolver {
public:
    /// Chooses the engine as the options say (solve_engine.hpp). All arguments must outlive it. Throws InputError if the
    /// options demand a persistent kernel that the matrix does not suit, MachineError if the device has no solver.
    PreparedSolver(const System<Value>& system, Multiplier<Value>& multiplier, Device& device, const SolveOptions& options);
    PreparedSolver(const PreparedSolver&) = delete;
    PreparedSolver& operator=(const PreparedSolver&) = delete;
    ~PreparedSolver() = default;

    [[nodiscard]] const System<Value>& system() const { return system_; }
    [[nodiscard]] Multiplier<Value>& multiplier() const { return multiplier_; }
    [[nodiscard]] Device& device() const { return device_; }
    [[nodiscard]] SolveEngine engine() const { return persistent_ == nullptr ? SolveEngine::graph : SolveEngine::persistent; }
    /// The time that the construction took.
    [[nodiscard]] double seconds() const { return seconds_; }
    /// Why this engine was chosen; empty if the caller chose it.
    [[nodiscard]] const std::string& note() const { return note_; }

    /// Brings b to the solver, starts a solve from x = 0 and waits for the device. The next call ends the solve.
    [[nodiscard]] Krylov<Value>& begin();

    /// The solver of the engine `graph`; null of `persistent`.
    [[nodiscard]] KrylovByProducts<Value>* by_products() const { return by_products_; }

    /// x [rows] of the current solve, in the order of the input; valid until the next call.
    [[nodiscard]] std::span<const Value> x();

    /// On the host, the seconds of each product since the current solve began. A GPU does not return to the host between them.
    [[nodiscard]] const std::vector<double>& seconds_of_products() const { return seconds_of_products_; }

    /// True: the following products are those with values in full (Multiplier::multiply_in_full).
    bool multiplies_in_full = false;

private:
    void choose_engine();
    /// The solver of the engine `graph`, and the memory that b and x pass through.
    void make_graph();
    /// The solver of the persistent kernel; its vectors are in the order of the input.
    void make_persistent();
    void find_places();
    void multiply(const Value* x, Value* y);
    /// True if the vectors of the solver are in the order of the input.
    [[nodiscard]] bool keeps_order() const { return persistent_ != nullptr || to_recipe_ == nullptr; }
    [[nodiscard]] bool on_host() const { return device_.properties().kind == DeviceKind::host; }

    const System<Value>& system_;
    Multiplier<Value>& multiplier_;
    Device& device_;
    const SolveOptions options_;
    KrylovPlan plan_;
    PersistentSolver<Value>* persistent_ = nullptr;
    std::unique_ptr<Krylov<Value>> krylov_;
    KrylovByProducts<Value>* by_products_ = nullptr;  // krylov_ of the engine `graph`
    HostArray<Value> x_;                              // in the order of the input
    // On a GPU: b and x in the order of the input; of a persistent solve, x and A x in the order of the recipe.
    DeviceMemory b_there_;
    DeviceMemory x_there_;
    DeviceMemory places_there_;  // the next two on a GPU, unless it prepared the matrix
    DeviceMemory places_back_there_;
    const Index* to_recipe_ = nullptr;  // the place of each element of b; null: the order is that of the input
    const Index* to_input_ = nullptr;   // the place of each element of x
    std::string note_;
    double seconds_ = 0;
    std::vector<double> seconds_of_products_;
};

}  // namespace workbench
