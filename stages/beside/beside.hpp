// The stages of this folder, whose results come from files and code beside the recipe. pipeline/catalogue lists them.
#pragma once

#include "core/contract/stage.hpp"

namespace workbench {

[[nodiscard]] StageEntry imported_stage();
[[nodiscard]] StageEntry program_stage();
[[nodiscard]] StageEntry source_stage();

}  // namespace workbench
