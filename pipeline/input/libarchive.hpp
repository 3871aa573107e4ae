// libarchive fed from a byte source.
#pragma once

#include <archive.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/input/byte_source.hpp"

namespace workbench {

/// An archive that is read from a source, once, from its beginning to its end.
class ArchiveReader {
public:
    explicit ArchiveReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)), archive_(archive_read_new()) {}
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;
    ~ArchiveReader() = default;

    /// For choosing filters and formats before open(), and for what follows it.
    [[nodiscard]] archive* get() const { return archive_.get(); }

    /// As all of libarchive's functions: ARCHIVE_OK, or a code below it; message() says why.
    [[nodiscard]] int open();

    [[nodiscard]] std::string message() const;

    /// Goes to the next entry, as archive_read_next_header.
    [[nodiscard]] int next(archive_entry*& entry);

    /// The bytes of the present entry, as ByteSource::read gives them; BrokenSource speaks of a damaged `what`.
    [[nodiscard]] std::size_t read(std::span<char> buffer, std::string_view what);

private:
    struct Close {
        void operator()(archive* reader) const { archive_read_free(reader); }
    };
    static la_ssize_t feed(archive* reader, void* self, const void** bytes);

    std::unique_ptr<ByteSource> source_;
    std::vector<char> buffer_;
    std::unique_ptr<archive, Close> archive_;  // closed before what it reads from
    std::string_view block_;                   // of the entry, not yet given out
    la_int64_t block_offset_ = 0;              // in the entry
    la_int64_t given_ = 0;                     // of the entry
};

}  // namespace workbench
