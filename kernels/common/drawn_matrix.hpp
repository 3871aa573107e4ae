// The matrix that every layout draws its arrays for, at the head of the drawing that `explain` prints.
#pragma once

#include <string_view>

namespace workbench {

inline constexpr std::string_view drawn_matrix =
    R"(       0  1  2  3  4  5
  0 [  1  2  3  .  .  . ]
  1 [  .  4  5  .  6  . ]
  2 [  .  .  7  .  .  . ]
  3 [  .  .  .  8  .  9 ]
  4 [ 10  .  .  . 11 12 ]
  5 [  .  .  .  .  . 13 ]
)";

}  // namespace workbench
