// The points of a space that a bench measures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/recipe/space.hpp"

namespace workbench {

/// `wanted` different numbers below `all`, in an order in which each first part of the list is spread evenly: multiples of the
/// golden ratio modulo 1 (Knuth, The Art of Computer Programming 3, section 6.4). All numbers in ascending order if there are
/// no more.
[[nodiscard]] std::vector<std::uint64_t> spread_numbers(std::uint64_t all, std::size_t wanted);

/// The recipes of at most `wanted` points. Those of a smaller number are among those of a larger one, so that a bench can be
/// continued with more points.
[[nodiscard]] std::vector<Recipe> spread_points(const Space& space, std::size_t wanted);

}  // namespace workbench
