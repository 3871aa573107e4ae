// Checksums of texts and files, for names and keys of files that are kept.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace workbench {

/// The checksum of bytes that come one after the other.
class Checksum {
public:
    Checksum();

    void add(const void* data, std::size_t bytes);
    /// 32 hexadecimal digits of 128 bits (XXH3).
    [[nodiscard]] std::string text() const;

private:
    std::unique_ptr<void, void (*)(void*)> state_;
};

/// 32 hexadecimal digits of 128 bits (XXH3).
[[nodiscard]] std::string checksum_of(std::string_view bytes);

/// The checksum of the contents; empty if the file cannot be read.
[[nodiscard]] std::string checksum_of_file(const std::filesystem::path& file);

}  // namespace workbench
