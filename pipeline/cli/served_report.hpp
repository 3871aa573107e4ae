// The report that the live page shows.
#pragma once

#include <string>

#include "pipeline/cli/measuring.hpp"

namespace workbench {

/// Runs a recipe and returns its report as a page, without files. `timed`: with its kernels. Throws UserError. The process must
/// not have started Kokkos.
[[nodiscard]] std::string served_report(const MeasuringArguments& arguments, const Recipe& recipe, bool timed);

}  // namespace workbench
