// cuSPARSE's kernels, through the module that is linked with it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "kernels/common/cuda_device.cuh"
#include "kernels/csr/cusparse_module.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

/// Beside the program: in an installed tree bin/../lib, in a build tree lib.
std::filesystem::path find_module() {
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const auto& candidate : {folder / ".." / "lib" / cusparse_module_file, folder / "lib" / cusparse_module_file}) {
        if (std::filesystem::exists(candidate)) return candidate;
    }
    throw Unsuitable(fmt::format("cuSPARSE is not available: {} is not in {}/../lib or {}/lib", cusparse_module_file,
                                 folder.string(), folder.string()));
}

/// Never closed: the kernels that it prepares live on its code.
const CusparseModule& open_module() {
    void* const module = dlopen(find_module().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) throw Unsuitable(fmt::format("cuSPARSE is not available: {}", dlerror()));
    void* const function = dlsym(module, cusparse_module_function);
    if (function == nullptr) throw Unsuitable(fmt::format("cuSPARSE is not available: {}", dlerror()));
    return *reinterpret_cast<GetCusparseModule>(function)();
}

template <CusparseFormat format, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& matrix = dynamic_cast<const CsrLayout<Value>&>(layout);
    // cuSPARSE refuses some of these and not others; a time for them would say nothing of it.
    if (matrix.nonzeros() == 0) throw Unsuitable("cuSPARSE is not asked for a matrix without nonzeros");
    return open_module().prepare.get<Value>()(format, matrix, device, cuda_device(device).stream());
}

template <CusparseFormat format>
KernelEntry entry(std::string name, std::string summary) {
    return {std::move(name), Backend::cusparse, std::move(summary), {prepare<format, float>, prepare<format, double>}};
}

}  // namespace

std::vector<KernelEntry> csr_cusparse_kernels() {
    return {
        entry<CusparseFormat::csr_alg1>("csr_alg1", "cusparseSpMV on CSR, CUSPARSE_SPMV_CSR_ALG1"),
        entry<CusparseFormat::csr_alg2>("csr_alg2", "cusparseSpMV on CSR, CUSPARSE_SPMV_CSR_ALG2"),
        entry<CusparseFormat::coo>("coo", "cusparseSpMV on sorted coordinates, CUSPARSE_SPMV_COO_ALG1"),
        entry<CusparseFormat::sell>("sell", "cusparseSpMV on sliced ELL of slice height 32, CUSPARSE_SPMV_SELL_ALG1"),
        entry<CusparseFormat::bsr>("bsr", "cusparseSpMV on blocks of 2 x 2, 3 x 3 or 4 x 4, whichever take least memory"),
    };
}

}  // namespace workbench
