// The ranks of a test program and their devices.
#pragma once

#include <functional>

#include "core/contract/links.hpp"

namespace workbench {

[[nodiscard]] Ranks& test_ranks();

/// Calls check on the hosts, and on GPUs if each rank has one.
void on_each_device(const std::function<void(Device&, Links&)>& check);

}  // namespace workbench
