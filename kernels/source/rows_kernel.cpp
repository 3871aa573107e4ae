#include "kernels/source/rows_kernel.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/source/checked_driver.hpp"
#include "kernels/source/compile.hpp"

namespace workbench {
namespace {

/// Compiled once in a run. A file does not change while it is loaded.
const GpuKernelImage& compiled_rows(const char* file, const RowsKernelName& name) {
    static std::map<std::string, GpuKernelImage> all;
    const std::string instance = fmt::format("workbench::multiply_rows<{}, {}, {}>", name.schedule, name.arrays, name.value);
    const std::string key = fmt::format("{}: {}", file, instance);
    if (const auto known = all.find(key); known != all.end()) return known->second;
    return all.emplace(key, compile_instance_for_gpu(file, headers_folder(), instance, gpu_architecture())).first->second;
}

class DriverRowsKernel final : public LoadedRowsKernel {
public:
    DriverRowsKernel(const GpuKernelImage& image, void* stream)
        : function_(image.image, image.function.c_str()), stream_(stream) {}

    void launch(Offset threads, void** arguments) override {
        const Offset blocks = (threads + row_threads - 1) / row_threads;
        if (blocks > std::numeric_limits<std::int32_t>::max()) {
            throw Unsuitable(fmt::format("the schedule has {} threads, more than a GPU can launch", threads));
        }
        check_driver(checked_driver().launch(function_.get(), static_cast<unsigned>(blocks), 1, 1, row_threads, 1, 1, 0,
                                             stream_, arguments, nullptr),
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

const std::string& compile_rows_kernel(const char* file, const RowsKernelName& name) { return compiled_rows(file, name).image; }

std::unique_ptr<LoadedRowsKernel> load_rows_kernel(const char* file, const RowsKernelName& name, Device& device) {
    return std::make_unique<DriverRowsKernel>(compiled_rows(file, name), stream_of(device));
}

}  // namespace workbench
