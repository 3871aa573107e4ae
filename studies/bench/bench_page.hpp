// The page of a bench: ranking, charts and all measurements in one HTML file.
#pragma once

#include <string>
#include <vector>

#include "studies/bench/judgement.hpp"
#include "studies/bench/records.hpp"

namespace workbench {

/// The HTML text. `command`: the command line shown on the page; may be empty. `judgement`: that of a kernel, or
/// null. Throws MachineError if memory runs out.
[[nodiscard]] std::string bench_page(const std::vector<Record>& records, const std::string& title, const std::string& command,
                                     const Judgement* judgement = nullptr);

}  // namespace workbench
