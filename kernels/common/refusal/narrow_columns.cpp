#include "kernels/common/refusal/narrow_columns.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"

namespace workbench {

void require_narrow(const Cuts& pieces, const std::string& advice) {
    constexpr Index most = 65536;
    for (Index piece = 0; piece < pieces.count(); ++piece) {
        if (pieces.size(piece) <= most) continue;
        throw Unsuitable(fmt::format("{} {} has {} columns, but columns of 16 bits reach {}: {}, or set column_index = \"u32\"",
                                     name_of(pieces.kind), piece, pieces.size(piece), most, advice));
    }
}

}  // namespace workbench
