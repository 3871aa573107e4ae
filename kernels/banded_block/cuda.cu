#include "kernels/banded_block/layout.hpp"
#include "kernels/common/schedule/device_rows.cuh"

template struct workbench::CudaRows<workbench::BandedBlockLayout, workbench::BandRow>;
