#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/halo/kernel.cuh"

template struct workbench::CudaLoop<workbench::HaloLayout, workbench::halo::PartsKernel>;
