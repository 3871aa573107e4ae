#include "core/output/zip_writer.hpp"

#include <zlib.h>

namespace workbench {
namespace {

constexpr std::uint64_t elsewhere = 0xFFFFFFFF;  // the 64-bit record contains the number
constexpr std::uint64_t version = 45;            // with 64-bit sizes
constexpr std::uint64_t first_of_1980 = 1 << 21 | 1 << 16;

std::string little_endian(std::uint64_t number, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xFF);
    return text;
}

std::string two(std::uint64_t number) { return little_endian(number, 2); }
std::string four(std::uint64_t number) { return little_endian(number, 4); }
std::string eight(std::uint64_t number) { return little_endian(number, 8); }

}  // namespace

void ZipWriter::write(const std::string& bytes) {
    file_.write(bytes);
    written_ += bytes.size();
}

void ZipWriter::add(const std::string& name, const std::vector<std::span<const std::byte>>& pieces) {
    std::uint64_t size = 0;
    uLong check_sum = crc32_z(0, nullptr, 0);
    for (const auto piece : pieces) {
        size += piece.size();
        if (!piece.empty()) check_sum = crc32_z(check_sum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    }
    // Flags, method "stored", time, date, check sum, both sizes, name length.
    const std::string common =
        two(0) + two(0) + four(first_of_1980) + four(check_sum) + four(elsewhere) + four(elsewhere) + two(name.size());
    const std::string sizes = eight(size) + eight(size);
    const std::uint64_t place = written_;
    write("PK\x03\x04" + two(version) + common + two(4 + sizes.size()) + name + two(1) + two(sizes.size()) + sizes);
    for (const auto piece : pieces) file_.write(text_of(piece));
    written_ += size;

    const std::string sizes_and_place = sizes + eight(place);
    directory_ += "PK\x01\x02" + two(version) + two(version) + common + two(4 + sizes_and_place.size()) + two(0) + two(0) +
                  two(0) + four(0) + four(elsewhere) + name + two(1) + two(sizes_and_place.size()) + sizes_and_place;
    ++members_;
}

void ZipWriter::finish() {
    const std::uint64_t place = written_;
    write(directory_);
    const std::uint64_t end = written_;
    constexpr std::uint64_t rest_of_record = 44;
    write("PK\x06\x06" + eight(rest_of_record) + two(version) + two(version) + four(0) + four(0) + eight(members_) +
          eight(members_) + eight(directory_.size()) + eight(place));
    write("PK\x06\x07" + four(0) + eight(end) + four(1));
    write("PK\x05\x06" + two(0) + two(0) + two(elsewhere) + two(elsewhere) + four(elsewhere) + four(elsewhere) + two(0));
}

}  // namespace workbench
