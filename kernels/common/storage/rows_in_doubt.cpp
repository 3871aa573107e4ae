#include "kernels/common/storage/rows_in_doubt.hpp"

#include <cstddef>

namespace workbench {

template <ValueType Value>
void RowsInDoubt::add_again(const Layout<Value>& layout, const Value* x,
                            const std::function<void(Index row, Value sum)>& put_sum, int array) {
    if (!any()) return;
    std::vector<bool> is_in_doubt(static_cast<std::size_t>(layout.rows()));
    std::vector<Value> sums(static_cast<std::size_t>(layout.rows()));
    for (const Index row : rows_) is_in_doubt[row] = true;
    const std::vector<LayoutField> fields = layout.fields();
    layout.for_each_slot([&](const Slot& slot) {
        if (slot.nonzero < 0 || !is_in_doubt[slot.row] || (array >= 0 && slot.array != array)) return;
        sums[slot.row] += static_cast<Value>(value_at(fields[slot.array], slot.index)) * x[slot.column];
    });
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
    for (const Index row : rows_) put_sum(row, sums[row]);
    rows_.clear();
}

template <ValueType Value>
bool has_padding(const Layout<Value>& layout) {
    Offset slots = 0;
    for (const LayoutField& field : layout.fields()) {
        if (field.role == ArrayRole::value) slots += static_cast<Offset>(field.slots());
    }
    return slots > layout.nonzeros();
}

template void RowsInDoubt::add_again(const Layout<float>&, const float*, const std::function<void(Index, float)>&, int);
template void RowsInDoubt::add_again(const Layout<double>&, const double*, const std::function<void(Index, double)>&, int);
template bool has_padding(const Layout<float>&);
template bool has_padding(const Layout<double>&);

}  // namespace workbench
