#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/csr/merge.cuh"

template struct workbench::CudaLoop<workbench::CsrLayout, workbench::csr_merge::SharesKernel>;
