// The nodes of a regular grid, numbered with x fastest.
#pragma once

#include <array>
#include <cstdint>

#include "core/matrix/types.hpp"

namespace workbench {

struct Grid {
    using Place = std::array<std::int64_t, 3>;

    Place lengths{1, 1, 1};  // nodes along x, y and z

    [[nodiscard]] std::int64_t nodes() const { return lengths[0] * lengths[1] * lengths[2]; }

    [[nodiscard]] Place place(std::int64_t node) const {
        return {node % lengths[0], node / lengths[0] % lengths[1], node / lengths[0] / lengths[1]};
    }

    /// The number of the node at `place`. The function is linear, so number(step) is the difference between two nodes that are
    /// `step` apart.
    [[nodiscard]] std::int64_t number(const Place& place) const {
        return place[0] + lengths[0] * (place[1] + lengths[1] * place[2]);
    }

    [[nodiscard]] bool has(const Place& place) const {
        for (int axis = 0; axis < 3; ++axis) {
            if (place[axis] < 0 || place[axis] >= lengths[axis]) return false;
        }
        return true;
    }
};

[[nodiscard]] inline Grid::Place operator+(const Grid::Place& a, const Grid::Place& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

}  // namespace workbench
