// Conjugate gradients for several right-hand sides at a time with a recipe's kernel.
#pragma once

#include <memory>
#include <vector>

#include "pipeline/solving/several_solves.hpp"
#include "studies/solve/solve.hpp"

namespace workbench {

/// Made once for a matrix and a recipe, whose multiplier multiplies as many vectors as there are systems. A solve then
/// allocates nothing but its outcome.
template <ValueType Value>
class SeveralSolver {
public:
    /// All arguments must outlive it; the systems have the same matrix. Throws MachineError if the device has no such solver.
    SeveralSolver(std::vector<const System<Value>*> systems, Multiplier<Value>& multiplier, Device& device,
                  const SolveOptions& options);
    SeveralSolver(const SeveralSolver&) = delete;
    SeveralSolver& operator=(const SeveralSolver&) = delete;
    ~SeveralSolver() = default;

    /// Solves from x = 0. Fills every member but `baseline`, `control` and those of solves alone.
    [[nodiscard]] SolveOutcome solve(const SolveOptions& options);

    /// Solves with one right-hand side after another, alone, for about a second, to fill in the members of solves alone.
    void solve_alone(const SolveOptions& given, SolveOutcome& outcome);

private:
    class Course;

    [[nodiscard]] int count() const { return static_cast<int>(systems_.size()); }
    [[nodiscard]] std::size_t elements() const { return systems_.front()->b_values().size() * systems_.size(); }
    void bring_diagonal();
    void bring_right_hand_sides();
    /// X in the order of the input; valid until the next call.
    [[nodiscard]] const std::vector<Value>& x();
    [[nodiscard]] double true_residual(int which);
    void multiply(const Value* x, Value* y);
    void finish(const std::vector<OneOfSeveral>& solves, const SolveOptions& options, SolveOutcome& outcome);

    std::vector<const System<Value>*> systems_;
    Multiplier<Value>& multiplier_;
    Device& device_;
    Clock clock_;
    std::unique_ptr<SeveralKrylov<Value>> krylov_;
    std::vector<Value> on_host_;  // B or X, row by row in the order of the input
    DeviceMemory there_;          // likewise, on the device
    DeviceMemory to_recipe_;      // the place of each element; empty: the order is that of the input
    DeviceMemory to_input_;
    double seconds_ = 0;
    std::vector<double> seconds_of_products_;
};

}  // namespace workbench
