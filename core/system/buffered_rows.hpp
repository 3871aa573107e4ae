// A kernel without KernelEntry::prepare_rows whose rows go to given places of y.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/contract/device.hpp"
#include "core/contract/kernel.hpp"

namespace workbench {

/// The kernel writes all rows of a buffer, which the device scatters.
template <ValueType Value>
class BufferedRows final : public Kernel<Value> {
public:
    /// rows: elements of y. bytes: that the kernel moves.
    BufferedRows(std::unique_ptr<Kernel<Value>> kernel, std::span<const Index> rows, Device& device, std::int64_t bytes)
        : device_(device),
          kernel_(std::move(kernel)),
          count_(static_cast<Index>(rows.size())),
          bytes_(bytes + 2 * std::int64_t{count_} * static_cast<std::int64_t>(sizeof(Value))),
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

}  // namespace workbench
