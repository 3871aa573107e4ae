// Reorders a matrix that is on the GPU and stores it there in sliced ELL: of rows, of rows of blocks, or by parts.
#pragma once

#include "core/contract/device.hpp"
#include "core/contract/sliced_on_device.hpp"

namespace workbench {

/// For the SlicedMaker of a GPU.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<SlicedMatrix<Value>> make_sliced_on_gpu(const SlicedRequest& request,
                                                                      const CsrOnDevice<Value>& matrix, Device& device);

/// For SlicedMatrix::difference of a GPU.
template <ValueType Value>
[[nodiscard]] std::string difference_on_gpu(SlicedMatrix<Value>& sliced, const CsrOnDevice<Value>& matrix, Device& device);

}  // namespace workbench
