#include "core/output/numpy_writer.hpp"

#include <zlib.h>

#include <array>
#include <bit>
#include <limits>

#include <fmt/format.h>

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

static_assert(std::endian::native == std::endian::little, "arrays are written byte for byte");

/// Magic, version 1.0, length, and a Python dictionary, padded so that the array begins at a multiple of 64.
std::string npy_header(const NumpyArray& array) {
    std::string shape;
    for (const std::int64_t length : array.shape) shape += fmt::format("{}, ", length);
    if (array.shape.size() > 1) shape.resize(shape.size() - 2);
    if (array.shape.size() == 1) shape.pop_back();
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", array.type, shape);
    constexpr std::size_t before = 10;
    text.resize((before + text.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
    text += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 0xFF) + static_cast<char>(text.size() >> 8) +
           text;
}

template <typename Number>
NumpyArray list_of(std::string type, std::span<const Number> numbers) {
    return {std::move(type), {static_cast<std::int64_t>(numbers.size())}, {std::as_bytes(numbers)}};
}

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

NumpyArray numpy_array(std::span<const std::int32_t> numbers) { return list_of("<i4", numbers); }
NumpyArray numpy_array(std::span<const std::int64_t> numbers) { return list_of("<i8", numbers); }
NumpyArray numpy_array(std::span<const double> numbers) { return list_of("<f8", numbers); }

void write_npy(WholeFile& file, const NumpyArray& array) {
    file.write(npy_header(array));
    for (const auto piece : array.pieces) file.write(text_of(piece));
}

void write_npz(WholeFile& file, std::span<const NamedArray> arrays) {
    ZipWriter zip(file);
    for (const auto& [name, array] : arrays) {
        const std::string header = npy_header(array);
        std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(header))};
        pieces.insert(pieces.end(), array.pieces.begin(), array.pieces.end());
        zip.add(name + ".npy", pieces);
    }
    zip.finish();
}

void write_scipy_npz(WholeFile& file, const CsrMatrix& matrix) {
    constexpr std::array<char, 3> format{'c', 's', 'r'};
    const std::array<std::int64_t, 2> shape{matrix.rows, matrix.columns};
    std::vector<std::int32_t> narrow_offsets;
    NumpyArray offsets = numpy_array(std::span<const std::int64_t>(matrix.row_offsets));
    if (matrix.nonzeros() <= std::numeric_limits<std::int32_t>::max()) {
        narrow_offsets.assign(matrix.row_offsets.begin(), matrix.row_offsets.end());
        offsets = numpy_array(std::span<const std::int32_t>(narrow_offsets));
    }
    const std::array<NamedArray, 5> arrays{{
        {"format", {"|S3", {}, {std::as_bytes(std::span(format))}}},
        {"shape", numpy_array(std::span<const std::int64_t>(shape))},
        {"indptr", offsets},
        {"indices", numpy_array(std::span<const std::int32_t>(matrix.column_indices))},
        {"data", numpy_array(std::span<const double>(matrix.values))},
    }};
    write_npz(file, arrays);
}

}  // namespace workbench
