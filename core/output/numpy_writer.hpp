// Writer of numpy's .npy and .npz files, and of the .npz files of scipy.sparse.save_npz.
// Source: numpy, "numpy.lib.format"; scipy, "scipy.sparse.save_npz".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {

/// A view of an array, which must outlive it.
struct NumpyArray {
    std::string type;                                // numpy's name: "<f8", "|S3"
    std::vector<std::int64_t> shape;                 // empty: a scalar
    std::vector<std::span<const std::byte>> pieces;  // concatenated
};

[[nodiscard]] NumpyArray numpy_array(std::span<const std::int32_t> numbers);
[[nodiscard]] NumpyArray numpy_array(std::span<const std::int64_t> numbers);
[[nodiscard]] NumpyArray numpy_array(std::span<const double> numbers);

struct NamedArray {
    std::string name;
    NumpyArray array;
};

void write_npy(WholeFile& file, const NumpyArray& array);

/// Writes a zip archive of uncompressed .npy members; equal arrays make equal files.
void write_npz(WholeFile& file, std::span<const NamedArray> arrays);

/// Writes the arrays "format", "shape", "indptr", "indices" and "data" of an .npz that scipy.sparse.load_npz reads; values keep
/// all bits. Offsets are 32-bit if they fit, as scipy writes them.
void write_scipy_npz(WholeFile& file, const CsrMatrix& matrix);

}  // namespace workbench
