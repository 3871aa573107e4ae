#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/formats/csr16/layout.hpp"

template struct workbench::CudaRows<workbench::Csr16Layout, workbench::Csr16Rows<8>>;
