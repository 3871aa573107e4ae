// Arrays as numpy's .npy and .npz files, and matrices as those of scipy.sparse.save_npz.
// Source: numpy, "numpy.lib.format"; scipy, "scipy.sparse.save_npz".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/whole_file.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// An array that lies elsewhere and must outlive this.
struct ArrayView {
    std::string type;                                // numpy's name: "<f8", "|S3"
    std::vector<std::int64_t> shape;                 // empty: a scalar
    std::vector<std::span<const std::byte>> pieces;  // one after the other
};

[[nodiscard]] ArrayView view_of(std::span<const std::int32_t> numbers);
[[nodiscard]] ArrayView view_of(std::span<const std::int64_t> numbers);
[[nodiscard]] ArrayView view_of(std::span<const double> numbers);

struct NamedArray {
    std::string name;
    ArrayView array;
};

void write_npy(WholeFile& file, const ArrayView& array);

/// A zip archive of .npy members, stored and not compressed; equal arrays make equal files.
void write_npz(WholeFile& file, std::span<const NamedArray> arrays);

/// A matrix as arrays "format", "shape", "indptr", "indices" and "data" of an .npz that scipy.sparse.load_npz takes, every
/// value with all its bits. Offsets are 32-bit where they fit, as scipy has them.
void write_scipy_npz(WholeFile& file, const CsrMatrix& matrix);

}  // namespace workbench
