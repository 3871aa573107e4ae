// Checksums of texts and files, for names and keys of files that are kept.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace workbench {

/// 32 hexadecimal digits of 128 bits (XXH3).
[[nodiscard]] std::string checksum_of(std::string_view bytes);

/// The checksum of the contents; empty if the file cannot be read.
[[nodiscard]] std::string checksum_of_file(const std::filesystem::path& file);

}  // namespace workbench
