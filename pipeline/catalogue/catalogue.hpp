// The list of all stages, layouts and generators.
#pragma once

#include "pipeline/contract/catalogue.hpp"

namespace workbench {

[[nodiscard]] const Catalogue& catalogue();

}  // namespace workbench
