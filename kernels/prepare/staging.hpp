// Copies between pageable arrays and pinned memory with all cores, because one core is slower than the link to the GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/matrix/types.hpp"

namespace workbench {

void copy_together(void* to, const void* from, std::size_t bytes);

/// Converts offsets below 2^32 to 32 bits and back.
void narrow_together(std::uint32_t* to, const Offset* from, std::size_t count);
void widen_together(Offset* to, const std::uint32_t* from, std::size_t count);

}  // namespace workbench
