// Comparison of texts with stored ones, byte for byte.
#pragma once

#include <filesystem>
#include <string>

namespace workbench {

/// The contents of the file; empty if there is none.
[[nodiscard]] std::string file_text(const std::filesystem::path& file);

/// Checks that the file contains the text. WORKBENCH_UPDATE_GOLDEN=1 writes the file instead; review it before committing.
void compare_with_golden(const std::filesystem::path& file, const std::string& text);

}  // namespace workbench
