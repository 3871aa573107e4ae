// All stages, layouts and generators there are.
#pragma once

#include "pipeline/contract/catalogue.hpp"

namespace workbench {

[[nodiscard]] const Catalogue& catalogue();

}  // namespace workbench
