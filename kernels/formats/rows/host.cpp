// The kernel of the host, apart from any_rows.cpp because each of the two takes as long to compile.
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/common/schedule/host_vectors.hpp"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {

KernelEntry host_kernel_of_rows(std::string name, std::string summary) {
    KernelEntry kernel = host_rows<AnyRowsLayout, RowsOnHost>(std::move(name), std::move(summary));
    kernel.prepare_vectors = host_vectors_of<AnyRowsLayout, RowsOnHost>();
    return kernel;
}

}  // namespace workbench
