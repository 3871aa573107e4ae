#include "core/input/bytes/libarchive.hpp"

#include <archive_entry.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/core.h>

namespace workbench {
namespace {

class TarMember final : public ByteSource {
public:
    explicit TarMember(ArchiveReader& archive) : archive_(archive) {}
    [[nodiscard]] std::size_t read(std::span<char> buffer) override { return archive_.read(buffer, "tar archive"); }

private:
    ArchiveReader& archive_;
};

/// A number in octal digits, after blanks and before a blank or zero byte.
std::optional<std::uint32_t> octal(std::string_view field) {
    const auto begin = std::min(field.find_first_not_of(' '), field.size());
    const auto end = std::min(field.find_first_not_of("01234567", begin), field.size());
    if (end == begin) return std::nullopt;
    std::uint32_t number = 0;
    for (const char digit : field.substr(begin, end - begin)) number = 8 * number + static_cast<std::uint32_t>(digit - '0');
    return number;
}

}  // namespace

// Source: POSIX.1-2017, pax, "ustar Interchange Format": bytes 148 to 155 are the sum of all 512 bytes, with themselves as
// blanks.
bool is_tar(std::string_view start) {
    constexpr std::size_t header_bytes = 512;
    constexpr std::size_t sum_begin = 148;
    constexpr std::size_t sum_end = 156;
    if (start.size() < header_bytes) return false;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < header_bytes; ++i) {
        sum += i >= sum_begin && i < sum_end ? ' ' : static_cast<unsigned char>(start[i]);
    }
    return octal(start.substr(sum_begin, sum_end - sum_begin)) == sum;
}

void for_each_member(std::unique_ptr<ByteSource> archive,
                     const std::function<void(const std::string& name, std::unique_ptr<ByteSource> bytes)>& visit) {
    ArchiveReader reader(std::move(archive));
    archive_read_support_format_tar(reader.get());
    const auto check = [&reader](int status) {
        if (status < ARCHIVE_WARN) {
            throw BrokenSource(fmt::format("found a damaged tar archive ({}); expected a whole one", reader.message()));
        }
    };
    check(reader.open());
    for (;;) {
        archive_entry* entry = nullptr;
        const int status = reader.next(entry);
        if (status == ARCHIVE_EOF) return;
        check(status);
        if (archive_entry_filetype(entry) != AE_IFREG) continue;
        const char* name = archive_entry_pathname(entry);
        visit(name == nullptr ? "" : name, std::make_unique<TarMember>(reader));
    }
}

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
