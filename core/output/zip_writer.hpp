// Writer of zip archives with uncompressed members, for .npz files of any size.
// Source: PKWARE, ".ZIP file format specification" (APPNOTE.TXT) 6.3.4, sections 4.3 and 4.5.3. libarchive is not used to
// write: its zip writer refers to its writers of all formats, and so to libxml2 (docs/results/libraries.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/whole_file.hpp"

namespace workbench {

[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// All sizes and offsets use the 64-bit records. Members have no date, so equal members make equal files.
class ZipWriter {
public:
    explicit ZipWriter(WholeFile& file) : file_(file) {}

    /// Adds a member with the concatenated `pieces`.
    void add(const std::string& name, const std::vector<std::span<const std::byte>>& pieces);

    /// Writes the directory; must be called last.
    void finish();

private:
    void write(const std::string& bytes);

    WholeFile& file_;
    std::uint64_t written_ = 0;
    std::string directory_;
    std::uint64_t members_ = 0;
};

}  // namespace workbench
