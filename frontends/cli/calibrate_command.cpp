// workbench calibrate: fits the cost model of `choose` to a device of this machine.
#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/system/whole_file.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/interruption.hpp"
#include "frontends/cli/kept_calibration.hpp"
#include "frontends/cli/measuring.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/choose/measure_products.hpp"

namespace workbench {
namespace {

struct CalibrateArguments {
    std::vector<std::string> backends;
    std::optional<double> budget;
};

CsrMatrix generated_for_calibration(const std::string& text) {
    const MatrixChoice choice = generated_matrix(text, {}, catalogue());
    const auto& [generator, parameters] = std::get<GeneratedMatrix>(choice.from);
    return generator->generate(parameters);
}

ExitCode calibrate(const CalibrateArguments& arguments) {
    constexpr double nonzeros_on_gpu = 8e6;  // more than the last-level cache holds
    constexpr double nonzeros_on_host = 1e6;
    constexpr double budget_of_gpu = 20;
    constexpr double budget_of_host = 40;
    const KokkosRuntime kokkos(print_error);
    const std::unique_ptr<Device> gpu = make_cuda_device();
    const std::unique_ptr<Device> host = make_host_device();
    MeasureOptions options;
    options.backends = backends_of_one_device(arguments.backends, gpu != nullptr);
    const bool on_gpu = device_of(options.backends.front()) == DeviceKind::gpu;
    options.budget_seconds = arguments.budget.value_or(on_gpu ? budget_of_gpu : budget_of_host);
    options.timing.minimum_samples = 5;
    options.timing.minimum_seconds = 0;
    options.timing.maximum_seconds = 0.2;
    Device& device = on_gpu ? *gpu : *host;
    const std::filesystem::path file = kept_calibration_file(device.properties());
    check_writable(file);

    const Interruption interruption;
    DeviceSpeed defaults;
    const std::vector<CalibrationLine> lines = [&] {
        const StdoutToStderr redirection;
        const Progress progress;
        options.progress = [&progress](const std::string& step) {
            stop_if_requested();
            progress.show(step);
        };
        options.progress("copying");
        defaults = speed_of(device.properties(), device.bandwidth().copy);
        std::vector<CsrMatrix> matrices;
        for (const std::string& text : calibration_matrices(on_gpu ? nonzeros_on_gpu : nonzeros_on_host)) {
            options.progress("generating " + text);
            matrices.push_back(generated_for_calibration(text));
        }
        return measure_products(matrices, calibration_recipes(catalogue()), catalogue(), {*host, gpu.get()}, options);
    }();
    if (lines.empty()) throw MachineError("no product could be measured; nothing was kept");
    Calibration calibration = fit_calibration(lines, defaults);
    calibration.device = device.properties().name;
    calibration.processors = device.properties().processors;
    write_calibration(file, calibration);
    print_text("{}\nKept in {}, which `choose` uses.\n", calibration_text(calibration, defaults), file.string());
    return ExitCode::ok;
}

}  // namespace

void add_calibrate_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "calibrate", "Measure this machine's device, so that choose predicts times better", calibrate);
    add_backends(command, arguments.backends, "Backends of one device (default: the GPU's, if any)");
    add_number(command, "--budget", arguments.budget, Range{0.1, 1e6, "SECONDS"},
               "Time for measuring (default: 40 on a CPU, 20 on a GPU)");
}

}  // namespace workbench
