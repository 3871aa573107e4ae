// Long texts of many short items, formatted in parallel and written in order.
#pragma once

#include <functional>

#include "pipeline/contract/whole_file.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

enum class Compression { none, gzip };

/// Writes the text of the items first .. last - 1 to `place` and returns the end of it. Called from many threads.
using FormatItems = std::function<char*(Offset first, Offset last, char* place)>;

/// Appends `start`, then the text of `count` items, none longer than `longest_item` bytes. Memory is for some blocks of them at
/// a time. With gzip every block is a member of its own, which all readers of .gz take as one text.
void write_items(WholeFile& file, Compression compression, std::string_view start, Offset count, std::size_t longest_item,
                 const FormatItems& format);

/// The shortest decimal that reads back as the same number; "nan", "-nan", "inf", "-inf". Returns the end. At most
/// `longest_number` bytes.
inline constexpr std::size_t longest_number = 24;
[[nodiscard]] char* append_number(char* place, double number);
[[nodiscard]] char* append_number(char* place, Offset number);

}  // namespace workbench
