#include "studies/distributed/rank_product.hpp"

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "core/matrix/staged_matrix.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/measure/rows_kernel.hpp"
#include "pipeline/measure/timing.hpp"
#include "studies/distributed/collective.hpp"

namespace workbench {
namespace {

/// Visits the rows in parallel.
void for_each_row(const CsrMatrix& matrix, const std::function<void(Index)>& visit) {
    Kokkos::parallel_for(Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>(0, matrix.rows),
                         visit);
}

void for_each_entry(const CsrMatrix& matrix, Index row, const auto& visit) {
    for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
        visit(matrix.column_indices[i], matrix.values[i]);
    }
}

/// Adds the shares' reference products and error bounds; each bound is eight times the rounding error, which covers the
/// addition.
template <ValueType Value>
BoundedReference reference_of(const RankShares& shares, std::uint32_t seed) {
    std::vector<double> x(shares.inside.columns);
    for (Index i = 0; i < shares.inside.columns; ++i) x[i] = real_element(shares.first_column + i, seed);
    std::vector<double> halo;
    for (const Index column : shares.halo_columns) halo.push_back(real_element(column, seed));
    BoundedReference sum = bounded_reference<Value>(shares.inside, x);
    const BoundedReference outside = bounded_reference<Value>(shares.outside, halo);
    for (Index i = 0; i < shares.outside.rows; ++i) {
        sum.r[shares.outside_rows[i]] += outside.r[i];
        sum.bound[shares.outside_rows[i]] += outside.bound[i];
    }
    return sum;
}

/// The rows by descending length.
Permutation by_length(const CsrMatrix& matrix) {
    std::vector<Index> order(matrix.rows);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return matrix.row_length(a) > matrix.row_length(b); });
    return Permutation::from_old_of_new(std::move(order));
}

/// Keeps the first wrong element and the largest error.
void note(Comparison of_one, Comparison& of_all) {
    of_all.error_over_bound = std::max(of_all.error_over_bound, of_one.error_over_bound);
    if (!of_all.right || of_one.right) return;
    of_all.right = false;
    of_all.first_wrong = std::move(of_one.first_wrong);
}

std::optional<Failure> failure_in(const Comparison& found) {
    if (found.right) return std::nullopt;
    return Failure{ExitCode::wrong_result, "wrong result in its local " + found.first_wrong};
}

}  // namespace

/// Integer values for both shares, so small that the sum of a whole row is exact; x is the same on all ranks.
struct ExactShares {
    ExactShares(bool inside_is_symmetric, Offset longest, Index columns, ExactValues of_inside)
        : inside(inside_is_symmetric, longest, columns, of_inside), outside(false, longest, columns) {}
    ExactProblem inside;   // in the inside share's numbering
    ExactProblem outside;  // in the outside share's numbering

    [[nodiscard]] std::vector<double> product(const RankShares& shares, int vector) const {
        std::vector<double> y(shares.inside.rows, 0.0);
        for_each_row(shares.inside, [&](Index row) {
            for_each_entry(shares.inside, row, [&](Index column, double real) {
                y[row] += inside.value(row, column, real) * inside.x(vector, shares.first_column + column);
            });
        });
        for_each_row(shares.outside, [&](Index row) {
            for_each_entry(shares.outside, row, [&](Index column, double real) {
                y[shares.outside_rows[row]] += outside.value(row, column, real) * inside.x(vector, shares.halo_columns[column]);
            });
        });
        return y;
    }
};

