// The kernels of the host of all layouts of rows but csr, which share their loops. They are apart from build.cpp and others
// because they take as long to compile as all of these.
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/common/schedule/host_vectors.hpp"
#include "kernels/formats/rows/variants.hpp"

namespace workbench {

template <template <typename> typename LayoutOf>
KernelEntry host_kernel_of_rows(std::string name, std::string summary) {
    KernelEntry kernel = host_rows<LayoutOf, RowsOnHost>(std::move(name), std::move(summary));
    kernel.prepare_vectors = host_vectors_of<LayoutOf, RowsOnHost>();
    return kernel;
}

template KernelEntry host_kernel_of_rows<AnyRowsLayout>(std::string, std::string);
template KernelEntry host_kernel_of_rows<Csr16Layout>(std::string, std::string);
template KernelEntry host_kernel_of_rows<EllLayout>(std::string, std::string);
template KernelEntry host_kernel_of_rows<EllrLayout>(std::string, std::string);
template KernelEntry host_kernel_of_rows<JdsLayout>(std::string, std::string);

}  // namespace workbench
