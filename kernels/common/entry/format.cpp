#include "kernels/common/entry/format.hpp"

namespace workbench {
namespace {

/// A kernel that leaves y of some rows as it is, or sets it to 0, whatever padding the kernel of the layout adds to these rows.
template <ValueType Value>
class BesideEmptyRows final : public Kernel<Value> {
public:
    BesideEmptyRows(std::unique_ptr<Kernel<Value>> kernel, std::span<const Index> rows, Device& device)
        : device_(device),
          kernel_(std::move(kernel)),
          count_(static_cast<Index>(rows.size())),
          rows_(to_device(device, rows, "the rows without nonzeros")),
          zeros_(device.allocate(rows.size() * sizeof(Value), "y of rows without nonzeros")),
          before_(device.allocate(rows.size() * sizeof(Value), "y of rows without nonzeros")) {
        device.zero(zeros_.address(), zeros_.bytes());
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        const auto* const rows = rows_.as<const Index>();
        if (accumulate) device_.gather(y, rows, count_, before_.as<Value>());
        kernel_->run(x, y, accumulate);
        device_.scatter((accumulate ? before_ : zeros_).template as<const Value>(), rows, count_, y);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return kernel_->own_bytes_to_move(); }

private:
    Device& device_;
    std::unique_ptr<Kernel<Value>> kernel_;
    Index count_;
    DeviceMemory rows_;
    DeviceMemory zeros_;
    DeviceMemory before_;
};

/// rows: those of y, as in PrepareRows.
template <ValueType Value>
std::unique_ptr<Kernel<Value>> beside_empty_rows(std::unique_ptr<Kernel<Value>> kernel, const Layout<Value>& layout,
                                                 std::span<const Index> rows, Device& device) {
    std::vector<Index> empty = layout.rows_of_padding();
    if (empty.empty()) return kernel;
    if (!rows.empty()) {
        for (Index& row : empty) row = rows[row];
    }
    return std::make_unique<BesideEmptyRows<Value>>(std::move(kernel), empty, device);
}

template <ValueType Value>
PrepareKernel<Value> beside_empty_rows(PrepareKernel<Value> prepare) {
    return [prepare = std::move(prepare)](const Layout<Value>& layout, Device& device) {
        return beside_empty_rows<Value>(prepare(layout, device), layout, {}, device);
    };
}

template <ValueType Value>
PrepareRows<Value> beside_empty_rows(PrepareRows<Value> prepare) {
    if (!prepare) return {};
    return [prepare = std::move(prepare)](const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
        return beside_empty_rows<Value>(prepare(layout, rows, device), layout, rows, device);
    };
}

}  // namespace

void add_kernel(LayoutEntry& entry, KernelEntry&& kernel) {
    kernel.prepare = {beside_empty_rows<float>(std::move(kernel.prepare.f32)),
                      beside_empty_rows<double>(std::move(kernel.prepare.f64))};
    kernel.prepare_rows = {beside_empty_rows<float>(std::move(kernel.prepare_rows.f32)),
                           beside_empty_rows<double>(std::move(kernel.prepare_rows.f64))};
    entry.kernels.push_back(std::move(kernel));
}

void add_schedule(LayoutEntry& entry, std::string kernel, const ForEachPrecision<WalkReads>& walk) {
    entry.schedules.push_back({std::move(kernel), walk});
}

void complete_entry(LayoutEntry& entry, const char* name, const ForEachPrecision<EmptyLayout>& empty,
                    const ForEachPrecision<ListFields>& fields) {
    if (entry.name.empty()) entry.name = name;
    if (entry.needs == nullptr) entry.needs = [](const Parameters&) { return Needs{.unsplit = true}; };
    entry.empty = empty;
    entry.fields = fields;
}

}  // namespace workbench
