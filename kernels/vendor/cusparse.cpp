#include "kernels/vendor/cusparse.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/contract/errors.hpp"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/cuda_device.hpp"
#include "kernels/vendor/open_module.hpp"

namespace workbench {
namespace {

const CusparseModule& open_module() {
    const ModuleFunction found = find_in_module(cusparse_module_file, cusparse_module_function);
    if (found.address == nullptr) throw Unsuitable(fmt::format("cuSPARSE is not available: {}", found.absence));
    return *reinterpret_cast<GetCusparseModule>(found.address)();
}

}  // namespace

std::string cusparse_version() {
    const ModuleFunction found = find_in_module(cusparse_module_file, cusparse_module_function);
    return found.address == nullptr ? "" : reinterpret_cast<GetCusparseModule>(found.address)()->version();
}

void require_cusparse(Offset nonzeros) {
    if (nonzeros == 0) throw Unsuitable("cuSPARSE is not asked for a matrix without nonzeros");
    (void)open_module();
}

void require_32_bits(Offset count, const std::string& things) {
    if (count <= std::numeric_limits<std::int32_t>::max()) return;
    throw Unsuitable(fmt::format("cuSPARSE is used with 32-bit indices; the matrix has {} {}", count, things));
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_cusparse(CusparseMatrix matrix, Device& device, int vectors) {
    return open_module().prepare.get<Value>()(std::move(matrix), vectors, device, cuda_device(device).stream());
}

template std::unique_ptr<Kernel<float>> prepare_cusparse(CusparseMatrix, Device&, int);
template std::unique_ptr<Kernel<double>> prepare_cusparse(CusparseMatrix, Device&, int);

}  // namespace workbench
