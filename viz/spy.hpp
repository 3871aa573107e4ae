// The pattern of a matrix in a terminal.
#pragma once

#include <string>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// The colours that a terminal supports: none, 8 or 256.
enum class TerminalColours { none, few, many };

struct SpyStyle {
    int columns = 80;     // the most characters of a line, frame included; at least 10
    int lines = 20;       // at least 6
    bool unicode = true;  // Braille characters of 2 x 4 dots; otherwise ASCII characters that encode the number of dots
    TerminalColours colours = TerminalColours::none;  // encode the density
};

/// The framed picture, as large as the style allows, and a line that explains the size of a dot. A small matrix is drawn entry
/// by entry. Throws std::invalid_argument if columns or lines are too few.
[[nodiscard]] std::string spy_text(const StagedMatrix& staged, const SpyStyle& style);

}  // namespace workbench
