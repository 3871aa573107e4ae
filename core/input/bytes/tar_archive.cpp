#include "core/input/bytes/tar_archive.hpp"

#include <archive_entry.h>
#include <fmt/core.h>

#include <cstdint>
#include <optional>

#include "core/input/bytes/libarchive.hpp"

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

}  // namespace workbench
