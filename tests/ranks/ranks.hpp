// The ranks that a test program is run over, and the devices that all of them have.
#pragma once

#include <functional>

#include "pipeline/contract/links.hpp"

namespace workbench {

[[nodiscard]] Ranks& test_ranks();

/// Calls check on the host, and on GPUs where each rank has one.
void on_each_device(const std::function<void(Device&, Links&)>& check);

}  // namespace workbench
