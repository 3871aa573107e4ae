#include "core/output/numpy_writer.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <limits>

#include "core/output/zip_writer.hpp"

namespace workbench {
namespace {

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
