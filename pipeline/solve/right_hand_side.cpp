#include "pipeline/solve/right_hand_side.hpp"

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/input/read_matrix.hpp"
#include "pipeline/measure/verification.hpp"

namespace workbench {

std::string RightHandSide::text() const {
    switch (kind) {
        case Kind::ones: return "ones";
        case Kind::random: return fmt::format("random (seed {})", seed);
        case Kind::file: return file.filename().string();
    }
    return "";
}

std::vector<double> make_right_hand_side(const RightHandSide& choice, Index rows) {
    std::vector<double> b(static_cast<std::size_t>(rows), choice.kind == RightHandSide::Kind::ones ? 1.0 : 0.0);
    if (choice.kind == RightHandSide::Kind::ones) return b;
    if (choice.kind == RightHandSide::Kind::random) return real_vector(rows, choice.seed);
    const CsrMatrix column = read_matrix(choice.file);
    if (column.columns != 1 || column.rows != rows) {
        throw InputError(fmt::format("{}: this matrix has {} rows and {} columns; expected {} rows and 1 column",
                                     choice.file.string(), column.rows, column.columns, rows));
    }
    for (Index row = 0; row < rows; ++row) {
        for (Offset k = column.row_offsets[row]; k < column.row_offsets[row + 1]; ++k) b[row] = column.values[k];
    }
    return b;
}

}  // namespace workbench
