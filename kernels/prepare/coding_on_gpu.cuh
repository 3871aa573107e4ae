// The codings of values that are on the GPU (kernels/common/storage/coded_values.hpp), which are those of the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/precision.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// Like distinct_values, for values on the GPU. Waits for the stream.
template <ValueType Value>
[[nodiscard]] std::optional<std::vector<Value>> distinct_on_gpu(Device& device, const Value* values, std::size_t count,
                                                                Offset most, cudaStream_t stream);

/// Like are_exact_in_f32. Waits for the stream.
[[nodiscard]] bool are_exact_in_f32_on_gpu(Device& device, const double* values, std::size_t count, cudaStream_t stream);

}  // namespace workbench
