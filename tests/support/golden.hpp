// Texts that are compared with stored ones to the byte.
#pragma once

#include <filesystem>
#include <string>

namespace workbench {

/// The whole file; empty where there is none.
[[nodiscard]] std::string file_text(const std::filesystem::path& file);

/// Checks that the file holds the text. WORKBENCH_UPDATE_GOLDEN=1 writes the file instead, to be looked at before it is
/// committed.
void compare_with_golden(const std::filesystem::path& file, const std::string& text);

}  // namespace workbench
