// Kernels that are right for one vector and wrong for several.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {

/// What is wrong with Y: the elements of one vector are those of its neighbour; the last vector is left as it was, as by a tile
/// that ends early; or that element alone of the last row.
enum class WrongVectors { neighbour, last_vector, last_element };

inline constexpr std::array all_wrong_vectors{WrongVectors::neighbour, WrongVectors::last_vector, WrongVectors::last_element};

/// On the host.
template <ValueType Value>
class WithWrongVectors final : public Kernel<Value> {
public:
    WithWrongVectors(std::unique_ptr<Kernel<Value>> right, WrongVectors fault, Index rows, int vectors)
        : right_(std::move(right)), fault_(fault), rows_(rows), vectors_(vectors) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const std::vector<Value> before(y, y + std::size_t(rows_) * vectors_);
        right_->run(x, y, accumulate);
        for (Index row = fault_ == WrongVectors::last_element ? rows_ - 1 : 0; row < rows_; ++row) {
            const std::size_t end = std::size_t(row + 1) * vectors_;
            if (fault_ == WrongVectors::neighbour) y[end - 2] = y[end - 1];
            else y[end - 1] = before[end - 1];
        }
    }

private:
    std::unique_ptr<Kernel<Value>> right_;
    WrongVectors fault_;
    Index rows_;
    int vectors_;
};

/// The catalogue, in which the host kernel of sell has the fault.
[[nodiscard]] inline Catalogue catalogue_with(WrongVectors fault) {
    Catalogue all = catalogue();
    for (LayoutEntry& layout : all.layouts) {
        if (layout.name != "sell") continue;
        for (KernelEntry& kernel : layout.kernels) {
            const auto plant = [fault]<typename Value>(PrepareVectors<Value>& prepare) {
                prepare = [fault, right = prepare](const Layout<Value>& of, std::span<const Index> rows, int vectors,
                                                   Device& device) -> std::unique_ptr<Kernel<Value>> {
                    return std::make_unique<WithWrongVectors<Value>>(right(of, rows, vectors, device), fault, of.rows(),
                                                                     vectors);
                };
            };
            if (device_of(kernel.backend) != DeviceKind::host || !kernel.prepare_vectors.f64) continue;
            plant(kernel.prepare_vectors.f32);
            plant(kernel.prepare_vectors.f64);
        }
    }
    return all;
}

}  // namespace workbench
