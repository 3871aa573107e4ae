#include "pipeline/run/hybrid_kernel.hpp"

#include <algorithm>

#include "pipeline/measure/rows_kernel.hpp"

namespace workbench {
namespace {

/// Which rows of y have been written so far.
class Written {
public:
    explicit Written(Index rows) : written_(rows, false), left_(rows) {}

    [[nodiscard]] bool nothing() const { return left_ == static_cast<Index>(written_.size()); }
    [[nodiscard]] bool everything() const { return left_ == 0; }
    [[nodiscard]] Index count(std::span<const Index> rows) const {
        return static_cast<Index>(std::count_if(rows.begin(), rows.end(), [&](Index row) { return written_[row]; }));
    }
    void add(std::span<const Index> rows) {
        for (const Index row : rows) {
            left_ -= written_[row] ? 0 : 1;
            written_[row] = true;
        }
    }
    void add_all() {
        std::fill(written_.begin(), written_.end(), true);
        left_ = 0;
    }

private:
    std::vector<bool> written_;
    Index left_;
};

}  // namespace

template <ValueType Value>
HybridKernel<Value>::HybridKernel(const std::vector<KernelOfShare<Value>>& shares, Index rows, Index columns, bool side_by_side,
                                  Device& device)
    : device_(device), rows_(rows), bytes_(std::int64_t{columns} * static_cast<std::int64_t>(sizeof(Value))) {
    constexpr auto value_bytes = static_cast<std::int64_t>(sizeof(Value));
    Written written(rows);
    Written together(rows);  // by the steps that run side by side
    for (const KernelOfShare<Value>& share : shares) {
        const bool has_all_rows = share.rows.empty() && share.layout->rows() == rows;
        if (!has_all_rows && share.rows.empty()) continue;  // no nonzeros
        Step step;
        if (has_all_rows) {
            step.adds = !written.nothing();
            zeroes_first_ = zeroes_first_ || (step.adds && !written.everything());
            written.add_all();
        } else {
            const Index common = written.count(share.rows);
            step.adds = common > 0;
            zeroes_first_ = zeroes_first_ || (step.adds && common < static_cast<Index>(share.rows.size()));
            written.add(share.rows);
        }
        if (side_by_side && !has_all_rows && !together.nothing() && together.count(share.rows) == 0) {
            step.branch = device.make_branch();
        }
        if (step.branch == nullptr) together = Written(rows);
        if (has_all_rows) {
            together.add_all();
        } else {
            together.add(share.rows);
        }
        const auto make = [&] { step.kernel = prepare_rows_kernel(*share.kernel, *share.layout, share.rows, device); };
        if (step.branch != nullptr) {
            step.branch->take(make);
        } else {
            make();
        }
        bytes_ += step.kernel->own_bytes_to_move().value_or(share.layout->bytes_to_move()) - columns * value_bytes;
        bytes_ += static_cast<std::int64_t>(share.rows.size_bytes());
        // To be added to, a row is read as well; those that have no nonzeros may be left alone.
        if (step.adds) bytes_ += (std::int64_t{2} * share.present - share.layout->rows()) * value_bytes;
        steps_.push_back(std::move(step));
    }
    zeroes_first_ = zeroes_first_ || !written.everything();
    if (zeroes_first_) bytes_ += rows * value_bytes;
}

template <ValueType Value>
void HybridKernel<Value>::run(const Value* x, Value* y, bool accumulate) {
    if (zeroes_first_ && !accumulate) device_.zero(y, static_cast<std::size_t>(rows_) * sizeof(Value));
    for (auto first = steps_.begin(); first != steps_.end();) {
        const auto last = std::find_if(first + 1, steps_.end(), [](const Step& step) { return step.branch == nullptr; });
        const std::span<Step> beside(first + 1, last);
        for (Step& step : beside) step.branch->fork();
        first->kernel->run(x, y, accumulate || first->adds);
        for (Step& step : beside) step.branch->take([&] { step.kernel->run(x, y, accumulate || step.adds); });
        for (Step& step : beside) step.branch->join();
        first = last;
    }
}

template class HybridKernel<float>;
template class HybridKernel<double>;

}  // namespace workbench
