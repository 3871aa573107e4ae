#include "pipeline/cli/served_report.hpp"

#include <algorithm>
#include <array>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/drawn_graph.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/cli/provenance.hpp"
#include "pipeline/report/page.hpp"
#include "pipeline/run/kernel_choice.hpp"
#include "pipeline/run/kokkos_runtime.hpp"

namespace workbench {
namespace {

/// True if a value of the recipe, such as parts = "auto", depends on the device.
bool depends_on_device(const Recipe& recipe) {
    return recipe.device.empty() && std::any_of(recipe.stages.begin(), recipe.stages.end(), [](const RecipeStage& stage) {
               const auto& values = stage.parameters.values();
               return std::any_of(values.begin(), values.end(),
                                  [](const auto& value) { return value.second == ParameterValue(std::string("auto")); });
           });
}

}  // namespace

std::string served_report(const MeasuringArguments& arguments, const Recipe& recipe, bool timed) {
    const KokkosRuntime kokkos;
    RunOptions options = options_of(arguments);
    std::string note;
    std::unique_ptr<Device> gpu;
    if (timed) {
        gpu = gpu_for(arguments, options, note);
    } else {
        options.backends.clear();
        if (depends_on_device(recipe)) gpu = make_cuda_device();  // takes longer than most runs
    }
    const std::unique_ptr<Device> host = make_host_device();
    const auto [matrix, facts] = load_matrix(recipe.matrix);
    Runner runner(matrix, catalogue(), {*host, gpu.get()}, options);
    std::vector<std::shared_ptr<const PagePattern>> patterns;
    RunObserver observer;
    observer.stage_done = [&](const StagedMatrix& staged, StageOutcome&) {
        const bool is_input = patterns.empty();
        patterns.push_back(
            page_pattern(staged, is_input ? page_places(recipe.matrix, staged.matrix, true) : std::vector<Point>{}));
    };
    observer.maps_storage = true;
    RunReport report;
    runner.run(recipe, observer, report);
    report.matrix = facts;
    add_provenance(report, *host);
    if (!note.empty()) report.notes.push_back(note);
    if (!timed) std::erase(report.notes, no_kernel_of(recipe));
    const std::array runs{PageRun{report, std::move(patterns)}};
    return page_html(runs, {.title = report.title(), .kind = "run", .command = "", .compression = PageCompression::quick});
}

}  // namespace workbench
