// libarchive as a reader of byte sources and files.
#pragma once

#include <archive.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/input/bytes/byte_source.hpp"

namespace workbench {

/// True if these are at least 512 bytes that begin with a tar header with a correct check sum.
[[nodiscard]] bool is_tar(std::string_view start);

/// Calls visit(name, bytes) for each regular file in order; visit need not read the bytes and must not keep them. Throws
/// BrokenSource if the archive is damaged.
void for_each_member(std::unique_ptr<ByteSource> archive,
                     const std::function<void(const std::string& name, std::unique_ptr<ByteSource> bytes)>& visit);

/// An archive that is read once, from beginning to end.
class ArchiveReader {
public:
    explicit ArchiveReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;
    ~ArchiveReader() = default;

    /// The handle, for choosing filters and formats before open() and for queries afterwards.
    [[nodiscard]] archive* get() const { return archive_.get(); }

    /// Opens the source. Returns ARCHIVE_OK or a libarchive error code; message() explains it.
    [[nodiscard]] int open();

    /// Like open(), for a file instead of the source: formats that seek, such as zip, need one.
    [[nodiscard]] int open(const std::filesystem::path& file);

    [[nodiscard]] std::string message() const;

    /// Advances to the next entry, as archive_read_next_header does.
    [[nodiscard]] int next(archive_entry*& entry);

    /// Reads the current entry as ByteSource::read does. Throws BrokenSource about a damaged `what`.
    [[nodiscard]] std::size_t read(std::span<char> buffer, std::string_view what);

private:
    struct CloseArchive {
        void operator()(archive* reader) const { archive_read_free(reader); }
    };
    static la_ssize_t feed(archive* reader, void* self, const void** bytes);

    std::unique_ptr<ByteSource> source_;
    std::vector<char> buffer_;
    std::unique_ptr<archive, CloseArchive> archive_{archive_read_new()};  // destroyed before source_ and buffer_
    std::string_view block_;                                              // bytes of the entry that are not yet returned
    la_int64_t block_offset_ = 0;                                         // position of block_ in the entry
    la_int64_t given_ = 0;                                                // bytes of the entry returned so far
};

}  // namespace workbench
