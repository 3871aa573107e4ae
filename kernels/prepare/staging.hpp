// Copies between a program's arrays and the memory that a GPU reads and writes itself, by all cores: one core alone is slower
// than the way to the GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pipeline/matrix/types.hpp"

namespace workbench {

void copy_together(void* to, const void* from, std::size_t bytes);

/// Offsets below 2^32 as 32 bits, and back.
void narrow_together(std::uint32_t* to, const Offset* from, std::size_t count);
void widen_together(Offset* to, const std::uint32_t* from, std::size_t count);

}  // namespace workbench
