#include "frontends/cli/measuring.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "frontends/cli/command.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/gpu/gpu.hpp"

namespace workbench {

RunOptions options_of(const MeasuringArguments& arguments) {
    check_finite("--seconds", arguments.seconds);
    RunOptions options;
    options.precisions = {precision_named(arguments.precision)};
    if (arguments.precision == "both") options.precisions = {Precision::f64, Precision::f32};
    options.only = arguments.only;
    options.timing.cache = arguments.cache == "cold" ? CacheState::cold : CacheState::warm;
    if (arguments.inside == "cg") options.timing.cache = CacheState::inside_cg;
    options.vectors = arguments.vectors;
    if (options.vectors > 1 && options.timing.cache == CacheState::inside_cg) {
        throw RecipeError("--inside cg times products with one vector; expected no --vectors");
    }
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
        throw RecipeError(fmt::format(
            "--backend {}: these run on different devices; expected backends of the CPU or of the GPU", fmt::join(names, ",")));
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

void add_vectors_option(CLI::App& command, int& vectors) {
    add_number(command, "--vectors", vectors, Range{1, most_vectors, "COUNT"},
               "Multiply COUNT vectors at a time, Y = A X, whose elements alternate in memory");
}

void add_measuring_options(CLI::App& command, MeasuringArguments& arguments) {
    add_choice(command, "--precision", arguments.precision, {"f32", "f64", "both"}, "f32, f64 or both");
    add_backends(command, arguments.backends, "Use only these backends (default: all available)");
    command.add_option("--only", arguments.only, "Run only the kernel of this name, and the baselines")->type_name("KERNEL");
    CLI::Option* cache = add_choice(command, "--cache", arguments.cache, {"cold", "warm"},
                                    "warm: as the kernel's last product left them; cold: flush them before every sample");
    add_choice(command, "--inside", arguments.inside, {"cg"},
               "cg: time products within CG iterations, with the caches as the vector operations leave them")
        ->excludes(cache);
    add_vectors_option(command, arguments.vectors);
    add_number(command, "--samples", arguments.samples, Range{1, 1000000, "COUNT"},
               "Minimum number of samples per kernel, unless they take more than 2 s");
    add_number(command, "--seconds", arguments.seconds, Range{0.0, 3600.0, "SECONDS"},
               "Minimum total time of a kernel's samples, within the same limit");
}

}  // namespace workbench
