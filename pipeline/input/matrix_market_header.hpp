// The header of a Matrix Market file.
#pragma once

#include <cstdint>

#include "pipeline/input/line_reader.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

struct MatrixMarketHeader {
    enum class Format { coordinate, array };
    enum class Field { real, integer, pattern };
    enum class Symmetry { general, symmetric, skew_symmetric };

    Format format = Format::coordinate;
    Field field = Field::real;
    Symmetry symmetry = Symmetry::general;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Offset entries = 0;  // in the file, without mirror images
};

/// False for blank lines and comments.
[[nodiscard]] bool has_content(std::string_view line);

/// Reads and checks the banner and the size line. Throws InputError, also for complex and Hermitian matrices.
[[nodiscard]] MatrixMarketHeader read_matrix_market_header(LineReader& lines);

}  // namespace workbench
