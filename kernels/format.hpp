// The only include of a format in one file (docs/format_in_one_file.md). NVRTC, which compiles the CUDA kernel of its schedule,
// gets only what kernels need.
#pragma once

#ifdef __CUDACC_RTC__
#include "kernels/common/schedule/rows_kernel.cuh"
#else
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/schemes/slices.hpp"
#endif
