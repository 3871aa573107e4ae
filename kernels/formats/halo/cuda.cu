#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/halo/kernel.cuh"

template struct workbench::CudaLoop<workbench::HaloLayout, workbench::halo::PartsKernel>;
