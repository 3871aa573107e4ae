#include "kernels/common/entry/format.hpp"

#include <algorithm>
#include <utility>

#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// A kernel of the host that leaves y of some rows as it is, or sets it to 0, whatever padding the kernel of the layout adds to
/// these rows.
template <ValueType Value>
class BesideEmptyRows final : public Kernel<Value> {
public:
    BesideEmptyRows(std::unique_ptr<Kernel<Value>> kernel, std::vector<Index> rows, int vectors)
        : kernel_(std::move(kernel)),
          rows_(std::move(rows)),
          vectors_(vectors),
          before_(rows_.size() * static_cast<std::size_t>(vectors)) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        constexpr int chunk = 4096;
        const auto count = std::ssize(rows_);
        const auto row_of = [&](std::int64_t i) { return y + Offset{rows_[i]} * vectors_; };
        const auto row_before = [&](std::int64_t i) { return before_.data() + i * vectors_; };
        if (accumulate) {
            for_each_in_parallel(count, chunk, [&](std::int64_t i) { std::copy_n(row_of(i), vectors_, row_before(i)); });
        }
        kernel_->run(x, y, accumulate);
        for_each_in_parallel(count, chunk, [&](std::int64_t i) {
            if (accumulate) {
                std::copy_n(row_before(i), vectors_, row_of(i));
            } else {
                std::fill_n(row_of(i), vectors_, Value{0});
            }
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return kernel_->own_bytes_to_move(); }

private:
    std::unique_ptr<Kernel<Value>> kernel_;
    std::vector<Index> rows_;  // of y
    int vectors_;
    std::vector<Value> before_;  // y of these rows
};

/// rows: as in PrepareRows.
template <ValueType Value>
std::unique_ptr<Kernel<Value>> beside_empty_rows(std::unique_ptr<Kernel<Value>> kernel, const Layout<Value>& layout,
                                                 std::span<const Index> rows, int vectors = 1) {
    std::vector<Index> empty = layout.rows_of_padding();
    if (empty.empty()) return kernel;
    if (!rows.empty()) {
        for (Index& row : empty) row = rows[row];
    }
    return std::make_unique<BesideEmptyRows<Value>>(std::move(kernel), std::move(empty), vectors);
}

template <ValueType Value>
PrepareKernel<Value> beside_empty_rows(PrepareKernel<Value> prepare) {
    return [prepare = std::move(prepare)](const Layout<Value>& layout, Device& device) {
        return beside_empty_rows<Value>(prepare(layout, device), layout, {});
    };
}

template <ValueType Value>
PrepareRows<Value> beside_empty_rows(PrepareRows<Value> prepare) {
    if (!prepare) return {};
    return [prepare = std::move(prepare)](const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
        return beside_empty_rows<Value>(prepare(layout, rows, device), layout, rows);
    };
}

template <ValueType Value>
PrepareVectors<Value> beside_empty_rows(PrepareVectors<Value> prepare) {
    if (!prepare) return {};
    return
        [prepare = std::move(prepare)](const Layout<Value>& layout, std::span<const Index> rows, int vectors, Device& device) {
            return beside_empty_rows<Value>(prepare(layout, rows, vectors, device), layout, rows, vectors);
        };
}

}  // namespace

void add_kernel(LayoutEntry& entry, KernelEntry&& kernel) {
    if (device_of(kernel.backend) == DeviceKind::host) {
        kernel.prepare = {beside_empty_rows<float>(std::move(kernel.prepare.f32)),
                          beside_empty_rows<double>(std::move(kernel.prepare.f64))};
        kernel.prepare_rows = {beside_empty_rows<float>(std::move(kernel.prepare_rows.f32)),
                               beside_empty_rows<double>(std::move(kernel.prepare_rows.f64))};
    }
    entry.kernels.push_back(std::move(kernel));
    add_vectors(entry, std::exchange(entry.kernels.back().prepare_vectors, {}));
}

void add_vectors(LayoutEntry& entry, ForEachPrecision<PrepareVectors> prepare) {
    KernelEntry& kernel = entry.kernels.back();
    kernel.prepare_vectors = std::move(prepare);
    if (device_of(kernel.backend) == DeviceKind::gpu) return;
    kernel.prepare_vectors = {beside_empty_rows<float>(std::move(kernel.prepare_vectors.f32)),
                              beside_empty_rows<double>(std::move(kernel.prepare_vectors.f64))};
}

void add_schedule(LayoutEntry& entry, std::string kernel, const ForEachPrecision<WalkReads>& walk) {
    entry.schedules.push_back({std::move(kernel), walk});
}

void complete_entry(LayoutEntry& entry, const char* name, const ForEachPrecision<EmptyLayout>& empty,
                    const ForEachPrecision<ListFields>& fields) {
    if (entry.name.empty()) entry.name = name;
    if (entry.needs == nullptr) entry.needs = [](const Parameters&) { return Needs{.unsplit = true}; };
    entry.empty = empty;
    if (entry.fields.f64 == nullptr) entry.fields = fields;
}

}  // namespace workbench
