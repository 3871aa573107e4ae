// The reads of the threads of a layout's CUDA kernel, for tests of which thread reads what.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "core/contract/layout.hpp"

namespace workbench {

template <ValueType Value>
void for_each_read_of(const LayoutEntry& entry, const std::string& kernel, const Layout<Value>& layout,
                      const std::function<void(const Read&)>& visit) {
    for (const ScheduleEntry& schedule : entry.schedules) {
        if (schedule.kernel == kernel) return schedule.walk.get<Value>()(layout, visit);
    }
    throw std::out_of_range("no schedule '" + kernel + "'");
}

}  // namespace workbench
