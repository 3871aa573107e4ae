#include "pipeline/measure/checked_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/solvers.hpp"

namespace workbench {
namespace {

/// What changes before a sample: elements of x, and rows of y that are marked as unwritten.
template <ValueType Value>
struct Changes {
    static constexpr int most = 64;
    std::array<Value, most> x;
    std::array<Value, most> y;
    std::array<Index, most> places_in_x;
    std::array<Index, most> places_in_y;
};

/// Different random numbers from draw(), at most Changes::most.
std::set<Index> different(const auto& draw) {
    std::set<Index> numbers;
    for (int i = 0; i < Changes<double>::most; ++i) numbers.insert(draw());
    return numbers;
}

/// Conjugate gradients on a square matrix, for the same right-hand side whatever its order. They begin anew before numbers get
/// so small that a processor takes longer for them.
template <ValueType Value>
std::unique_ptr<KrylovByProducts<Value>> make_cg(const ProductSpace& space, Device& device) {
    constexpr double tolerance = 1e-6;
    constexpr std::int64_t most_iterations = 10'000;
    const std::vector<double> right_hand_side = real_vector(space.column_order.size(), 1);
    std::vector<Value> b(right_hand_side.size());
    double square = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = static_cast<Value>(right_hand_side[space.column_order.old_of_new(static_cast<Index>(i))]);
        square += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    }
    const KrylovPlan plan{KrylovMethod::cg, tolerance * std::sqrt(square), most_iterations};
    std::unique_ptr<KrylovByProducts<Value>> krylov = make_krylov<Value>(device, plan, b, {});
    if (krylov == nullptr) throw MachineError(fmt::format("inside CG: {} cannot iterate", device.properties().name));
    return krylov;
}

}  // namespace

template <ValueType Value>
CheckedProduct<Value>::CheckedProduct(VectorsOfProduct<Value> vectors, std::shared_ptr<Kernel<Value>> kernel,
                                      std::shared_ptr<const CsrMatrix> matrix, Device& device)
    : vectors_(std::move(vectors)),
      kernel_(std::move(kernel)),
      matrix_(std::move(matrix)),
      device_(device),
      changes_(device.allocate(sizeof(Changes<Value>), "changes of x and y")),
      other_x_(device.allocate(vectors_.elements_of_x() * sizeof(Value), "another x")) {
    vectors_.exchange_x(other_x_);
    const auto seed = static_cast<std::uint32_t>(random_());
    vectors_.set_x(
        [seed](Index column, int vector) { return real_element(column, seed + static_cast<std::uint32_t>(vector)); });
}

template <ValueType Value>
Contender CheckedProduct<Value>::contender(std::string name, std::int64_t bytes_to_move) {
    // Padding and columns without nonzeros need not be read: at least the values, and what they need of x and y.
    const std::int64_t of_values =
        matrix_->nonzeros() +
        vectors_.count() * (matrix_->rows + std::min<std::int64_t>(matrix_->columns, matrix_->nonzeros()));
    const std::int64_t unread = vectors_.count() * std::max<std::int64_t>(0, matrix_->columns - matrix_->nonzeros());
    constexpr std::int64_t size = sizeof(Value);
    return {.name = std::move(name),
            .device = &device_,
            .work = [this] { kernel_->run(x(), y(), false); },
            .rest_of_iteration = [this] { cg_->rest_of_iteration(); },
            .clear_result = [this] { device_.fill(y(), unwritten_byte, vectors_.elements_of_y() * sizeof(Value)); },
            .change_operands = [this] { change_operands(); },
            .exchange_operands = [this] { vectors_.exchange_x(other_x_); },
            .fault = [this] { return fault(); },
            .least_bytes = std::min(bytes_to_move - unread * size, of_values * size)};
}

template <ValueType Value>
void CheckedProduct<Value>::begin_cg() {
    cg_ = make_cg<Value>(vectors_.space(), device_);
}

template <ValueType Value>
void CheckedProduct<Value>::change_operands() {
    if (matrix_->rows == 0) return;
    const auto vectors = static_cast<std::uint64_t>(vectors_.count());
    std::set<Index> elements_of_x;                    // of the input: column * vectors + vector
    if (cg_ == nullptr && matrix_->nonzeros() > 0) {  // p of CG changes by itself
        const auto nonzeros = static_cast<std::uint64_t>(matrix_->nonzeros());
        elements_of_x = different([&] {
            const auto column = static_cast<std::uint64_t>(matrix_->column_indices[random_() % nonzeros]);
            return static_cast<Index>(column * vectors + random_() % vectors);
        });
    }
    const auto count = static_cast<std::uint64_t>(vectors_.elements_of_y());
    const std::set<Index> rows = different([&] { return static_cast<Index>(random_() % count); });
    Changes<Value> changes{};
    changes.y.fill(unwritten<Value>());
    std::copy(rows.begin(), rows.end(), changes.places_in_y.begin());
    const auto seed = static_cast<std::uint32_t>(random_());
    std::size_t number = 0;
    for (const Index element : elements_of_x) {
        const Index column = element / vectors_.count();
        changes.x[number] = static_cast<Value>(real_element(element, seed));
        changes.places_in_x[number++] =
            vectors_.space().column_order.new_of_old(column) * vectors_.count() + element % vectors_.count();
    }
    device_.upload(std::as_bytes(std::span(&changes, 1)), changes_);
    const auto& there = *changes_.template as<const Changes<Value>>();
    if (number > 0) {
        device_.scatter(there.x.data(), there.places_in_x.data(), static_cast<Index>(number), vectors_.x());
    }
    device_.scatter(there.y.data(), there.places_in_y.data(), static_cast<Index>(rows.size()), y());
}

template <ValueType Value>
std::string CheckedProduct<Value>::fault() const {
    const typename VectorsOfProduct<Value>::OnHost x_there(vectors_, x(), vectors_.elements_of_x());
    return vectors_.compare_within(*matrix_, x_there.data(), vectors_.space().column_order.new_of_old(), y()).first_wrong;
}

template class CheckedProduct<float>;
template class CheckedProduct<double>;

}  // namespace workbench
