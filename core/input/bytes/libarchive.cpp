#include "core/input/bytes/libarchive.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace workbench {

int ArchiveReader::open() {
    buffer_.resize(std::size_t{1} << 18);
    return archive_read_open(archive_.get(), this, nullptr, feed, nullptr);
}

int ArchiveReader::open(const std::filesystem::path& file) {
    return archive_read_open_filename(archive_.get(), file.c_str(), std::size_t{1} << 18);
}

la_ssize_t ArchiveReader::feed(archive* reader, void* self, const void** bytes) {
    auto& me = *static_cast<ArchiveReader*>(self);
    *bytes = me.buffer_.data();
    try {
        return static_cast<la_ssize_t>(me.source_->read(me.buffer_));
    } catch (const BrokenSource& broken) {  // exceptions must not pass through C code
        archive_set_error(reader, EIO, "%s", broken.what());
        return ARCHIVE_FATAL;
    }
}

std::string ArchiveReader::message() const {
    const char* text = archive_error_string(archive_.get());
    return text == nullptr ? "no reason given" : text;
}

int ArchiveReader::next(archive_entry*& entry) {
    block_ = {};
    block_offset_ = given_ = 0;
    return archive_read_next_header(archive_.get(), &entry);
}

// Reads blocks because archive_read_data loses the bytes before a damaged one.
std::size_t ArchiveReader::read(std::span<char> buffer, std::string_view what) {
    while (block_.empty()) {
        const void* bytes = nullptr;
        std::size_t count = 0;
        const int status = archive_read_data_block(archive_.get(), &bytes, &count, &block_offset_);
        if (status == ARCHIVE_EOF) return 0;
        if (status != ARCHIVE_OK) {
            throw BrokenSource(fmt::format("found a damaged {} ({}); expected a whole one", what, message()));
        }
        block_ = {static_cast<const char*>(bytes), count};
    }
    std::size_t count = 0;
    if (block_offset_ > given_) {  // a hole in a sparse file
        count = std::min(buffer.size(), static_cast<std::size_t>(block_offset_ - given_));
        std::fill_n(buffer.begin(), count, '\0');
    } else {
        count = block_.copy(buffer.data(), buffer.size());
        block_.remove_prefix(count);
        block_offset_ += static_cast<la_int64_t>(count);
    }
    given_ += static_cast<la_int64_t>(count);
    return count;
}

}  // namespace workbench
