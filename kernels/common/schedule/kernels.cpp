#include "kernels/common/schedule/kernels.hpp"

#include <utility>
#include <vector>

#include "kernels/common/schedule/host_rows.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class HostRows final : public Kernel<Value> {
public:
    HostRows(std::span<const std::byte> view, std::span<const Index> rows, std::optional<std::int64_t> own_bytes,
             MultiplyOnHost<Value> multiply)
        : view_(view.begin(), view.end()), rows_(rows.begin(), rows.end()), own_bytes_(own_bytes), multiply_(multiply) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        multiply_(view_.data(), {x, y, accumulate, rows_.empty() ? nullptr : rows_.data()});
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_; }

private:
    std::vector<std::byte> view_;
    HostArray<Index> rows_;
    std::optional<std::int64_t> own_bytes_;
    MultiplyOnHost<Value> multiply_;
};

}  // namespace

KernelEntry kernel_for_rows(Backend backend, std::string name, std::string summary,
                            const ForEachPrecision<PrepareRows>& prepare) {
    const auto without_rows = [](auto prepare_rows) {
        return [prepare_rows](const auto& layout, Device& device) { return prepare_rows(layout, {}, device); };
    };
    return {std::move(name), backend, std::move(summary), {without_rows(prepare.f32), without_rows(prepare.f64)}, prepare};
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> make_host_rows(std::span<const std::byte> view, std::span<const Index> rows,
                                              std::optional<std::int64_t> own_bytes, MultiplyOnHost<Value> multiply) {
    return std::make_unique<HostRows<Value>>(view, rows, own_bytes, multiply);
}
template std::unique_ptr<Kernel<float>> make_host_rows(std::span<const std::byte>, std::span<const Index>,
                                                       std::optional<std::int64_t>, MultiplyOnHost<float>);
template std::unique_ptr<Kernel<double>> make_host_rows(std::span<const std::byte>, std::span<const Index>,
                                                        std::optional<std::int64_t>, MultiplyOnHost<double>);

}  // namespace workbench