template <ValueType Value>
RankProduct<Value>::RankProduct(const RanksPlan& plan, const RankShares& shares) : plan_(plan), shares_(shares) {
    recipe_of_outside_.layouts.push_back({.entry = &plan.outside_layout,
                                          .parameters = Parameters(plan.outside_layout.parameters, {}),
                                          .kernels = {},
                                          .place = {}});
    Ranks& ranks = plan.ranks;
    const auto longest =
        static_cast<Offset>(largest_of(ranks, static_cast<double>(longest_row(shares.inside) + longest_row(shares.outside))));
    const auto columns = static_cast<Index>(largest_of(ranks, shares.first_column + shares.inside.columns));
    const ExactShares exact = in_agreement(
        ranks, [&] { return ExactShares(is_symmetric(shares.inside), longest, columns, exact_values_of(plan.recipe)); });

    element_at_.resize(shares.inside.columns);
    std::iota(element_at_.begin(), element_at_.end(), 0);
    if (shares.inside.rows == 0 || shares.inside.columns == 0) {
        std::vector<Index> row_at(shares.inside.rows);
        std::iota(row_at.begin(), row_at.end(), 0);
        (void)verify(nullptr, exact, std::move(row_at));
        return;
    }
    bool verification_started = false;
    try {
        ReadyPlan<Value> ready{.device = plan.device, .kernels = plan.kernels};
        ready.clock = plan.clock;
        ready.exact = [&](ExactValues) -> const ExactProblem& { return exact.inside; };
        ready.verify = [&](const Candidate<Value>& candidate) {
            verification_started = true;
            const ProductSpace& space = *candidate.space;
            for (Index i = 0; i < space.column_order.size(); ++i) element_at_[i] = space.column_order.old_of_new(i);
            VerifiedKernel<Value> verified = verify(&candidate, exact, space.rows_of_result());
            verified.outcome.kernel = candidate.kernel();
            verified.outcome.backend = candidate.backend();
            return verified;
        };
        check_against(plan.recipe, shares.inside.rows, shares.inside.columns);
        inside_.emplace(plan.recipe, stage_input(shares.inside, plan.recipe.node_size), ready);
        preparation_ = inside_->preparation();
        if (inside_->kernel() == nullptr) throw InputError(preparation_.kernel.reason);
    } catch (...) {
        if (verification_started) throw;
        agree(ranks, failure_of_rank());  // throws
    }
}

template <ValueType Value>
VerifiedKernel<Value> RankProduct<Value>::verify(const Candidate<Value>* candidate, const ExactShares& exact,
                                                 std::vector<Index> row_at) {
    agree(plan_.ranks, std::nullopt);  // throws if another rank failed before verification
    place(std::move(row_at));
    in_agreement(plan_.ranks, [&] {
        if (candidate != nullptr) candidate->try_out(plan_.device);
        if (candidate != nullptr) kernel_of_inside_ = candidate->prepare(Values::exact, plan_.device);
        build_outside(exact.outside);
        prepare_outside(Values::exact);
        return true;
    });
    exact_vectors_ = exact.inside.vector_count();
    Comparison found;
    for (int vector = 0; vector < exact_vectors_; ++vector) {
        const std::vector<Value> y = product_of([&](Index column) { return exact.inside.x(vector, column); });
        note(compare_exactly(y, exact.product(shares_, vector)), found);
    }
    agree(plan_.ranks, failure_in(found));

    VerifiedKernel<Value> verified;
    in_agreement(plan_.ranks, [&] {
        kernel_of_inside_.reset();
        const Stopwatch of_inside(plan_.clock);
        if (candidate != nullptr) kernel_of_inside_ = verified.kernel = candidate->prepare(Values::real, plan_.device);
        (void)plan_.device.time([] {});
        verified.outcome.prepare_seconds = of_inside.seconds();
        const Stopwatch of_outside(plan_.clock);
        prepare_outside(Values::real);
        outside_.exact.reset();
        outside_seconds_ += of_outside.seconds();
        return true;
    });
    for (const std::uint32_t seed : {1U, 2U}) {
        const std::vector<Value> y = product_of([&](Index column) { return real_element(column, seed); });
        note(compare_within(y, reference_of<Value>(shares_, seed)), found);
    }
    agree(plan_.ranks, failure_in(found));
    error_over_bound_ = largest_of(plan_.ranks, found.error_over_bound);
    verified.outcome.error_over_bound = found.error_over_bound;
    verified.outcome.precision = precision_of<Value>;
    verified.outcome.status = KernelOutcome::Status::measured;
    return verified;
}

