#include "pipeline/input/line_blocks.hpp"

#include <algorithm>

namespace workbench {

std::int64_t ItemLines::line_of(std::int64_t item) const {
    const auto after = std::upper_bound(jumps_.begin(), jumps_.end(), item,
                                        [](std::int64_t wanted, const Jump& jump) { return wanted < jump.item; });
    return item + (after == jumps_.begin() ? 0 : std::prev(after)->shift);
}

}  // namespace workbench
