#include "kernels/common/compilation/kernel_instance.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <map>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"
#include "core/system/compile.hpp"
#include "kernels/common/compilation/checked_driver.hpp"
#include "kernels/common/compilation/compile.hpp"
#include "kernels/device/cuda_device.hpp"

namespace workbench {
namespace {

/// The file of the program; empty: there is none of this name.
std::filesystem::path file_in_program(const std::string& name) {
    for (const char* const ending : {"", "/layout.hpp", ".hpp"}) {
        std::filesystem::path file = headers_folder() / "kernels/formats" / (name + ending);
        std::error_code ignored;
        if (std::filesystem::is_regular_file(file, ignored)) return file;
    }
    return {};
}

/// Compiled once in a run. A file does not change while it is loaded.
const GpuKernelImage& compiled(const KernelInstance& instance, const std::string& architecture) {
    static std::map<std::string, GpuKernelImage> all;
    const std::string name = "workbench::" + instance.name;
    const std::string key = fmt::format("{}: {} {}", instance.file, architecture, name);
    if (const auto known = all.find(key); known != all.end()) return known->second;
    const std::filesystem::path in_program = file_in_program(instance.file);
    const bool is_one_of_several = !instance.for_one_vector || !in_program.empty();
    if (const std::string why = nvrtc_absence_reason(); !why.empty() && is_one_of_several) {
        throw Unsuitable("the program has no kernel for these " +
                         std::string(instance.for_one_vector ? "values or threads" : "vectors") +
                         ", and would compile it now; " + why);  // costs this kernel only
    }
    const std::filesystem::path file = in_program.empty() ? std::filesystem::path(instance.file) : in_program;
    const auto begin = std::chrono::steady_clock::now();
    const auto& added = all.emplace(key, compile_instance_for_gpu(file, headers_folder(), name, architecture));
    seconds_of_compiling_kernels() += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return added.first->second;
}

class DriverKernel final : public LoadedKernel {
public:
    DriverKernel(const GpuKernelImage& image, void* stream) : function_(image.image, image.function.c_str()), stream_(stream) {}

    void launch(Offset blocks, int threads_of_block, unsigned shared_bytes, void** arguments) override {
        if (blocks > std::numeric_limits<std::int32_t>::max()) {
            throw Unsuitable(
                fmt::format("the kernel has {} blocks of {} threads, more than a GPU can launch", blocks, threads_of_block));
        }
        check_driver(
            checked_driver().launch(function_.get(), static_cast<unsigned>(blocks), 1, 1,
                                    static_cast<unsigned>(threads_of_block), 1, 1, shared_bytes, stream_, arguments, nullptr),
            "cuLaunchKernel");
    }

private:
    LoadedFunction function_;
    void* stream_;
};

}  // namespace

const std::string& compile_instance(const KernelInstance& instance, const std::string& architecture) {
    return compiled(instance, architecture.empty() ? gpu_architecture() : architecture).image;
}

std::unique_ptr<LoadedKernel> load_instance(const KernelInstance& instance, Device& device) {
    return std::make_unique<DriverKernel>(compiled(instance, gpu_architecture()), stream_of(device));
}

}  // namespace workbench
