#include "kernels/bccoo/kernel.cuh"
#include "kernels/common/entry/cuda_loop.cuh"

template struct workbench::CudaLoop<workbench::BccooLayout, workbench::bccoo::LanesKernel>;
