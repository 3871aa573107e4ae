// Zip archives whose members are stored as they are, for .npz files of any size.
// Source: PKWARE, ".ZIP file format specification" (APPNOTE.TXT) 6.3.4, sections 4.3 and 4.5.3. Written here because Debian's
// static libarchive cannot write a zip without libxml2, and the shared one brings 31 MB of libraries with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/whole_file.hpp"

namespace workbench {

/// Sizes and places are in the archive's 64-bit form throughout. Members carry no date: equal members make equal files.
class ZipWriter {
public:
    explicit ZipWriter(WholeFile& file) : file_(file) {}

    /// A member made of `pieces`, one after the other.
    void add(const std::string& name, const std::vector<std::span<const std::byte>>& pieces);

    /// Writes the directory. The last thing to be called.
    void finish();

private:
    void write(const std::string& bytes);

    WholeFile& file_;
    std::uint64_t written_ = 0;
    std::string directory_;
    std::uint64_t members_ = 0;
};

}  // namespace workbench
