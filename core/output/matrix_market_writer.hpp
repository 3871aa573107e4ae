// Writer of Matrix Market files.
#pragma once

#include <functional>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/types.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {

enum class Compression { none, gzip };

/// Writes the text of the items first .. last - 1 to `place` and returns its end. Called from several threads.
using FormatItems = std::function<char*(Offset first, Offset last, char* place)>;

/// Appends `start`, then the text of `count` items of at most `longest_item` bytes each. Takes memory for a few blocks of items
/// at a time. With gzip every block is a member of its own; readers of .gz concatenate members.
void write_items(WholeFile& file, Compression compression, std::string_view start, Offset count, std::size_t longest_item,
                 const FormatItems& format);

/// Writes the shortest decimal that reads back as the same number, at most `longest_number` bytes; returns its end. NaN and
/// infinities are "nan", "-nan", "inf" and "-inf".
inline constexpr std::size_t longest_number = 24;
[[nodiscard]] char* append_number(char* place, double number);
[[nodiscard]] char* append_number(char* place, Offset number);

/// Appends a real, general coordinate file with the entries row by row. Each value is the shortest decimal that reads back as
/// the same f64. NaN and infinities are written as "nan", "-nan", "inf" and "-inf", which Python, C and this program read; the
/// payload of a NaN is lost.
void write_matrix_market(WholeFile& file, const CsrMatrix& matrix, Compression compression = Compression::none);

}  // namespace workbench
