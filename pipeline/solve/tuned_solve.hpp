// Tuning while solving: the solve begins at once with CSR; meanwhile recipes are made ready, tried for some of its iterations,
// and kept where they are faster (the auto-tuning of Nagasaka's slides, 'Exploiting GPU
// caches in sparse matrix vector multiplication', for any recipe).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/solve/solve.hpp"

namespace workbench {

/// What tuning needs beside the solve's own.
struct TuningPlan {
    std::span<const Recipe> recipes;  // tried in this order; must outlive the solve
    KernelWish wish;
    /// A device of the same kind with a stream of its own, for one candidate. Empty: candidates are made ready in turns with
    /// iterations, on the solve's device, as on a CPU, where both would share the cores.
    std::function<std::unique_ptr<Device>()> make_device = {};
    std::function<void(const std::string&)> tell = {};
    Keeping keeping = {};          // of the matrix
    Preparer* preparer = nullptr;  // see StagedMatrix; asked by the thread that makes candidates ready
};

/// As `solve`, beginning with `csr`, whose order is the input's. The outcome lists what became of each recipe (Trial). The
/// seconds of the solve are those of the clock on the wall, trials included. Where candidates have devices of their own, the
/// iterations are driven by a thread of their own, and this one makes candidates ready.
template <ValueType Value>
[[nodiscard]] SolveOutcome solve_tuned(const System<Value>& system, Multiplier<Value>& csr, Device& device,
                                       const SolveOptions& options, const TuningPlan& plan);

}  // namespace workbench
