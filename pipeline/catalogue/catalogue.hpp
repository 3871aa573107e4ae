// The list of all stages, layouts and generators.
#pragma once

#include "core/contract/catalogue.hpp"

namespace workbench {

[[nodiscard]] const Catalogue& catalogue();

}  // namespace workbench
