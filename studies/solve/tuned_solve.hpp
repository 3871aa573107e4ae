// Tuning while solving: the solve starts at once with CSR; meanwhile candidate recipes are prepared, tried for a few
// iterations, and kept if they are faster (auto-tuning as in Nagasaka's slides, 'Exploiting GPU caches in sparse matrix vector
// multiplication', generalised to any recipe).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/contract/catalogue.hpp"
#include "studies/solve/solve.hpp"

namespace workbench {

struct TuningPlan {
    std::span<const Recipe> recipes;  // tried in this order; must outlive the solve
    KernelFilter filter = {};         // the kernels to choose from
    /// Makes a device of the same kind with a stream of its own, for one candidate. Empty: preparing candidates alternates with
    /// iterations on the solve's device, as on a CPU, where the two would compete for the cores.
    std::function<std::unique_ptr<Device>()> make_device = {};
    Keeping keeping = {};  // of the matrix
};

/// Like `solve`, starting with `csr`, which must keep the input order. The outcome has a Trial for each recipe, and its
/// solve_seconds are wall time, including trials. If candidates have their own devices, a second thread runs the iterations
/// while this one prepares candidates.
template <ValueType Value>
[[nodiscard]] SolveOutcome solve_tuned(const System<Value>& system, Multiplier<Value>& csr, Device& device,
                                       const SolveOptions& options, const TuningPlan& plan);

}  // namespace workbench
