// Byte sources on top of zlib and libarchive; byte_source.hpp chooses between them.
#pragma once

#include <memory>
#include <string_view>

#include "pipeline/input/byte_source.hpp"

namespace workbench {

/// zlib rather than libarchive, which does not compare the check sums of gzip files.
[[nodiscard]] std::unique_ptr<ByteSource> out_of_gzip(std::unique_ptr<ByteSource> source);

/// xz and zstd. `name` is for messages.
[[nodiscard]] std::unique_ptr<ByteSource> out_of_archive_filter(std::unique_ptr<ByteSource> source, std::string_view name);

}  // namespace workbench
