#include "studies/choose/measure_products.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "studies/choose/cost_model.hpp"

namespace workbench {
namespace {

/// The median of the fastest verified kernel; 0: there is none. Kernels of the baseline count only for its own layout.
double fastest_kernel(const RunReport& report, bool is_baseline) {
    double least = 0;
    for (const KernelOutcome& kernel : report.kernels) {
        if (!kernel.verified() || !kernel.share.empty() || (kernel.baseline && !is_baseline)) continue;
        if (kernel.timing.median > 0 && (least == 0 || kernel.timing.median < least)) least = kernel.timing.median;
    }
    return least;
}

double measured_seconds(Runner& runner, const Recipe& recipe, bool is_baseline) {
    RunReport report;
    try {
        runner.run(recipe, {}, report);
    } catch (const Stopped&) {
        throw;
    } catch (const UserError&) {  // it does not suit the matrix
    }
    return fastest_kernel(report, is_baseline);
}

}  // namespace

std::vector<Recipe> calibration_recipes(const Catalogue& catalogue) {
    std::vector<Recipe> recipes;
    for (const std::string& text : catalogue.calibration) recipes.push_back(parse_recipe(text, "calibration.toml", catalogue));
    return recipes;
}

std::vector<std::string> calibration_matrices(double nonzeros) {
    const auto side = [nonzeros](double per_point, double dimension) {
        return std::lround(std::pow(nonzeros / per_point, 1 / dimension));
    };
    constexpr int degree = 16;
    return {"laplace2d:nx=40", fmt::format("laplace3d:nx={}", side(7, 3)), fmt::format("elasticity3d:nx={}", side(243, 3)),
            fmt::format("laplace3d:nx={},scramble=1", side(7, 3)),
            fmt::format("rmat:scale={},degree={}", std::lround(std::log2(nonzeros / degree)), degree)};
}

std::vector<CalibrationLine> measure_products(const std::vector<CsrMatrix>& matrices, const std::vector<Recipe>& recipes,
                                              const Catalogue& catalogue, Devices devices, const MeasureOptions& options) {
    const bool on_gpu = devices.gpu != nullptr && std::any_of(options.backends.begin(), options.backends.end(),
                                                              [](Backend one) { return device_of(one) == DeviceKind::gpu; });
    const Device& device = on_gpu ? *devices.gpu : devices.host;
    const Stopwatch watch(options.timing.clock);
    std::vector<CalibrationLine> lines;
    for (std::size_t i = 0; i < matrices.size(); ++i) {
        const CsrMatrix& matrix = matrices[i];
        Runner runner(matrix, catalogue, devices,
                      {.precisions = {Precision::f64}, .backends = options.backends, .only = "", .timing = options.timing});
        CostModel model(matrix, Precision::f64, device.properties(), on_gpu ? &device.properties() : nullptr);
        // The remaining time is shared evenly, so that each matrix gets some.
        const double end =
            watch.seconds() + (options.budget_seconds - watch.seconds()) / static_cast<double>(matrices.size() - i);
        for (const Recipe& recipe : recipes) {
            if (watch.seconds() > end) break;
            if (!model.price(recipe).unsuitable.empty()) continue;
            const std::string layouts = name_of_layouts(recipe);
            if (options.progress) options.progress(fmt::format("matrix {} of {}: {}", i + 1, matrices.size(), layouts));
            const double seconds =
                measured_seconds(runner, recipe, recipe.layouts.front().entry->name == catalogue.baseline_layout);
            if (seconds > 0) lines.push_back({layouts, model.costs(recipe), seconds});
        }
    }
    return lines;
}

}  // namespace workbench
