#include "core/system/hybrid_kernel.hpp"

#include <algorithm>
#include <utility>

namespace workbench {
namespace {

/// The rows of y that one share adds to.
struct RowSet {
    bool all = false;
    std::span<const Index> list;
};

/// The rows of y that shares have written so far.
class WrittenRows {
public:
    explicit WrittenRows(Index rows) : written_(rows, false) {}

    [[nodiscard]] bool none() const { return count_ == 0; }
    [[nodiscard]] bool all() const { return count_ == size(); }
    [[nodiscard]] Index size() const { return static_cast<Index>(written_.size()); }
    [[nodiscard]] Index count(const RowSet& rows) const {
        if (rows.all) return count_;
        const auto is_written = [&](Index row) { return written_[row]; };
        return static_cast<Index>(std::count_if(rows.list.begin(), rows.list.end(), is_written));
    }
    void add(const RowSet& rows) {
        if (rows.all) {
            std::fill(written_.begin(), written_.end(), true);
            count_ = size();
        }
        for (const Index row : rows.list) {
            count_ += written_[row] ? 0 : 1;
            written_[row] = true;
        }
    }

private:
    std::vector<bool> written_;
    Index count_ = 0;
};

}  // namespace

template <ValueType Value>
HybridKernel<Value>::HybridKernel(const std::vector<KernelOfShare<Value>>& shares, Index rows, Index columns, bool side_by_side,
                                  Device& device, int vectors)
    : device_(device), bytes_of_y_(std::size_t(rows) * sizeof(Value) * static_cast<std::size_t>(vectors)) {
    const auto value_bytes = static_cast<std::int64_t>(sizeof(Value)) * vectors;  // of a row of x or y
    bytes_ = columns * value_bytes;
    WrittenRows written(rows);
    WrittenRows together(rows);  // by the steps that run side by side
    for (const KernelOfShare<Value>& share : shares) {
        const RowSet target{share.rows.empty() && share.row_count == rows, share.rows};
        if (!target.all && target.list.empty()) continue;  // no nonzeros
        ShareStep step;
        const Index common = written.count(target);
        step.adds = common > 0;
        const Index count = target.all ? rows : static_cast<Index>(target.list.size());
        zeroes_first_ = zeroes_first_ || (step.adds && common < count);
        written.add(target);
        if (side_by_side && !together.none() && together.count(target) == 0) step.branch = device.make_branch();
        if (step.branch == nullptr) together = WrittenRows(rows);
        together.add(target);
        std::int64_t bytes = 0;
        const auto make = [&] {
            MadeKernel<Value> made = share.make(device, vectors);
            bytes = made.kernel->own_bytes_to_move().value_or(made.bytes);
            step.kernel = std::move(made.kernel);
        };
        if (step.branch != nullptr) {
            step.branch->take(make);
        } else {
            make();
        }
        bytes_ += bytes - columns * value_bytes;
        bytes_ += static_cast<std::int64_t>(share.rows.size_bytes());
        // A row that is added to is read as well; rows without nonzeros may be left alone.
        if (step.adds) bytes_ += (std::int64_t{2} * share.rows_present - share.row_count) * value_bytes;
        steps_.push_back(std::move(step));
    }
    zeroes_first_ = zeroes_first_ || !written.all();
    if (zeroes_first_) bytes_ += rows * value_bytes;
}

template <ValueType Value>
void HybridKernel<Value>::run(const Value* x, Value* y, bool accumulate) {
    if (zeroes_first_ && !accumulate) device_.zero(y, bytes_of_y_);
    for (auto first = steps_.begin(); first != steps_.end();) {
        const auto last = std::find_if(first + 1, steps_.end(), [](const ShareStep& step) { return step.branch == nullptr; });
        const std::span<ShareStep> beside(first + 1, last);
        for (ShareStep& step : beside) step.branch->fork();
        first->kernel->run(x, y, accumulate || first->adds);
        for (ShareStep& step : beside) step.branch->take([&] { step.kernel->run(x, y, accumulate || step.adds); });
        for (ShareStep& step : beside) step.branch->join();
        first = last;
    }
}

template class HybridKernel<float>;
template class HybridKernel<double>;

}  // namespace workbench
