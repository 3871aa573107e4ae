// The pattern of a matrix in a terminal.
#pragma once

#include <string>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// The colours of a terminal: none, the eight old ones, or 256.
enum class TerminalColours { none, few, many };

struct SpyStyle {
    int columns = 80;     // characters that the picture may take, frame included; at least 10
    int lines = 20;       // at least 6
    bool unicode = true;  // dots of Braille, 2 x 4 a character; otherwise letters, the fuller the more of these eight are
    TerminalColours colours = TerminalColours::none;  // for how full the bins of a character are
};

/// The picture with a frame around it, as large as the style allows, and a line on what a dot stands for. A matrix with a place
/// for each entry has a dot for each. Throws std::invalid_argument where there is no room.
[[nodiscard]] std::string spy_text(const StagedMatrix& staged, const SpyStyle& style);

}  // namespace workbench