/// Sets up the exchange and the rows of y that the outside share adds to.
template <ValueType Value>
void RankProduct<Value>::place(std::vector<Index> row_at) {
    row_at_ = std::move(row_at);
    std::vector<Index> place_of_row(row_at_.size());
    for (std::size_t i = 0; i < row_at_.size(); ++i) place_of_row[row_at_[i]] = static_cast<Index>(i);
    std::vector<Index> place_of_element(element_at_.size());
    for (std::size_t i = 0; i < element_at_.size(); ++i) place_of_element[element_at_[i]] = static_cast<Index>(i);
    exchange_ = plan_.links.template make_exchange<Value>(shares_.plan(place_of_element));
    const Permutation order = by_length(shares_.outside);
    for (Index i = 0; i < order.size(); ++i) targets_.push_back(place_of_row[shares_.outside_rows[order.old_of_new(i)]]);
    staged_outside_ = stage_input(permute(shares_.outside, order, Permutation::identity(shares_.outside.columns)));
    staged_outside_.row_order = order;
}

/// The layout of the outside share, with its values and with those of the exact problem.
template <ValueType Value>
void RankProduct<Value>::build_outside(const ExactProblem& problem) {
    if (targets_.empty()) return;
    const BuildOptions options{.exact = [&](ExactValues) -> const ExactProblem& { return problem; }, .clock = plan_.clock};
    BuiltLayouts<Value> built = build_layouts<Value>(recipe_of_outside_, staged_outside_, options);
    outside_ = std::move(built.shares.front().layout);
    outside_seconds_ = built.outcome.seconds;
}

template <ValueType Value>
void RankProduct<Value>::prepare_outside(Values values) {
    if (targets_.empty()) return;
    const KernelEntry* const entry = choose_kernel(recipe_of_outside_.layouts.front(), {plan_.device.properties().kind});
    if (entry == nullptr) throw std::logic_error("the outside share's layout has no kernel for this device");
    kernel_of_outside_.reset();
    const Layout<Value>& layout = values == Values::exact ? *outside_.exact : *outside_.real;
    kernel_of_outside_ = prepare_rows_kernel(*entry, layout, targets_, plan_.device);
}

/// y = A x for x_at(global column), in the order of this rank's rows.
template <ValueType Value>
template <typename ElementOfX>
std::vector<Value> RankProduct<Value>::product_of(const ElementOfX& x_at) {
    std::vector<Value> x(element_at_.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Value>(x_at(shares_.first_column + element_at_[i]));
    std::vector<Value> y(row_at_.size(), unwritten<Value>());
    const DeviceMemory x_memory = to_device(plan_.device, std::span<const Value>(x), "x");
    DeviceMemory y_memory = to_device(plan_.device, std::span<const Value>(y), "y");
    (void)plan_.device.time([&] { multiply(x_memory.as<const Value>(), y_memory.as<Value>()); });
    plan_.device.download(y_memory, std::as_writable_bytes(std::span(y)));
    std::vector<Value> in_row_order(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) in_row_order[row_at_[i]] = y[i];
    return in_row_order;
}

template <ValueType Value>
void RankProduct<Value>::multiply(const Value* x, Value* y) {
    exchange_->start(x);
    multiply_inside(x, y);
    exchange_->finish();
    multiply_outside(y);
}

template <ValueType Value>
void RankProduct<Value>::multiply_inside(const Value* x, Value* y) {
    if (kernel_of_inside_ != nullptr) {
        kernel_of_inside_->run(x, y, false);
    } else if (!row_at_.empty()) {
        plan_.device.zero(y, row_at_.size() * sizeof(Value));
    }
}

template <ValueType Value>
void RankProduct<Value>::exchange(const Value* x) {
    exchange_->start(x);
    exchange_->finish();
}

template <ValueType Value>
void RankProduct<Value>::multiply_outside(Value* y) {
    if (kernel_of_outside_ != nullptr) kernel_of_outside_->run(exchange_->halo(), y, true);
}

template <ValueType Value>
std::span<const Index> RankProduct<Value>::partition() const {
    return inside_ ? std::span<const Index>(inside_->partition()) : std::span<const Index>();
}

template class RankProduct<float>;
template class RankProduct<double>;

}  // namespace workbench
