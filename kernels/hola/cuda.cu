#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/hola/kernel.cuh"

template struct workbench::CudaLoop<workbench::HolaLayout, workbench::hola::SharesKernel>;
