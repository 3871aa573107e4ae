#include "kernels/source/rows_kernel.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <map>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"
#include "core/system/compile.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/source/checked_driver.hpp"
#include "kernels/source/compile.hpp"

namespace workbench {
namespace {

/// The file of a format of the program; empty: there is none of this name.
std::filesystem::path file_in_program(const std::string& format) {
    for (const char* const ending : {"/layout.hpp", ".hpp"}) {
        std::filesystem::path file = headers_folder() / "kernels/formats" / (format + ending);
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored)) return file;
    }
    return {};
}

/// Compiled once in a run. A file does not change while it is loaded.
const GpuKernelImage& compiled_rows(const RowsKernelName& name, const std::string& architecture) {
    static std::map<std::string, GpuKernelImage> all;
    const std::string types = fmt::format("{}, {}, {}", name.schedule, name.arrays, name.value);
    const std::string instance = name.vectors == 1
                                     ? fmt::format("workbench::multiply_rows<{}>", types)
                                     : fmt::format("workbench::multiply_rows_of_vectors<{}, {}>", types, name.vectors);
    const std::string key = fmt::format("{}: {} {}", name.file, architecture, instance);
    if (const auto known = all.find(key); known != all.end()) return known->second;
    const std::filesystem::path in_program = file_in_program(name.file);
    if (const std::string why = nvrtc_absence_reason(); !why.empty() && (name.vectors > 1 || !in_program.empty())) {
        throw Unsuitable("the program has no kernel for these " +
                         std::string(name.vectors > 1 ? "vectors" : "values or threads") + ", and would compile it now; " +
                         why);  // costs this kernel only
    }
    const std::filesystem::path file = in_program.empty() ? std::filesystem::path(name.file) : in_program;
    const auto begin = std::chrono::steady_clock::now();
    const auto& compiled = all.emplace(key, compile_instance_for_gpu(file, headers_folder(), instance, architecture));
    seconds_of_compiling_kernels() += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return compiled.first->second;
}

class DriverRowsKernel final : public LoadedRowsKernel {
public:
    DriverRowsKernel(const GpuKernelImage& image, void* stream)
        : function_(image.image, image.function.c_str()), stream_(stream) {}

    void launch(Offset threads, unsigned shared_bytes, void** arguments) override {
        const Offset blocks = (threads + row_threads - 1) / row_threads;
        if (blocks > std::numeric_limits<std::int32_t>::max()) {
            throw Unsuitable(fmt::format("the schedule has {} threads, more than a GPU can launch", threads));
        }
        check_driver(checked_driver().launch(function_.get(), static_cast<unsigned>(blocks), 1, 1, row_threads, 1, 1,
                                             shared_bytes, stream_, arguments, nullptr),
                     "cuLaunchKernel");
    }

    void zero(void* memory, std::size_t bytes) override {
        if (bytes == 0) return;
        check_driver(checked_driver().fill_on_stream(reinterpret_cast<DriverAddress>(memory), 0, bytes, stream_),
                     "cuMemsetD8Async");
    }

private:
    LoadedFunction function_;
    void* stream_;
};

}  // namespace

const std::string& compile_rows_kernel(const RowsKernelName& name, const std::string& architecture) {
    return compiled_rows(name, architecture.empty() ? gpu_architecture() : architecture).image;
}

std::unique_ptr<LoadedRowsKernel> load_rows_kernel(const RowsKernelName& name, Device& device) {
    return std::make_unique<DriverRowsKernel>(compiled_rows(name, gpu_architecture()), stream_of(device));
}

}  // namespace workbench
