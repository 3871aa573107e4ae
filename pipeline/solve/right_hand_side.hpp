// The right-hand side b of A x = b.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// ones: every element is 1. random: hashed multiples of 2^-20 in [-1, 1). file: a matrix file with one column.
struct RightHandSide {
    enum class Kind { ones, random, file };
    Kind kind = Kind::ones;
    std::uint32_t seed = 1;
    std::filesystem::path file = {};

    /// "ones", "random (seed 3)", "b.mtx"
    [[nodiscard]] std::string text() const;
};

/// b, [rows]. Throws InputError if the file cannot be read or its matrix is not rows x 1.
[[nodiscard]] std::vector<double> make_right_hand_side(const RightHandSide& choice, Index rows);

}  // namespace workbench
