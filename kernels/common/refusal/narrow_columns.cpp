#include "kernels/common/refusal/narrow_columns.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"

namespace workbench {

void require_narrow(const Cuts& pieces, const std::string& advice) {
    constexpr Index most = 65536;
    for (Index piece = 0; piece < pieces.count(); ++piece) {
        if (pieces.size(piece) <= most) continue;
        throw Unsuitable(fmt::format("{} {} has {}, but columns of 16 bits reach {}: {}, or set column_index = \"u32\"",
                                     name_of(pieces.kind), piece, counted(pieces.size(piece), "column"), most, advice));
    }
}

}  // namespace workbench
