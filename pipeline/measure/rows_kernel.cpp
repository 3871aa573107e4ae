#include "pipeline/measure/rows_kernel.hpp"

namespace workbench {
namespace {

/// A kernel that writes all rows of its y, with a buffer to write to.
template <ValueType Value>
class BufferedRows final : public Kernel<Value> {
public:
    BufferedRows(std::unique_ptr<Kernel<Value>> kernel, const Layout<Value>& layout, std::span<const Index> rows,
                 Device& device)
        : device_(device),
          kernel_(std::move(kernel)),
          count_(static_cast<Index>(rows.size())),
          bytes_(kernel_->own_bytes_to_move().value_or(layout.bytes_to_move()) +
                 2 * std::int64_t{count_} * static_cast<std::int64_t>(sizeof(Value))),
          rows_(to_device(device, rows, "the rows of y")),
          buffer_(device.allocate(rows.size() * sizeof(Value), "y before it is scattered")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        kernel_->run(x, buffer_.as<Value>(), false);
        if (accumulate) {
            device_.scatter_add(buffer_.as<const Value>(), rows_.as<const Index>(), count_, y);
        } else {
            device_.scatter(buffer_.as<const Value>(), rows_.as<const Index>(), count_, y);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    Device& device_;
    std::unique_ptr<Kernel<Value>> kernel_;
    Index count_;
    std::int64_t bytes_;
    DeviceMemory rows_;
    DeviceMemory buffer_;
};

}  // namespace

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_rows_kernel(const KernelEntry& entry, const Layout<Value>& layout,
                                                   std::span<const Index> rows, Device& device) {
    const auto prepare = entry.prepare.template get<Value>();
    if (rows.empty()) return prepare(layout, device);
    if (const auto prepare_rows = entry.prepare_rows.template get<Value>()) return prepare_rows(layout, rows, device);
    return std::make_unique<BufferedRows<Value>>(prepare(layout, device), layout, rows, device);
}

template std::unique_ptr<Kernel<float>> prepare_rows_kernel(const KernelEntry&, const Layout<float>&, std::span<const Index>,
                                                            Device&);
template std::unique_ptr<Kernel<double>> prepare_rows_kernel(const KernelEntry&, const Layout<double>&, std::span<const Index>,
                                                             Device&);

}  // namespace workbench
