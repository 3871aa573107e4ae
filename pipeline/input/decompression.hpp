// Byte sources on top of zlib, liblzma and libarchive; byte_source.hpp chooses between them.
#pragma once

#include <memory>

#include "pipeline/input/byte_source.hpp"

namespace workbench {

/// zlib rather than libarchive, which does not compare the check sums of gzip files.
[[nodiscard]] std::unique_ptr<ByteSource> out_of_gzip(std::unique_ptr<ByteSource> source);

/// liblzma rather than libarchive, which sets no limit to the memory that a file can demand.
[[nodiscard]] std::unique_ptr<ByteSource> out_of_xz(std::unique_ptr<ByteSource> source);

/// libarchive, which lets a file demand 128 MiB.
[[nodiscard]] std::unique_ptr<ByteSource> out_of_zstd(std::unique_ptr<ByteSource> source);

}  // namespace workbench
