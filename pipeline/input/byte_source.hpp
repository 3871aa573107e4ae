// The bytes of a file as they are meant: taken out of what they are compressed with. What reads a format sees only these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace workbench {

/// Further bytes cannot be had: what was found and what was expected. Where that is, whoever reads the bytes knows better.
struct BrokenSource : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Bytes, one after the other, as many as there are; none is ever held back that lies before the damage.
class ByteSource {
public:
    static constexpr std::uintmax_t unknown_size = std::numeric_limits<std::uintmax_t>::max();

    ByteSource() = default;
    virtual ~ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// Writes at least one byte into a buffer that has room, 0 only at the end. Throws BrokenSource, each time again.
    [[nodiscard]] virtual std::size_t read(std::span<char> buffer) = 0;

    /// A bound on all the bytes that there can be, from the size of what they come from.
    [[nodiscard]] virtual std::uintmax_t most_bytes() const { return unknown_size; }
};

/// Throws InputError "FILE: what was found", with `expected` behind it, where there is no regular file to be read.
[[nodiscard]] std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path, std::string_view expected);

/// Bytes in memory, which must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_in_memory(std::string_view bytes);

/// The first bytes of a source, and the source as if they had not been read. What broke it, if it is broken so early.
struct Start {
    std::string bytes;
    std::string broken;
};
[[nodiscard]] Start look_at_start(std::unique_ptr<ByteSource>& source, std::size_t count);

/// "gzip", "xz" or "zstd", from the first bytes; empty where they are of none of these.
[[nodiscard]] std::string_view compression_of(std::string_view start);

/// What is compressed so. Check sums are checked; several members or frames make one text, as the tools write them.
[[nodiscard]] std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source, std::string_view compression);

}  // namespace workbench
