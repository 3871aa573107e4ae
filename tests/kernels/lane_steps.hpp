// A demand on layouts that name the thread that reads a slot.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// Demands that no two slots are read by one lane in one step.
template <ValueType Value>
void check_lane_steps(const Layout<Value>& layout) {
    std::set<std::tuple<std::int64_t, int, std::int64_t>> seen;
    std::size_t slots = 0;
    layout.for_each_slot([&](const Slot& slot) {
        ++slots;
        seen.insert({slot.warp, slot.lane, slot.step});
        CHECK((slot.lane >= 0 && slot.lane < 32));
    });
    CHECK(seen.size() == slots);
}

}  // namespace workbench
