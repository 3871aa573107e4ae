#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/banded_block/layout.hpp"

template struct workbench::CudaRows<workbench::BandedBlockLayout, workbench::BandRow>;
