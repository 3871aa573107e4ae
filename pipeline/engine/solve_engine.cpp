#include "pipeline/engine/solve_engine.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/rounding.hpp"
#include "core/contract/solvers.hpp"
#include "core/text/text_table.hpp"

namespace workbench {

std::string_view name_of(SolveEngine engine) {
    switch (engine) {
        case SolveEngine::graph: return "graph";
        case SolveEngine::persistent: return "persistent";
        case SolveEngine::automatic: return "auto";
    }
    return "";
}

bool EngineForecast::persistent_pays(std::int64_t iterations) const {
    return static_cast<double>(iterations) * (graph_seconds - persistent_seconds) > preparation_seconds;
}

EngineForecast forecast_engines(const EngineFacts& facts) {
    // graph: launches and waiting, and all bytes of a product and of the vectors at the bandwidth of copies.
    constexpr double launches = 10.5e-6;
    // persistent: one wait of all blocks, a nonzero on each multiprocessor, and the bytes that do not fit on the chip.
    constexpr double one_wait = 3.5e-6;
    constexpr double nonzero_of_processor = 132e-12;
    constexpr double unpartitioned = 1.4;  // blocks that are not parts exchange more elements
    // Dividing the matrix on the GPU, and the vectors, beyond what the graph needs.
    constexpr double preparation = 0.9e-3;
    constexpr double preparation_of_nonzero = 0.45e-9;
    // Across ranks (docs/results/h200-ranks.md): the sum, the outside share and what is not hidden of an exchange; a wait for
    // the blocks of other GPUs; and the rows of a rank, which the host brings to their order and copies.
    constexpr double launches_of_ranks = 17e-6;
    constexpr double wait_of_ranks = 1.1e-6;
    constexpr double preparation_of_nonzero_of_rank = 5e-9;

    const bool cg = facts.method == KrylovMethod::cg;
    const double products = cg ? 1 : 2;
    const double vectors = cg ? (facts.jacobi ? 13 : 11) : (facts.jacobi ? 23 : 18);
    const auto vector = static_cast<double>(facts.rows) * static_cast<double>(value_bytes(facts.precision));
    const auto product = static_cast<double>(facts.bytes_of_product);
    const double bandwidth = std::max(1.0, facts.copy_bandwidth);
    const double processors = std::max(1, facts.device.processors);

    const double on_chip = processors * static_cast<double>(facts.device.shared_memory_per_block);
    // Its parts sort their rows, so that they need little padding, and have columns of 16 bits.
    const double matrix = static_cast<double>(facts.nonzeros) * static_cast<double>(value_bytes(facts.precision) + 2);
    const double streamed = std::max(0.0, std::min(product - vector, matrix) - on_chip);
    const double waits = cg ? 1 : 3;
    double persistent = waits * one_wait + products * (static_cast<double>(facts.nonzeros) * nonzero_of_processor / processors +
                                                       streamed / bandwidth);
    if (facts.parts == 0) persistent *= unpartitioned;
    const bool across = facts.ranks > 1;
    const double of_nonzero = across ? preparation_of_nonzero_of_rank : preparation_of_nonzero;
    return {.graph_seconds =
                waits * launches + (across ? launches_of_ranks : 0) + (products * product + vectors * vector) / bandwidth,
            .persistent_seconds = persistent + (across ? waits * wait_of_ranks : 0),
            .preparation_seconds = preparation + static_cast<double>(facts.nonzeros) * of_nonzero};
}

std::string reason_for(const EngineForecast& forecast, std::int64_t iterations) {
    const double gain = forecast.graph_seconds - forecast.persistent_seconds;
    if (gain <= 0) return "persistent kernel: by the model, its iterations take as long as those of the graph";
    return fmt::format(
        "persistent kernel: by the model, it saves {} an iteration and takes {} to prepare: it pays after {} iterations, and "
        "{} "
        "are expected",
        duration(gain), duration(forecast.preparation_seconds), with_commas(std::llround(forecast.preparation_seconds / gain)),
        with_commas(iterations));
}

EngineChoice choose_engine(const EngineForecast& forecast, std::int64_t iterations) {
    return {.persistent = forecast.persistent_pays(iterations), .note = reason_for(forecast, iterations)};
}

template <ValueType Value>
EngineChoice choose_engine(const EngineWish& wish, const Ready<Value>& ready, const SolvedMatrix<Value>& matrix,
                           Device& device) {
    if (wish.engine == SolveEngine::persistent) return {.persistent = true};
    if (wish.engine == SolveEngine::graph || device.properties().kind == DeviceKind::host) return {};
    const EngineForecast forecast =
        forecast_engines({.rows = matrix.rows(),
                          .nonzeros = matrix.nonzeros(),
                          .bytes_of_product = ready.preparation().bytes_to_move,
                          .precision = precision_of<Value>,
                          .method = wish.method,
                          .jacobi = wish.jacobi,
                          .parts = std::max(Index{0}, static_cast<Index>(ready.partition().size()) - 1),
                          .device = device.properties(),
                          .copy_bandwidth = device.bandwidth().copy});
    return choose_engine(forecast, wish.iterations);
}

template <ValueType Value>
std::unique_ptr<PersistentSolver<Value>> make_persistent(const Ready<Value>& ready, const SolvedMatrix<Value>& matrix,
                                                         Device& device, const EngineWish& wish) {
    PersistentProblem<Value> problem{.matrix = matrix.matrix,
                                     .there = matrix.there,
                                     .cuts = ready.partition(),
                                     .method = wish.method,
                                     .preconditioned = wish.jacobi,
                                     .new_values = matrix.new_values};
    // Before the matrix is copied.
    const DeviceProperties& properties = device.properties();
    const std::size_t vector = static_cast<std::size_t>(problem.rows()) * sizeof(Value);
    const std::size_t shared_memory = static_cast<std::size_t>(properties.processors) * properties.shared_memory_per_block;
    if (properties.kind == DeviceKind::gpu && vector > shared_memory) {
        throw Unsuitable(fmt::format("a vector has {} bytes, and the shared memory of all multiprocessors of {} has {}", vector,
                                     properties.name, shared_memory));
    }
    DeviceMemory order_there;
    if (const PlannedMatrix<Value>* const planned = ready.planned()) {
        if (planned->facts().reordered) problem.old_of_new = planned->old_of_new();
    } else if (const Permutation& order = ready.space().column_order; !order.is_identity()) {
        order_there = to_device(device, order.old_of_new(), "the order of a persistent solve");
        problem.old_of_new = order_there.template as<const Index>();
    }
    const std::optional<RoundingError>& rounding = ready.preparation().rounding;
    if (!rounding) return make_persistent_solver<Value>(device, problem);
    CsrMatrix changed = *matrix.matrix;
    std::transform(changed.values.begin(), changed.values.end(), changed.values.begin(),
                   [&](double value) { return rounded(value, rounding->to); });
    problem.matrix = &changed;
    problem.there = nullptr;
    return make_persistent_solver<Value>(device, problem);
}

template EngineChoice choose_engine(const EngineWish&, const Ready<float>&, const SolvedMatrix<float>&, Device&);
template EngineChoice choose_engine(const EngineWish&, const Ready<double>&, const SolvedMatrix<double>&, Device&);
template std::unique_ptr<PersistentSolver<float>> make_persistent(const Ready<float>&, const SolvedMatrix<float>&, Device&,
                                                                  const EngineWish&);
template std::unique_ptr<PersistentSolver<double>> make_persistent(const Ready<double>&, const SolvedMatrix<double>&, Device&,
                                                                   const EngineWish&);

}  // namespace workbench
