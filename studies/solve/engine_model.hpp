// Predicts what each engine of a solve on a GPU takes, before anything of the persistent kernel is built.
#pragma once

#include <cstdint>
#include <string>

#include "core/contract/device.hpp"
#include "core/contract/krylov.hpp"
#include "core/contract/precision.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

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

}  // namespace workbench
