// Decompression with zlib, liblzma and libarchive; `decompressed` in byte_source.hpp chooses between them.
#pragma once

#include <memory>

#include "core/input/bytes/byte_source.hpp"

namespace workbench {

/// Uses zlib because libarchive does not compare the check sums of gzip files.
[[nodiscard]] std::unique_ptr<ByteSource> out_of_gzip(std::unique_ptr<ByteSource> source);

/// Uses liblzma because libarchive does not limit the memory that a file can demand.
[[nodiscard]] std::unique_ptr<ByteSource> out_of_xz(std::unique_ptr<ByteSource> source);

/// Uses libarchive, which lets a file demand at most 128 MiB.
[[nodiscard]] std::unique_ptr<ByteSource> out_of_zstd(std::unique_ptr<ByteSource> source);

}  // namespace workbench
