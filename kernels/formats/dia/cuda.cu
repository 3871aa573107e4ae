#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/dia/layout.hpp"

template struct workbench::CudaRows<workbench::DiaLayout, workbench::DiaRows>;
