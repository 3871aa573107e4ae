// Writing and reading files, and the texts of refusals, for the tests of reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/input/read_matrix.hpp"

namespace workbench {

using Rows = std::vector<std::string>;

/// The matrix of most of these tests.
inline const Rows example{"1 . 2 .", ". . . .", "3 0 . 4"};
inline const std::string example_text =
    "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1\n1 3 2\n3 1 3\n3 2 0\n3 4 4\n";

/// What every refusal of an unknown kind of file ends with.
inline const std::string kinds =
    "expected a Matrix Market file ('%%MatrixMarket ...'), a Rutherford-Boeing file or a METIS graph, each also compressed "
    "(gzip, "
    "xz, zstd) or in a tar archive, or a .npz of scipy.sparse.save_npz";

/// For the files of these tests, removed at the end.
const std::filesystem::path& folder();

std::filesystem::path write(const std::string& name, const std::string& bytes);

/// Of a file named m.mtx.
CsrMatrix read_text(const std::string& text);

/// None where it is refused.
std::optional<CsrMatrix> read_or_refuse(const std::filesystem::path& path);

/// The message of the InputError that reading the file ends in, without the folder; "read" where there is none.
std::string refusal(const std::filesystem::path& path, const ReadOptions& options = {});
std::string refusal_of_text(const std::string& text);

/// A Matrix Market text with this behind its banner.
std::string real_general(const std::string& rest);

/// Deflated with zlib; the window bits say in which wrapping: 31 gzip, -15 none.
std::string deflated(const std::string& text, int window_bits);
std::string compressed(const std::string& text);

/// A number as it lies in a file, its last byte last.
std::string bytes_of(std::uint64_t number, int count);

}  // namespace workbench
