#include "core/input/npz/npz_archive.hpp"

#include <archive_entry.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/contract/errors.hpp"
#include "core/input/bytes/libarchive.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

/// The .npy file, or the member of an archive, that is being read.
class NpzMember {
public:
    /// Reads some bytes into a buffer and returns how many; 0 at the end. Throws BrokenSource.
    using ReadSome = std::function<std::size_t(std::span<char>)>;

    NpzMember(ReadSome read_some, std::string where, std::uintmax_t archive_bytes)
        : read_some_(std::move(read_some)), where_(std::move(where)), archive_bytes_(archive_bytes) {}

    template <typename... Values>
    [[noreturn]] void fail(fmt::format_string<Values...> text, Values&&... values) const {
        throw InputError(where_ + fmt::format(text, std::forward<Values>(values)...));
    }

    /// Appends up to `count` bytes, fewer only at the end of the member. Memory grows with the bytes that exist.
    void read(std::vector<std::byte>& bytes, std::size_t count) const {
        constexpr std::size_t chunk = std::size_t{1} << 20;
        reserve(bytes, std::min<std::uintmax_t>(count, archive_bytes_), count);
        while (count > 0) {
            const std::size_t had = bytes.size();
            const std::size_t wanted = std::min(count, chunk);
            if (had + wanted > bytes.capacity()) reserve(bytes, std::min(count, had + chunk), count);
            bytes.resize(had + wanted);
            const std::size_t got = fill(std::span(bytes).subspan(had));
            bytes.resize(had + got);
            if (got < wanted) return;
            count -= got;
        }
    }

    /// Skips up to `count` bytes and returns how many; fewer only at the end of the member.
    [[nodiscard]] std::uint64_t skip(std::uint64_t count) const {
        std::vector<std::byte> skipped_bytes(std::min<std::uint64_t>(count, std::size_t{1} << 16));
        std::uint64_t skipped = 0;
        while (skipped < count) {
            const auto wanted = std::min<std::uint64_t>(count - skipped, skipped_bytes.size());
            const std::size_t got = fill(std::span(skipped_bytes).first(wanted));
            skipped += got;
            if (got < wanted) break;
        }
        return skipped;
    }

private:
    /// Returns how many bytes were read: fewer than requested only at the end of the member.
    [[nodiscard]] std::size_t fill(std::span<std::byte> bytes) const {
        std::size_t done = 0;
        try {
            while (done < bytes.size()) {
                auto* begin = reinterpret_cast<char*>(bytes.data()) + done;
                const std::size_t got = read_some_({begin, bytes.size() - done});
                if (got == 0) break;
                done += got;
            }
        } catch (const BrokenSource& broken) {
            fail("{}", broken.what());
        }
        return done;
    }

    /// Reserves memory for `more` bytes; `all` bytes are said to follow.
    void reserve(std::vector<std::byte>& bytes, std::size_t more, std::size_t all) const {
        constexpr std::size_t never_missing = std::size_t{1} << 20;
        const std::size_t free = more <= never_missing ? never_missing : free_host_memory();
        if (more > free) {
            throw MachineError(fmt::format("{}an array of {} bytes needs as many bytes of memory; {} are free", where_,
                                           bytes.size() + all, free));
        }
        bytes.reserve(bytes.size() + more);
    }

    ReadSome read_some_;
    std::string where_;
    std::uintmax_t archive_bytes_;
};

constexpr std::string_view npy_magic = "\x93NUMPY";

std::string_view text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The text after `'key':` in the header, a Python dictionary. None if the key is missing.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
    const std::string pattern = fmt::format("'{}':", key);
    const auto place = header.find(pattern);
    if (place == std::string_view::npos) return std::nullopt;
    std::string_view value = header.substr(place + pattern.size());
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value;
}

std::string parse_type(const NpzMember& member, std::string_view header) {
    const auto value = value_of(header, "descr");
    const auto end = value && !value->empty() && value->front() == '\'' ? value->find('\'', 1) : std::string_view::npos;
    if (end == std::string_view::npos) member.fail("found a header without a plain type; expected one like '<f8'");
    return std::string(value->substr(1, end - 1));
}

std::vector<std::int64_t> parse_shape(const NpzMember& member, std::string_view header) {
    const auto value = value_of(header, "shape");
    const auto end = value && !value->empty() && value->front() == '(' ? value->find(')') : std::string_view::npos;
    if (end == std::string_view::npos) member.fail("found a header without a shape; expected one like (3, 4)");
    std::string list(value->substr(1, end - 1));
    std::replace(list.begin(), list.end(), ',', ' ');
    std::vector<std::int64_t> shape;
    std::string_view rest = list;
    for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
        const auto length = parse_integer(word);
        if (!length || *length < 0) member.fail("found {} in the shape; expected a length", in_quotes(word));
        shape.push_back(*length);
    }
    return shape;
}

/// Bytes per item, the digits at the end of the type: 8 for "<f8". Text of type U has four bytes per character.
std::int64_t item_bytes(const NpzMember& member, const std::string& type) {
    const auto fail = [&] { member.fail("found the type {}; expected one like '<f8'", in_quotes(type)); };
    const bool plain = std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c <= '~'; });
    const auto digits = type.find_first_of("0123456789");
    if (!plain || digits == std::string::npos) fail();
    const auto count = parse_integer(std::string_view(type).substr(digits));
    if (!count || *count > 256) fail();
    return digits > 0 && type[digits - 1] == 'U' ? 4 * *count : *count;
}

