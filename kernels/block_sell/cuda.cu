#include "kernels/block_sell/kernel.cuh"
#include "kernels/common/entry/cuda_loop.cuh"

template struct workbench::CudaLoop<workbench::BlockSellLayout, workbench::block_sell::WarpsKernel>;
