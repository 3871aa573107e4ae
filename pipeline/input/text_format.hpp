// The text formats of matrices, told from each other by how they begin.
#pragma once

#include <string_view>

#include "pipeline/input/line_reader.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

struct TextFormat {
    const char* name;
    bool (*begins)(std::string_view start);  // given the first bytes of a text: is it of this format?
    CsrMatrix (*read)(LineReader&);
};

/// How much of a text is enough to know its format.
inline constexpr std::size_t start_bytes = std::size_t{1} << 14;

/// Null where it is none of those that are read.
[[nodiscard]] const TextFormat* text_format_of(std::string_view start);

}  // namespace workbench
