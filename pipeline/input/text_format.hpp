// The text formats of matrices, distinguished by their first bytes.
#pragma once

#include <string_view>

#include "pipeline/input/line_reader.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

struct TextFormat {
    const char* name;
    bool (*begins)(std::string_view start);  // true if the text begins like this format
    CsrMatrix (*read)(LineReader&);
};

/// Bytes that suffice to recognize a format.
inline constexpr std::size_t start_bytes = std::size_t{1} << 14;

/// The format of a text that begins with these bytes; null if it is not supported.
[[nodiscard]] const TextFormat* text_format_of(std::string_view start);

}  // namespace workbench
