// Real matrices, which are no part of the sources.
#pragma once

#include <filesystem>
#include <string_view>

namespace workbench {

/// A folder of them: in $WORKBENCH_TEST_DATA, or in shared/data beside the checkout. Empty, with a message, where there is
/// none.
[[nodiscard]] std::filesystem::path data_folder(std::string_view name);

}  // namespace workbench
