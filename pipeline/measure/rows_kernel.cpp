#include "pipeline/measure/rows_kernel.hpp"

#include <vector>

#include "core/system/buffered_rows.hpp"
#include "pipeline/measure/candidate.hpp"

namespace workbench {
namespace {

/// A kernel for one vector, which multiplies the columns of X one after another. Y is left in a buffer, column by column.
template <ValueType Value>
class OneByOne final : public Kernel<Value> {
public:
    OneByOne(std::unique_ptr<Kernel<Value>> kernel, const Layout<Value>& layout, int vectors, Device& device)
        : device_(device), kernel_(std::move(kernel)), rows_(layout.rows()), columns_(layout.columns()), vectors_(vectors) {
        std::vector<Index> places;  // of the elements of X in the buffer
        places.reserve(static_cast<std::size_t>(columns_) * vectors);
        for (Index column = 0; column < columns_; ++column) {
            for (int j = 0; j < vectors; ++j) places.push_back(j * columns_ + column);
        }
        places_ = to_device(device, std::span<const Index>(places), "the order of several x");
        x_ = device.allocate(places.size() * sizeof(Value), "several x, one after another");
        const auto vector_bytes = static_cast<std::int64_t>(sizeof(Value)) * columns_ * vectors;
        bytes_ = kernel_->own_bytes_to_move().value_or(layout.bytes_to_move()) * vectors + 2 * vector_bytes;
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        const Index elements = columns_ * vectors_;
        device_.scatter(x, places_.as<const Index>(), elements, x_.as<Value>());
        for (int j = 0; j < vectors_; ++j) {
            kernel_->run(x_.as<const Value>() + Offset{j} * columns_, y + Offset{j} * rows_, accumulate);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    Device& device_;
    std::unique_ptr<Kernel<Value>> kernel_;
    Index rows_;
    Index columns_;
    int vectors_;
    std::int64_t bytes_ = 0;
    DeviceMemory places_;
    DeviceMemory x_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_one_by_one(const KernelEntry& entry, const Layout<Value>& layout,
                                                  std::span<const Index> rows, Device& device, int vectors) {
    auto kernel =
        std::make_unique<OneByOne<Value>>(entry.prepare.template get<Value>()(layout, device), layout, vectors, device);
    std::vector<Index> places;  // in Y, of the elements of the columns one after another
    places.reserve(static_cast<std::size_t>(layout.rows()) * vectors);
    for (int j = 0; j < vectors; ++j) {
        for (Index row = 0; row < layout.rows(); ++row) places.push_back((rows.empty() ? row : rows[row]) * vectors + j);
    }
    const std::int64_t bytes = *kernel->own_bytes_to_move();
    return std::make_unique<BufferedRows<Value>>(std::move(kernel), places, device, bytes);
}

}  // namespace

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_rows_kernel(const KernelEntry& entry, const Layout<Value>& layout,
                                                   std::span<const Index> rows, Device& device, int vectors) {
    const auto with_rows = entry.prepare_rows.template get<Value>();
    if (vectors > 1) {
        const auto with_vectors = entry.prepare_vectors.template get<Value>();
        if (!with_vectors) return prepare_one_by_one<Value>(entry, layout, rows, device, vectors);
        if (rows.empty() || with_rows) return with_vectors(layout, rows, vectors, device);
        auto kernel = with_vectors(layout, {}, vectors, device);
        const std::int64_t bytes = kernel->own_bytes_to_move().value();
        return std::make_unique<BufferedRows<Value>>(std::move(kernel), elements_of(rows, vectors), device, bytes);
    }
    const auto prepare = entry.prepare.template get<Value>();
    if (rows.empty()) return prepare(layout, device);
    if (with_rows) return with_rows(layout, rows, device);
    auto kernel = prepare(layout, device);
    const std::int64_t bytes = kernel->own_bytes_to_move().value_or(layout.bytes_to_move());
    return std::make_unique<BufferedRows<Value>>(std::move(kernel), rows, device, bytes);
}

template std::unique_ptr<Kernel<float>> prepare_rows_kernel(const KernelEntry&, const Layout<float>&, std::span<const Index>,
                                                            Device&, int);
template std::unique_ptr<Kernel<double>> prepare_rows_kernel(const KernelEntry&, const Layout<double>&, std::span<const Index>,
                                                             Device&, int);

}  // namespace workbench
