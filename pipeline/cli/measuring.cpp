#include "pipeline/cli/measuring.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

std::vector<Precision> precisions_of(const std::string& word) {
    if (word == "f32") return {Precision::f32};
    if (word == "f64") return {Precision::f64};
    return {Precision::f64, Precision::f32};
}

}  // namespace

RunOptions options_of(const MeasuringArguments& arguments) {
    if (!std::isfinite(arguments.seconds)) throw RecipeError("--seconds: not a finite number");
    RunOptions options;
    options.precisions = precisions_of(arguments.precision);
    options.only = arguments.only;
    options.timing.cache = arguments.cache == "cold" ? CacheState::cold : CacheState::warm;
    if (arguments.inside == "cg") options.timing.cache = CacheState::inside_cg;
    options.timing.minimum_samples = arguments.samples;
    options.timing.minimum_seconds = arguments.seconds;
    options.timing.maximum_seconds = std::max(options.timing.maximum_seconds, 2 * arguments.seconds);
    if (!arguments.backends.empty()) {
        std::erase_if(options.backends, [&](Backend backend) {
            return std::find(arguments.backends.begin(), arguments.backends.end(), name_of(backend)) ==
                   arguments.backends.end();
        });
    }
    return options;
}

std::vector<Backend> backends_of_one_device(const std::vector<std::string>& names, bool has_gpu) {
    const auto asked = [&](Backend backend) { return std::find(names.begin(), names.end(), name_of(backend)) != names.end(); };
    std::vector<Backend> host{Backend::kokkos, Backend::eigen, Backend::cpu};
    std::vector<Backend> gpu{Backend::cuda, Backend::cusparse};
    const bool on_host = std::any_of(host.begin(), host.end(), asked);
    const bool on_gpu = std::any_of(gpu.begin(), gpu.end(), asked);
    if (on_host && on_gpu) {
        throw RecipeError(
            fmt::format("--backend {}: backends of a CPU and of a GPU; expected those of one of them, whose times "
                        "can be compared",
                        fmt::join(names, ",")));
    }
    if (on_gpu && !has_gpu) throw MachineError(fmt::format("--backend {}: {}", fmt::join(names, ","), cuda_absence_reason()));
    std::vector<Backend> backends = on_gpu || (!on_host && has_gpu) ? gpu : host;
    const auto always = [](Backend backend) { return backend == Backend::eigen || backend == Backend::cusparse; };
    if (!names.empty()) std::erase_if(backends, [&](Backend backend) { return !asked(backend) && !always(backend); });
    return backends;
}

std::unique_ptr<Device> gpu_for(const MeasuringArguments& arguments, const RunOptions& options, std::string& note) {
    const bool wanted = std::any_of(options.backends.begin(), options.backends.end(),
                                    [](Backend backend) { return device_of(backend) == DeviceKind::gpu; });
    if (!wanted) return nullptr;
    std::unique_ptr<Device> gpu = make_cuda_device();
    if (gpu == nullptr && !arguments.backends.empty()) {
        throw MachineError(fmt::format("--backend {}: {}", fmt::join(arguments.backends, ","), cuda_absence_reason()));
    }
    if (gpu == nullptr) note = fmt::format("no GPU kernels: {}", cuda_absence_reason());
    return gpu;
}

void add_measuring_options(CLI::App& command, MeasuringArguments& arguments) {
    command.add_option("--precision", arguments.precision, "f32, f64 or both")
        ->check(CLI::IsMember({"f32", "f64", "both"}))
        ->type_name("WHICH")
        ->capture_default_str();
    command
        .add_option("--backend", arguments.backends,
                    "Only these backends: kokkos, eigen, cpu, cuda, cusparse (default: all there are)")
        ->check(CLI::IsMember({"kokkos", "eigen", "cpu", "cuda", "cusparse"}))
        ->delimiter(',')
        ->type_name("LIST");
    command.add_option("--only", arguments.only, "Only the kernel of this name, and the baselines")->type_name("KERNEL");
    CLI::Option* cache =
        command.add_option("--cache", arguments.cache, "cold: caches are flushed before every sample; warm: not")
            ->check(CLI::IsMember({"cold", "warm"}))
            ->type_name("WHICH")
            ->capture_default_str();
    command
        .add_option(
            "--inside", arguments.inside,
            "cg: each sample is the product of an iteration of conjugate gradients, caches as its other steps leave them")
        ->check(CLI::IsMember({"cg"}))
        ->type_name("METHOD")
        ->excludes(cache);
    command.add_option("--samples", arguments.samples, "Timed samples a kernel, at least, if they take no more than some 2 s")
        ->check(CLI::Range(1, 1000000))
        ->type_name("COUNT")
        ->capture_default_str();
    command.add_option("--seconds", arguments.seconds, "Sum of the samples in seconds, at least, under the same condition")
        ->check(CLI::Range(0.0, 3600.0))
        ->type_name("SECONDS")
        ->capture_default_str();
}

}  // namespace workbench
