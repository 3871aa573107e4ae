// Infinities and NaNs of x, which padding must not spread: it adds 0 times an element of x to a row that need not have the
// column of this element.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

#include "core/contract/layout.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {

/// The rows of a product on the host whose sums are not finite. A kernel of a layout with padding does not put these sums, and
/// adds the rows again when it has finished, from their nonzeros alone. So a product costs one comparison a row more, and a
/// product with such rows the time of a walk over all slots.
class RowsInDoubt {
public:
    template <ValueType Value>
    [[nodiscard]] static bool is_finite(Value sum) {
        return std::abs(sum) <= std::numeric_limits<Value>::max();
    }

    /// Puts the sum of a row of the layout into a row of y, unless it is in doubt.
    template <ValueType Value>
    void put(Index row, Value* y, Index row_of_y, Value sum, bool accumulate) {
        if (is_finite(sum)) [[likely]] {
            workbench::put(y, row_of_y, sum, accumulate);
        } else {
            add(row);
        }
    }

    /// A row of the layout. By any thread, which may add a row twice.
    void add(Index row) {
        const std::lock_guard turn(mutex_);
        rows_.push_back(row);
    }
    [[nodiscard]] bool any() const { return !rows_.empty(); }
    /// True for the rows that were added until now, if none is added meanwhile.
    [[nodiscard]] std::function<bool(Index row)> members() {
        std::sort(rows_.begin(), rows_.end());
        return [this](Index row) { return std::binary_search(rows_.begin(), rows_.end(), row); };
    }

    /// Calls put_sum(row of the layout, sum of its nonzeros) for each row in doubt, and forgets them. array: adds the slots of
    /// this value array alone, a number in Layout::fields(); -1: of all.
    template <ValueType Value>
    void add_again(const Layout<Value>& layout, const Value* x, const std::function<void(Index row, Value sum)>& put_sum,
                   int array = -1);

private:
    std::mutex mutex_;
    std::vector<Index> rows_;
};

/// True if some slots of the layout are padding.
template <ValueType Value>
[[nodiscard]] bool has_padding(const Layout<Value>& layout);

}  // namespace workbench
