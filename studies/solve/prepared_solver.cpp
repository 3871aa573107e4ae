#include "studies/solve/prepared_solver.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/planned_matrix.hpp"
#include "core/contract/solvers.hpp"

namespace workbench {
namespace {

/// Memory of a device that something else owns.
template <typename Element>
DeviceMemory view_of(const Element* address, std::size_t count) {
    return {const_cast<Element*>(address), count * sizeof(Element), [](void*) {}};  // NOLINT: written if it is a vector
}

template <ValueType Value>
void copy_elements(std::span<const Value> from, Value* to) {
    for_pieces(from.size(),
               [&](std::size_t begin, std::size_t end) { std::copy(from.data() + begin, from.data() + end, to + begin); });
}

}  // namespace

template <ValueType Value>
PreparedSolver<Value>::PreparedSolver(const System<Value>& system, Multiplier<Value>& multiplier, Device& device,
                                      const SolveOptions& options)
    : system_(system),
      multiplier_(multiplier),
      device_(device),
      options_(options),
      plan_{options.method, options.tolerance * system.norm_of_b(), options.most_iterations} {
    const Stopwatch watch(options.timing.clock);
    make_zeros(x_, system.b_values().size());
    choose_engine();
    if (persistent_ == nullptr) {
        make_graph();
    } else {
        make_persistent();
    }
    seconds_ = watch.seconds();
}

template <ValueType Value>
void PreparedSolver<Value>::choose_engine() {
    if (options_.engine == SolveEngine::graph) return;
    const std::int64_t iterations =
        options_.solves * (options_.expected_iterations > 0 ? options_.expected_iterations : options_.most_iterations);
    const EngineWish wish{options_.engine, options_.method, options_.jacobi, iterations};
    EngineChoice choice = multiplier_.engine_for(wish);
    note_ = std::move(choice.note);
    if (!choice.persistent) return;
    try {
        persistent_ = &multiplier_.persistent(wish);
    } catch (const Unsuitable& reason) {
        if (options_.engine == SolveEngine::persistent) {
            throw InputError(fmt::format("{}: --engine persistent: {}", multiplier_.preparation().recipe, reason.what()));
        }
        note_ = fmt::format("no persistent kernel: {}", reason.what());
    }
}

template <ValueType Value>
void PreparedSolver<Value>::make_graph() {
    const std::vector<Value> inverse_diagonal =
        options_.jacobi ? system_.inverse_diagonal_in(multiplier_.order()) : std::vector<Value>();
    auto solver = make_krylov<Value>(device_, plan_, std::span<const Value>(x_), std::span<const Value>(inverse_diagonal));
    by_products_ = solver.get();
    krylov_ = std::move(solver);
    if (krylov_ == nullptr) throw MachineError(device_.properties().name + ": this device has no Krylov solver");
    krylov_->use([this](const Value* x, Value* y) { multiply(x, y); });
    krylov_->launch(0);  // the first launch records the CUDA graph
    (void)krylov_->wait();
    find_places();
    if (on_host() || to_recipe_ == nullptr) return;
    b_there_ = device_.allocate(x_.size() * sizeof(Value), "b in the order of the input");
    x_there_ = device_.allocate(x_.size() * sizeof(Value), "x in the order of the input");
}

template <ValueType Value>
void PreparedSolver<Value>::make_persistent() {
    const std::vector<Value> inverse_diagonal =
        options_.jacobi ? system_.inverse_diagonal_in(Permutation::identity(static_cast<Index>(x_.size())))
                        : std::vector<Value>();
    krylov_ = persistent_->begin(plan_, std::span<const Value>(x_), std::span<const Value>(inverse_diagonal));
    if (!multiplier_.rounds()) return;
    find_places();
    if (to_recipe_ != nullptr) {
        b_there_ = device_.allocate(x_.size() * sizeof(Value), "x in the order of the recipe");
        x_there_ = device_.allocate(x_.size() * sizeof(Value), "A x in the order of the recipe");
    }
    krylov_->use([this](const Value* x, Value* y) {
        if (to_recipe_ == nullptr) return multiply(x, y);
        const auto size = static_cast<Index>(x_.size());
        device_.scatter(x, to_recipe_, size, b_there_.template as<Value>());
        multiply(b_there_.template as<const Value>(), x_there_.template as<Value>());
        device_.scatter(x_there_.template as<const Value>(), to_input_, size, y);
    });
}

template <ValueType Value>
void PreparedSolver<Value>::find_places() {
    if (const PlannedMatrix<Value>* const planned = multiplier_.planned()) {
        if (!planned->facts().reordered) return;
        to_recipe_ = planned->new_of_old();
        to_input_ = planned->old_of_new();
        return;
    }
    const Permutation& order = multiplier_.order();
    if (order.is_identity()) return;
    if (on_host()) {
        to_recipe_ = order.new_of_old().data();
        to_input_ = order.old_of_new().data();
        return;
    }
    places_there_ = to_device(device_, order.new_of_old(), "a permutation of vectors");
    places_back_there_ = to_device(device_, order.old_of_new(), "a permutation of vectors");
    to_recipe_ = places_there_.template as<const Index>();
    to_input_ = places_back_there_.template as<const Index>();
}

template <ValueType Value>
void PreparedSolver<Value>::multiply(const Value* x, Value* y) {
    const Stopwatch watch(options_.timing.clock);
    if (multiplies_in_full) {
        multiplier_.multiply_in_full(x, y);
    } else {
        multiplier_.multiply_one(x, y);
    }
    if (on_host()) seconds_of_products_.push_back(watch.seconds());
}

template <ValueType Value>
Krylov<Value>& PreparedSolver<Value>::begin() {
    seconds_of_products_.clear();
    const std::span<const Value> b = system_.b_values();
    const auto size = static_cast<Index>(b.size());
    Value* const to = krylov_->right_hand_side();
    if (on_host() && keeps_order()) {
        copy_elements(b, to);
    } else if (on_host()) {
        device_.scatter(b.data(), to_recipe_, size, to);
    } else if (keeps_order()) {
        DeviceMemory there = view_of(to, b.size());
        device_.upload(std::as_bytes(b), there);
    } else {
        device_.upload(std::as_bytes(b), b_there_);
        device_.scatter(b_there_.template as<const Value>(), to_recipe_, size, to);
    }
    (void)krylov_->begin_again(options_.tolerance);
    return *krylov_;
}

template <ValueType Value>
std::span<const Value> PreparedSolver<Value>::x() {
    const Value* const solution = krylov_->solution();
    const auto size = static_cast<Index>(x_.size());
    if (on_host() && keeps_order()) {
        copy_elements(std::span(solution, x_.size()), x_.data());
    } else if (on_host()) {
        device_.scatter(solution, to_input_, size, x_.data());
    } else if (keeps_order()) {
        device_.download(view_of(solution, x_.size()), std::as_writable_bytes(std::span(x_)));
    } else {
        device_.scatter(solution, to_input_, size, x_there_.template as<Value>());
        device_.download(x_there_, std::as_writable_bytes(std::span(x_)));
    }
    return x_;
}

template class PreparedSolver<float>;
template class PreparedSolver<double>;

}  // namespace workbench
