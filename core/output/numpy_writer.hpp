// Writer of numpy's .npy and .npz files, and of the .npz files of scipy.sparse.save_npz.
// Source: numpy, "numpy.lib.format"; scipy, "scipy.sparse.save_npz".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {

[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// All sizes and offsets use the 64-bit records. Members have no date, so equal members make equal files.
class ZipWriter {
public:
    explicit ZipWriter(WholeFile& file) : file_(file) {}

    /// Adds a member with the concatenated `pieces`.
    void add(const std::string& name, const std::vector<std::span<const std::byte>>& pieces);

    /// Writes the directory; must be called last.
    void finish();

private:
    void write(const std::string& bytes);

    WholeFile& file_;
    std::uint64_t written_ = 0;
    std::string directory_;
    std::uint64_t members_ = 0;
};

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
