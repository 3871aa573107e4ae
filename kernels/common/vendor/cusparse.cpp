#include "kernels/common/vendor/cusparse.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "kernels/common/device/beside_program.hpp"
#include "kernels/common/device/cuda_device.cuh"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

std::filesystem::path find_module() {
    if (const auto found = find_beside_program(cusparse_module_file)) return *found;
    throw Unsuitable(
        fmt::format("cuSPARSE is not available: {} is not in lib/spmv-workbench beside the folder of the program, {}",
                    cusparse_module_file, program_folder().string()));
}

/// Never closed: the kernels that it prepares live on its code.
const CusparseModule& open_module() {
    void* const module = dlopen(find_module().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) throw Unsuitable(fmt::format("cuSPARSE is not available: {}", dlerror()));
    void* const function = dlsym(module, cusparse_module_function);
    if (function == nullptr) throw Unsuitable(fmt::format("cuSPARSE is not available: {}", dlerror()));
    return *reinterpret_cast<GetCusparseModule>(function)();
}

}  // namespace

void require_cusparse(Offset nonzeros) {
    if (nonzeros == 0) throw Unsuitable("cuSPARSE is not asked for a matrix without nonzeros");
    (void)open_module();
}

void require_32_bits(Offset count, const std::string& things) {
    if (count <= std::numeric_limits<std::int32_t>::max()) return;
    throw Unsuitable(fmt::format("cuSPARSE is used with 32-bit indices; the matrix has {} {}", count, things));
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_cusparse(CusparseMatrix matrix, Device& device) {
    return open_module().prepare.get<Value>()(std::move(matrix), device, cuda_device(device).stream());
}

template std::unique_ptr<Kernel<float>> prepare_cusparse(CusparseMatrix, Device&);
template std::unique_ptr<Kernel<double>> prepare_cusparse(CusparseMatrix, Device&);

}  // namespace workbench
