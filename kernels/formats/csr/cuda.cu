#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/csr/layout.hpp"

template struct workbench::CudaRows<workbench::CsrLayout, workbench::CsrVector>;
template struct workbench::CudaRows<workbench::CsrLayout, workbench::CompressedRows<1>>;
