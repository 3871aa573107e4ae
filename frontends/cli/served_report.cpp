#include "frontends/cli/served_report.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "core/system/kokkos_runtime.hpp"
#include "frontends/cli/drawn_graph.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/provenance.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/report/pictures.hpp"

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

/// Size and time of a file, which show whether it has changed.
using FileStamp = std::pair<std::uintmax_t, std::filesystem::file_time_type>;

std::optional<FileStamp> stamp_of(const MatrixChoice& choice) {
    const auto* const file = std::get_if<MatrixFile>(&choice.from);
    std::error_code unknown;
    if (file == nullptr) return std::nullopt;
    return FileStamp{std::filesystem::file_size(file->path, unknown), std::filesystem::last_write_time(file->path, unknown)};
}

}  // namespace

struct ServedReports::State {
    KokkosRuntime kokkos;
    std::unique_ptr<Device> host = make_host_device();
    std::unique_ptr<Device> gpu = {};  // null: not yet needed, or none
    std::string note = {};             // why there is none

    // The last run had these settings and this matrix.
    bool timed = false;
    bool used_gpu = false;
    MatrixChoice choice = {};
    std::optional<FileStamp> stamp = {};
    CsrMatrix matrix = {};
    MatrixReport facts = {};
    std::optional<Runner> runner = {};  // none before the matrix is read

    /// Reads the matrix, unless the last run had the same matrix and options.
    void prepare(const MeasuringArguments& arguments, const Recipe& recipe, bool is_timed) {
        RunOptions options = options_of(arguments);
        if (!is_timed) options.backends.clear();
        const bool uses_gpu = is_timed || depends_on_device(recipe);
        if (uses_gpu && gpu == nullptr) {
            // Starting CUDA takes longer than most runs, so that runs without a GPU must not wait for it.
            gpu = is_timed ? gpu_for(arguments, options, note) : make_cuda_device();
        }
        const std::optional<FileStamp> now = stamp_of(recipe.matrix);
        if (runner && recipe.matrix == choice && now == stamp && timed == is_timed && used_gpu == uses_gpu) return;
        runner.reset();
        std::tie(matrix, facts) = load_matrix(recipe.matrix);
        choice = recipe.matrix;
        stamp = now;
        timed = is_timed;
        used_gpu = uses_gpu;
        runner.emplace(matrix, catalogue(), Devices{*host, uses_gpu ? gpu.get() : nullptr}, options);
        runner->keep_all_stages();
    }
};

ServedReports::ServedReports(const MeasuringArguments& arguments) : arguments_(arguments) {}
ServedReports::~ServedReports() = default;

std::string ServedReports::page_of(const Recipe& recipe, bool timed, const std::function<void()>& go_on) {
    if (state_ == nullptr) state_ = std::make_unique<State>();
    State& state = *state_;
    state.prepare(arguments_, recipe, timed);
    go_on();
    std::vector<std::shared_ptr<const PagePattern>> patterns;
    RunObserver observer;
    observer.progress = [&go_on](const std::string&) { go_on(); };
    observer.stage_done = [&](const StagedMatrix& staged, StageOutcome& outcome) {
        const bool is_input = patterns.empty();
        patterns.push_back(
            page_pattern(staged, is_input ? page_places(recipe.matrix, staged.matrix, true) : std::vector<Point>{}));
        outcome.attached = std::make_shared<const StagePage>(StagePage{{}, {}, patterns.back()});
    };
    observer.stage_shared = [&patterns](const StageOutcome& outcome) {
        patterns.push_back(workbench::page_of(outcome)->pattern);
    };
    observer.maps_storage = true;
    RunReport report;
    state.runner->run(recipe, observer, report);
    report.matrix = state.facts;
    add_provenance(report, *state.host, state.gpu != nullptr);
    if (!state.note.empty()) report.notes.push_back(state.note);
    if (!timed) std::erase(report.notes, no_kernel_of(recipe));
    const std::array runs{PageRun{report, std::move(patterns), slice_height_of(recipe)}};
    return page_data(runs, {.title = report.title(), .kind = "run", .command = ""});
}

}  // namespace workbench