std::uint64_t little_endian(const std::vector<std::byte>& bytes, std::size_t first, std::size_t count) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < count; ++i) number |= std::to_integer<std::uint64_t>(bytes[first + i]) << (8 * i);
    return number;
}

/// The dictionary of a .npy file, which begins with 6 bytes of magic, 2 of version and 2 or 4 of length.
std::string read_npy_header(const NpzMember& member) {
    constexpr std::size_t longest = std::size_t{1} << 16;
    std::vector<std::byte> start;
    member.read(start, 8);
    if (start.size() < 8 || !text_of(start).starts_with(npy_magic)) {
        member.fail("found no numpy array; expected the start '\\x93NUMPY'");
    }
    const std::size_t length_bytes = std::to_integer<int>(start[6]) == 1 ? 2 : 4;
    member.read(start, length_bytes);
    if (start.size() < 8 + length_bytes) member.fail("found the end of the array in its header; expected its length");
    const std::uint64_t length = little_endian(start, 8, length_bytes);
    if (length > longest) member.fail("found a header of {} bytes; expected at most {}", length, longest);
    std::vector<std::byte> header;
    member.read(header, length);
    if (header.size() < length) member.fail("found the end of the array in its header; expected the whole header");
    return std::string(text_of(header));
}

/// Clamps a range to an array of `size` items.
ItemRange within(ItemRange items, std::int64_t size) {
    const std::int64_t first = std::min(items.first, size);
    return {first, std::clamp(items.end, first, size)};
}

NpyArray read_array(const NpzMember& member, ItemRange wanted) {
    const std::string header = read_npy_header(member);
    NpyArray array;
    array.type = parse_type(member, header);
    array.shape = parse_shape(member, header);
    array.by_columns = value_of(header, "fortran_order").value_or("").starts_with("True");
    const std::int64_t bytes_of_item = item_bytes(member, array.type);
    std::int64_t bytes = bytes_of_item;
    for (const std::int64_t length : array.shape) {
        if (length > 0 && bytes > std::numeric_limits<std::int64_t>::max() / length) {
            member.fail("found a shape of more than 2^63 bytes; expected a smaller array");
        }
        bytes *= length;
    }
    array.items = within(wanted, bytes_of_item == 0 ? 0 : array.size());
    if (wanted.end == 0) return array;
    const auto before = static_cast<std::uint64_t>(array.items.first * bytes_of_item);
    const auto taken = static_cast<std::uint64_t>(array.items_read() * bytes_of_item);
    std::uint64_t found = member.skip(before);
    if (found == before) {
        member.read(array.bytes, taken);
        found += array.bytes.size();
    }
    found += member.skip(static_cast<std::uint64_t>(bytes) - found);
    if (found < static_cast<std::uint64_t>(bytes)) {
        member.fail("found {} bytes of data; expected {}, as its shape says", found, bytes);
    }
    // libarchive compares the check sum at the end of the member.
    if (member.skip(1) > 0) {
        member.fail("found more than {} bytes of data; expected as many as its shape says", bytes);
    }
    return array;
}

std::string array_name(const char* file_name) {
    const std::string_view name = file_name == nullptr ? "" : file_name;
    const bool npy = name.size() > 4 && name.substr(name.size() - 4) == ".npy";
    return std::string(npy ? name.substr(0, name.size() - 4) : "");
}

}  // namespace

std::int64_t NpyArray::size() const {
    std::int64_t product = 1;
    for (const std::int64_t length : shape) product *= length;
    return product;
}

bool is_npy(std::string_view start) { return start.starts_with(npy_magic); }

NpyArray read_npy(const std::string& name, ByteSource& bytes) {
    const NpzMember member([&bytes](std::span<char> buffer) { return bytes.read(buffer); }, name + ": ", bytes.most_bytes());
    return read_array(member, all_items);
}

bool is_zip(std::string_view start) { return start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06"); }

std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path, const std::map<std::string, ItemRange>& wanted) {
    ArchiveReader zip(nullptr);
    archive_read_support_format_zip_seekable(zip.get());
    const auto fail = [&](const char* found, const char* expected) {
        throw InputError(fmt::format("{}: {} ({}); expected {}", path.string(), found, zip.message(), expected));
    };
    if (zip.open(path) != ARCHIVE_OK) fail("cannot be opened", "a zip archive");
    std::error_code unknown;
    const std::uintmax_t file_size = std::filesystem::file_size(path, unknown);
    std::map<std::string, NpyArray> arrays;
    for (;;) {
        archive_entry* entry = nullptr;
        const int status = zip.next(entry);
        if (status == ARCHIVE_EOF) return arrays;
        if (status < ARCHIVE_WARN) fail("found a damaged archive", "a whole one");
        const std::string name = array_name(archive_entry_pathname(entry));
        const auto items = wanted.find(name);
        if (items == wanted.end()) continue;
        const auto read_some = [&zip](std::span<char> buffer) { return zip.read(buffer, "archive"); };
        const NpzMember member(read_some, fmt::format("{}: member {}.npy: ", path.string(), name), unknown ? 0 : file_size);
        if (!arrays.emplace(name, read_array(member, items->second)).second) member.fail("found twice; expected once");
    }
}

}  // namespace workbench
