// Streams of bytes: files, memory, and what compressed files contain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/matrix/interface.hpp"

namespace workbench {

/// The source cannot deliver further bytes: what was found and what was expected. The reader adds the file and the place.
struct BrokenSource : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A stream of bytes. All bytes before a damaged one are delivered.
class ByteSource : public Interface {
public:
    static constexpr std::uintmax_t unknown_size = std::numeric_limits<std::uintmax_t>::max();

    /// Writes bytes into the buffer and returns how many: at least one, or 0 at the end. Throws BrokenSource, also when called
    /// again.
    [[nodiscard]] virtual std::size_t read(std::span<char> buffer) = 0;

    /// Upper bound of the size of the whole stream.
    [[nodiscard]] virtual std::uintmax_t most_bytes() const { return unknown_size; }
};

/// Opens a regular file. Throws InputError "FILE: what was found; expected EXPECTED".
[[nodiscard]] std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path, std::string_view expected);

/// Reads from memory, which must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_in_memory(std::string_view bytes);

/// The first bytes of a source; `broken` is the message of the BrokenSource that they ended with, if any.
struct Start {
    std::string bytes;
    std::string broken;
};

/// Returns the first `count` bytes. The source then begins with them again.
[[nodiscard]] Start look_at_start(std::unique_ptr<ByteSource>& source, std::size_t count);

/// "gzip", "xz" or "zstd" by the first bytes of a file, or empty.
[[nodiscard]] std::string_view compression_of(std::string_view start);

/// True if these are the first bytes of a frame that decompression skips. pzstd writes them before other frames.
/// Source: RFC 8878, section 3.1.2.
[[nodiscard]] bool is_skippable_zstd_frame(std::string_view start);

/// Decompresses a source. Check sums are checked; several members or frames are concatenated, as the command-line tools do.
[[nodiscard]] std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source, std::string_view compression);

}  // namespace workbench
