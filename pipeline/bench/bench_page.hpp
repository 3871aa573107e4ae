// The page of a bench: ranking, charts and all measurements in one file for a browser.
#pragma once

#include <string>
#include <vector>

#include "pipeline/bench/records.hpp"

namespace workbench {

/// The file. `command`: that was given; empty: not known. Throws MachineError where memory runs out.
[[nodiscard]] std::string bench_page(const std::vector<Record>& records, const std::string& title, const std::string& command);

}  // namespace workbench
