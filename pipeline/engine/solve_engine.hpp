// How the iterations of a solve run: the choice of an engine by a model, before anything of the persistent kernel is built, and
// the matrix of that kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/contract/device.hpp"
#include "core/contract/krylov.hpp"
#include "core/contract/precision.hpp"
#include "core/matrix/types.hpp"
#include "pipeline/engine/ready.hpp"

namespace workbench {

/// graph: the recipe's kernel and those of the vectors, one after another (on a GPU a CUDA graph). persistent: one kernel that
/// stays on the GPU (PersistentSolver). automatic: the one that takes less time in all by the model.
enum class SolveEngine { graph, persistent, automatic };

[[nodiscard]] std::string_view name_of(SolveEngine engine);

struct EngineFacts {
    Index rows = 0;
    Offset nonzeros = 0;
    std::int64_t bytes_of_product = 0;  // that the recipe's kernel moves at least
    Precision precision = Precision::f64;
    KrylovMethod method = KrylovMethod::cg;
    bool jacobi = false;
    Index parts = 0;  // of a partition; 0: none
    const DeviceProperties& device;
    double copy_bandwidth = 0;  // bytes per second
    // GPUs that solve together; all facts are then those of one of them, whose rows are brought to the persistent kernel's
    // order by the host.
    int ranks = 1;
};

struct EngineForecast {
    double graph_seconds = 0;        // of an iteration
    double persistent_seconds = 0;   // of an iteration
    double preparation_seconds = 0;  // of the persistent kernel, beyond that of `graph`

    /// True if this many iterations save more time than the preparation takes.
    [[nodiscard]] bool persistent_pays(std::int64_t iterations) const;
};

/// The constants are fitted to an H200 and 16 cores (docs/results/h200-on-chip.md).
[[nodiscard]] EngineForecast forecast_engines(const EngineFacts& facts);

/// A sentence with the figures of the choice. iterations: of all solves together.
[[nodiscard]] std::string reason_for(const EngineForecast& forecast, std::int64_t iterations);

/// The matrix of a recipe that is ready, as it was given: on the host, on the device, or both.
template <ValueType Value>
struct SolvedMatrix {
    const CsrMatrix* matrix = nullptr;
    const CsrOnDevice<Value>* there = nullptr;
    bool new_values = false;  // PersistentProblem::new_values

    [[nodiscard]] Index rows() const { return matrix != nullptr ? matrix->rows : there->rows; }
    [[nodiscard]] std::int64_t nonzeros() const { return matrix != nullptr ? matrix->nonzeros() : there->nonzeros; }
};

struct EngineWish {
    SolveEngine engine = SolveEngine::automatic;
    KrylovMethod method = KrylovMethod::cg;
    bool jacobi = false;
    std::int64_t iterations = 0;  // of all solves together; 0: there is no solver
};

/// persistent: a persistent kernel is to be made. note: the model's figures; empty if the wish named an engine.
struct EngineChoice {
    bool persistent = false;
    std::string note = {};
};
/// By the model, for this many iterations of all solves together.
[[nodiscard]] EngineChoice choose_engine(const EngineForecast& forecast, std::int64_t iterations);
/// Likewise for a wish, which may name the engine.
template <ValueType Value>
[[nodiscard]] EngineChoice choose_engine(const EngineWish& wish, const Ready<Value>& ready, const SolvedMatrix<Value>& matrix,
                                         Device& device);

/// The matrix for persistent solves, whose vectors are in the order of the input; divided in the recipe's order and where the
/// recipe's partition divides it. Values that the recipe rounds are rounded, and must be on the host. Throws Unsuitable with
/// the reason if there can be no such solves.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<PersistentSolver<Value>> make_persistent(const Ready<Value>& ready,
                                                                       const SolvedMatrix<Value>& matrix, Device& device,
                                                                       const EngineWish& wish);

}  // namespace workbench
