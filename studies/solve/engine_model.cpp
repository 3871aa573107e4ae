#include "studies/solve/engine_model.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/text/text_table.hpp"

namespace workbench {

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
    constexpr double preparation = 1.5e-3;
    constexpr double preparation_of_nonzero = 0.5e-9;

    const bool cg = facts.method == KrylovMethod::cg;
    const double products = cg ? 1 : 2;
    const double vectors = cg ? (facts.jacobi ? 13 : 11) : (facts.jacobi ? 23 : 18);
    const auto vector = static_cast<double>(facts.rows) * static_cast<double>(value_bytes(facts.precision));
    const auto product = static_cast<double>(facts.bytes_of_product);
    const double bandwidth = std::max(1.0, facts.copy_bandwidth);
    const double processors = std::max(1, facts.device.processors);

    const double on_chip = processors * static_cast<double>(facts.device.shared_memory_per_block);
    const double streamed = std::max(0.0, product - vector - on_chip);  // the matrix and p
    const double waits = cg ? 1 : 3;
    double persistent = waits * one_wait + products * (static_cast<double>(facts.nonzeros) * nonzero_of_processor / processors +
                                                       streamed / bandwidth);
    if (facts.parts == 0) persistent *= unpartitioned;
    return {.graph_seconds = waits * launches + (products * product + vectors * vector) / bandwidth,
            .persistent_seconds = persistent,
            .preparation_seconds = preparation + static_cast<double>(facts.nonzeros) * preparation_of_nonzero};
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

}  // namespace workbench
