// Files for the tests of readers, and the messages of refusals.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/input/read_matrix.hpp"

namespace workbench {

using Rows = std::vector<std::string>;

/// The matrix that most of these tests use.
inline const Rows example{"1 . 2 .", ". . . .", "3 0 . 4"};
inline const std::string example_text =
    "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1\n1 3 2\n3 1 3\n3 2 0\n3 4 4\n";

/// The end of every refusal of an unknown format.
inline const std::string kinds =
    "expected a Matrix Market file ('%%MatrixMarket ...'), a Rutherford-Boeing file or a METIS graph, each also compressed "
    "(gzip, xz, zstd) or in a tar archive, a .npz of scipy.sparse.save_npz, a MATLAB file, or HDF5 with Binsparse";

/// The folder of the test files, removed at the end.
const std::filesystem::path& folder();

std::filesystem::path write(const std::string& name, const std::string& bytes);

/// Reads the text from a file named m.mtx.
CsrMatrix read_text(const std::string& text);

/// None if the file is refused.
std::optional<CsrMatrix> read_or_refuse(const std::filesystem::path& path);

/// The message of the InputError from reading the file, without the folder; "read" if there is none.
std::string refusal(const std::filesystem::path& path, const ReadOptions& options = {});
std::string refusal_of_text(const std::string& text);

/// A Matrix Market text with the banner for real general coordinates.
std::string real_general(const std::string& rest);

/// Compresses with zlib; window bits select the wrapper: 31 gzip, -15 none.
std::string deflated(const std::string& text, int window_bits);
std::string compressed(const std::string& text);

/// A little-endian number.
std::string bytes_of(std::uint64_t number, int count);

}  // namespace workbench
