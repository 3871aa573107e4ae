#include "kernels/common/refusal/descending_rows.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"

namespace workbench {

void require_descending(const ShareView& rows, const DescendingRows& order) {
    for (Index i = 1; i < rows.row_count(); ++i) {
        const bool first_of_window = order.window > 0 && i % order.window == 0;
        if (first_of_window || rows.length(i) <= rows.length(i - 1)) continue;
        throw Unsuitable(fmt::format("{}, but row {}{} has {} and row {}, stored before it, has {}: put stage {} before",
                                     order.requirement, rows.row(i),
                                     order.share_name.empty() ? "" : fmt::format(" of share '{}'", order.share_name),
                                     counted(rows.length(i), "nonzero"), rows.row(i - 1), rows.length(i - 1), order.stage));
    }
}

}  // namespace workbench
