// Real matrices, which are not part of the sources.
#pragma once

#include <filesystem>
#include <string_view>

namespace workbench {

/// The folder of matrices: $WORKBENCH_TEST_DATA, or shared/data next to the checkout. Empty, with a message, if there is none.
[[nodiscard]] std::filesystem::path data_folder(std::string_view name);

}  // namespace workbench
