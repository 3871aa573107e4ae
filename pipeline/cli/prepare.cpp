#include "pipeline/cli/prepare.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/common/device/cuda_device.hpp"
#include "kernels/prepare/gpu_preparer.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {

void add_prepare_option(CLI::App& command, std::string& where) {
    command
        .add_option("--prepare", where,
                    "gpu: the GPU sorts, reorders, splits and slices for stages and layouts, with the same results to the bit")
        ->check(CLI::IsMember({"cpu", "gpu"}))
        ->type_name("WHERE")
        ->capture_default_str();
}

std::unique_ptr<Preparer> preparer_for(const std::string& where) {
    if (where != "gpu") return nullptr;
    std::unique_ptr<Preparer> preparer = make_gpu_preparer();
    if (preparer == nullptr) throw MachineError(fmt::format("--prepare gpu: {}", cuda_absence_reason()));
    return preparer;
}

}  // namespace workbench
