#include "pipeline/measure/measure.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/host_memory.hpp"
#include "pipeline/measure/rows_kernel.hpp"

namespace workbench {
namespace {

/// For two x each: the exact product, and the real one with its bounds.
void require_memory_for_results(const CsrMatrix& input) {
    require_host_memory(2 * sizeof(double) * (std::size_t{3} * input.rows + input.columns), "the right results");
}

/// The vectors of one product on a device.
template <ValueType Value>
class Product {
public:
    Product(const ProductSpace& space, Device& device)
        : space_(space),
          device_(device),
          x_(device.allocate(space.column_order.size() * sizeof(Value), "x")),
          y_(device.allocate(space.row_order.size() * sizeof(Value), "y")),
          rows_of_y_(space.rows_of_result()) {}

    /// x in the input's order.
    template <typename At>
    void set_x(At at) {
        std::vector<Value> x(space_.column_order.size());
        for (Index i = 0; i < space_.column_order.size(); ++i) x[i] = static_cast<Value>(at(space_.column_order.old_of_new(i)));
        device_.upload(std::as_bytes(std::span(x)), x_);
    }

    /// y before a run, in the input's order.
    template <typename At>
    void set_y(At at) {
        std::vector<Value> y(rows_of_y_.size());
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = at(rows_of_y_[i]);
        device_.upload(std::as_bytes(std::span(y)), y_);
    }

    /// y = A x, or y += A x, both in x's space.
    void run(Kernel<Value>& kernel, bool accumulate) { kernel.run(x_.as<const Value>(), y_.as<Value>(), accumulate); }

    /// y in the input's order.
    [[nodiscard]] std::vector<Value> y() {
        std::vector<Value> there(rows_of_y_.size());
        device_.download(y_, std::as_writable_bytes(std::span(there)));
        std::vector<Value> back(there.size());
        for (std::size_t i = 0; i < back.size(); ++i) back[rows_of_y_[i]] = there[i];
        return back;
    }

private:
    const ProductSpace& space_;
    Device& device_;
    DeviceMemory x_;
    DeviceMemory y_;
    std::vector<Index> rows_of_y_;  // of the input
};

template <ValueType Value>
Comparison verify_exactly(Kernel<Value>& kernel, Product<Value>& product, const Oracle<Value>& oracle, Device& device) {
    for (int vector = 0; vector < oracle.exact.vector_count(); ++vector) {
        product.set_x([&](Index column) { return oracle.exact.x(vector, column); });
        product.set_y([](Index) { return unwritten<Value>(); });
        (void)device.time([&] { product.run(kernel, false); });
        if (Comparison found = compare_exactly(product.y(), oracle.exact_products[vector]); !found.right) return found;
    }
    // The last x again, added to a y that is already there.
    std::vector<double> expected = oracle.exact_products.back();
    for (std::size_t row = 0; row < expected.size(); ++row) expected[row] += ExactProblem::start(static_cast<Index>(row));
    product.set_y([&](Index row) { return static_cast<Value>(ExactProblem::start(row)); });
    (void)device.time([&] { product.run(kernel, true); });
    Comparison found = compare_exactly(product.y(), expected);
    if (!found.right) found.first_wrong += " (adding to a y that was there)";
    return found;
}

template <ValueType Value>
Comparison verify_within_bounds(Kernel<Value>& kernel, Product<Value>& product, const Oracle<Value>& oracle, Device& device) {
    Comparison worst;
    for (std::size_t i = 0; i < oracle.references.size(); ++i) {
        product.set_x([&](Index column) { return oracle.real_vectors[i][column]; });
        product.set_y([](Index) { return unwritten<Value>(); });
        (void)device.time([&] { product.run(kernel, false); });
        Comparison found = compare_within(product.y(), oracle.references[i]);
        if (!found.right) return found;
        worst.error_over_bound = std::max(worst.error_over_bound, found.error_over_bound);
    }
    return worst;
}

/// With the vectors that it was verified on.
template <ValueType Value>
struct VerifiedProduct {
    VerifiedKernel<Value> verified;
    std::shared_ptr<Product<Value>> product;
};

template <ValueType Value>
VerifiedProduct<Value> verify_on_product(const Candidate<Value>& candidate, const ProductSpace& space,
                                         const Oracle<Value>& oracle, Device& device, const Clock& clock) {
    VerifiedProduct<Value> result;
    KernelOutcome& outcome = result.verified.outcome;
    outcome.kernel = candidate.kernel;
    outcome.backend = candidate.backend;
    outcome.precision = precision_of<Value>;
    try {
        if (candidate.try_out) candidate.try_out(device);
        result.product = std::make_shared<Product<Value>>(space, device);
        Comparison found = verify_exactly(*candidate.exact(device), *result.product, oracle, device);
        std::shared_ptr<Kernel<Value>> kernel;
        if (found.right) {
            // Timing nothing waits for copies that are still under way.
            const Stopwatch watch(clock);
            kernel = candidate.real(device);
            (void)device.time([] {});
            outcome.prepare_seconds = watch.seconds();
            found = verify_within_bounds(*kernel, *result.product, oracle, device);
        }
        outcome.error_over_bound = found.error_over_bound;
        outcome.status = found.right ? KernelOutcome::Status::measured : KernelOutcome::Status::wrong;
        outcome.reason = found.first_wrong;
        if (found.right) result.verified.kernel = std::move(kernel);
    } catch (const Unsuitable& reason) {
        outcome.status = KernelOutcome::Status::unsuitable;
        outcome.reason = reason.what();
    } catch (const BrokenKernel& reason) {
        outcome.status = KernelOutcome::Status::wrong;
        outcome.reason = reason.what();
    }
    return result;
}

/// What it costs to bring x into the layout's order and y back, once each; nothing where both are in the input's.
template <ValueType Value>
double time_vector_permutation(const ProductSpace& space, Device& device) {
    const auto time_one = [&device](std::span<const Index> list) {
        const auto count = static_cast<Index>(list.size());
        const DeviceMemory order = to_device(device, list, "an order");
        DeviceMemory from = device.allocate(count * sizeof(Value), "a vector");
        const DeviceMemory to = device.allocate(count * sizeof(Value), "a vector");
        const std::vector<Value> zeros(count);
        device.upload(std::as_bytes(std::span(zeros)), from);
        const auto scatter = [&] { device.scatter(from.as<const Value>(), order.as<const Index>(), count, to.as<Value>()); };
        (void)device.time(scatter);
        return device.time(scatter);
    };
    double seconds = 0;
    if (!space.column_order.is_identity()) seconds += time_one(space.column_order.new_of_old());
    const std::vector<Index> back = space.rows_of_result();
    if (!Permutation::from_old_of_new(back).is_identity()) seconds += time_one(back);
    return seconds;
}

/// Conjugate gradients on a square matrix, for the same right-hand side whatever its order. They begin anew before numbers get
/// so small that a processor takes longer for them.
template <ValueType Value>
std::shared_ptr<Krylov<Value>> begin_cg(const ProductSpace& space, Device& device) {
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
    std::shared_ptr<Krylov<Value>> krylov = device.make_krylov(plan, std::span<const Value>(b), {});
    if (krylov == nullptr) throw MachineError(fmt::format("inside CG: {} cannot iterate", device.properties().name));
    return krylov;
}

void derive_rates(KernelOutcome& outcome, Offset nonzero_count, std::int64_t bytes_to_move, Device& device) {
    const auto nonzeros = static_cast<double>(nonzero_count);
    outcome.bytes_to_move = bytes_to_move;
    const auto bytes = static_cast<double>(bytes_to_move);
    if (nonzeros > 0) outcome.bytes_per_nonzero = bytes / nonzeros;
    if (outcome.timing.median <= 0) return;
    outcome.gflops = 2 * nonzeros / outcome.timing.median / 1e9;
    outcome.gbytes_per_second = bytes / outcome.timing.median / 1e9;
    const Bandwidth bandwidth = device.bandwidth();
    outcome.share_of_copy = bytes / outcome.timing.median / bandwidth.copy;
    outcome.share_of_read = bytes / outcome.timing.median / bandwidth.read;
}

}  // namespace

template <ValueType Value>
Oracle<Value>::Oracle(const CsrMatrix& input) : exact(input) {
    require_memory_for_results(input);
    for (int vector = 0; vector < exact.vector_count(); ++vector) exact_products.push_back(exact.product(input, vector));
    for (const std::uint32_t seed : {1U, 2U}) {
        real_vectors.push_back(real_vector(input.columns, seed));
        references.push_back(bounded_reference<Value>(input, real_vectors.back()));
    }
}

template <ValueType Value>
Oracle<Value>::Oracle(const Oracle& whole, const CsrMatrix& share) : exact(whole.exact), real_vectors(whole.real_vectors) {
    require_memory_for_results(share);
    for (int vector = 0; vector < exact.vector_count(); ++vector) exact_products.push_back(exact.product(share, vector));
    for (const std::vector<double>& x : real_vectors) references.push_back(bounded_reference<Value>(share, x));
}

ProductSpace::ProductSpace(const Permutation& rows, const Permutation& columns) : row_order(rows), column_order(columns) {
    if (rows == columns) return;
    const bool square = rows.size() == columns.size();
    target.resize(rows.size());
    for (Index i = 0; i < rows.size(); ++i) {
        const Index original = rows.old_of_new(i);
        target[i] = square ? columns.new_of_old(original) : original;
    }
    if (Permutation::from_new_of_old(target).is_identity()) target.clear();
}

std::vector<Index> ProductSpace::targets_of(std::span<const Index> rows) const {
    std::vector<Index> targets(rows.begin(), rows.end());
    if (target.empty()) return targets;
    for (Index& row : targets) row = target[row];
    return targets;
}

std::vector<Index> ProductSpace::rows_of_result() const {
    std::vector<Index> rows(row_order.size());
    for (Index i = 0; i < row_order.size(); ++i) rows[target.empty() ? i : target[i]] = row_order.old_of_new(i);
    return rows;
}

std::optional<Verdict> KernelOutcome::verdict() const {
    if (baseline || !speedup) return std::nullopt;
    if (!speedup_interval) return Verdict::too_few_samples;
    if (speedup_interval->low > 1) return Verdict::faster;
    return speedup_interval->high < 1 ? Verdict::slower : Verdict::within_noise;
}

template <ValueType Value>
Candidate<Value> candidate_of(const KernelEntry& entry, const Layout<Value>* exact, const Layout<Value>& real,
                              const ProductSpace& space) {
    Candidate<Value> candidate{
        entry.name,
        entry.backend,
        [&entry, &space, exact](Device& on) { return prepare_rows_kernel(entry, *exact, space.target, on); },
        [&entry, &space, &real](Device& on) { return prepare_rows_kernel(entry, real, space.target, on); },
        real.nonzeros(),
        real.bytes_to_move(),
        static_cast<std::int64_t>(space.target.size() * sizeof(Index)),
        {},
    };
    if (const auto& try_out = entry.try_out.template get<Value>()) {
        candidate.try_out = [=, &tried = exact != nullptr ? *exact : real](Device& on) { try_out(tried, on); };
    }
    return candidate;
}

template <ValueType Value>
ReadyKernel prepare_kernel(const KernelEntry& entry, const Layout<Value>& exact, const Layout<Value>& real,
                           const ProductSpace& space, const Oracle<Value>& oracle, Device& device, const Clock& clock) {
    return prepare_candidate(candidate_of(entry, &exact, real, space), space, oracle, device, clock);
}

template <ValueType Value>
VerifiedKernel<Value> verify_candidate(const Candidate<Value>& candidate, const ProductSpace& space,
                                       const Oracle<Value>& oracle, Device& device, const Clock& clock) {
    return verify_on_product(candidate, space, oracle, device, clock).verified;
}

template <ValueType Value>
ReadyKernel prepare_candidate(const Candidate<Value>& candidate, const ProductSpace& space, const Oracle<Value>& oracle,
                              Device& device, const Clock& clock) {
    auto [verified, product] = verify_on_product(candidate, space, oracle, device, clock);
    ReadyKernel ready{std::move(verified.outcome), &device, {}, {}, {}};
    if (verified.kernel == nullptr) return ready;
    const std::int64_t bytes =
        verified.kernel->own_bytes_to_move().value_or(candidate.bytes_to_move) + candidate.bytes_of_targets;
    ready.inside_cg = [kernel = verified.kernel, &space, &device] {
        const std::shared_ptr<Krylov<Value>> krylov = begin_cg<Value>(space, device);
        const auto run = [=] { kernel->run(krylov->operands().x, krylov->operands().y, false); };
        return InsideIteration{run, [=] { krylov->rest_of_iteration(); }};
    };
    ready.run = [product = std::move(product), kernel = std::move(verified.kernel)] { product->run(*kernel, false); };
    ready.derive_rates = [nonzeros = candidate.nonzeros, bytes, &space, &device](KernelOutcome& timed) {
        timed.vector_permutation_seconds = time_vector_permutation<Value>(space, device);
        derive_rates(timed, nonzeros, bytes, device);
    };
    return ready;
}

void time_in_turns(const std::vector<ReadyKernel*>& kernels, const TimingOptions& options) {
    std::vector<ReadyKernel*> timed;
    std::vector<Contender> contenders;
    for (ReadyKernel* kernel : kernels) {
        if (!kernel->to_be_timed()) continue;
        timed.push_back(kernel);
        InsideIteration inside{kernel->run, {}};
        if (options.cache == CacheState::inside_cg) inside = kernel->inside_cg();
        contenders.push_back(
            {kernel->outcome.kernel, kernel->device, std::move(inside.run), std::move(inside.rest_of_iteration)});
    }
    if (timed.empty()) return;
    std::vector<Timing> timings = time_in_turns(contenders, options);
    for (std::size_t i = 0; i < timed.size(); ++i) {
        timed[i]->outcome.timing = std::move(timings[i]);
        timed[i]->derive_rates(timed[i]->outcome);
    }
}

void compare_with_baseline(KernelOutcome& kernel, const KernelOutcome& baseline, double price_in_seconds) {
    if (!kernel.verified() || !baseline.verified() || kernel.timing.median <= 0) return;
    if (kernel.baseline) {
        kernel.speedup = 1;
        return;
    }
    const std::vector<double>& mine = kernel.timing.samples;
    const std::vector<double>& theirs = baseline.timing.samples;
    std::vector<double> ratios;
    std::vector<double> gains;  // seconds
    for (std::size_t round = 0; round < std::min(mine.size(), theirs.size()); ++round) {
        gains.push_back(theirs[round] - mine[round]);
        // A clock may be too coarse to see one product.
        ratios.push_back(gains.back() == 0 ? 1 : theirs[round] / mine[round]);
    }
    const Median ratio = median_of(std::move(ratios));
    kernel.speedup = ratio.value;
    kernel.speedup_interval = ratio.interval;
    if (kernel.verdict() != Verdict::faster) return;
    const Median gain = median_of(std::move(gains));  // all of its interval is above 0, as that of the ratio is above 1
    kernel.break_even = price_in_seconds / gain.value;
    kernel.break_even_interval = Interval{price_in_seconds / gain.interval->high, price_in_seconds / gain.interval->low};
}

template <ValueType Value>
KernelOutcome measure_kernel(const KernelEntry& entry, const Layout<Value>& exact, const Layout<Value>& real,
                             const ProductSpace& space, const Oracle<Value>& oracle, Device& device,
                             const TimingOptions& timing) {
    ReadyKernel ready = prepare_kernel(entry, exact, real, space, oracle, device, timing.clock);
    time_in_turns({&ready}, timing);
    return std::move(ready.outcome);
}

template <ValueType Value>
KernelOutcome measure_candidate(const Candidate<Value>& candidate, const ProductSpace& space, const Oracle<Value>& oracle,
                                Device& device, const TimingOptions& timing) {
    ReadyKernel ready = prepare_candidate(candidate, space, oracle, device, timing.clock);
    time_in_turns({&ready}, timing);
    return std::move(ready.outcome);
}

template struct Oracle<float>;
template struct Oracle<double>;
template Candidate<float> candidate_of<float>(const KernelEntry&, const Layout<float>*, const Layout<float>&,
                                              const ProductSpace&);
template Candidate<double> candidate_of<double>(const KernelEntry&, const Layout<double>*, const Layout<double>&,
                                                const ProductSpace&);
template VerifiedKernel<float> verify_candidate<float>(const Candidate<float>&, const ProductSpace&, const Oracle<float>&,
                                                       Device&, const Clock&);
template VerifiedKernel<double> verify_candidate<double>(const Candidate<double>&, const ProductSpace&, const Oracle<double>&,
                                                         Device&, const Clock&);
template ReadyKernel prepare_candidate<float>(const Candidate<float>&, const ProductSpace&, const Oracle<float>&, Device&,
                                              const Clock&);
template ReadyKernel prepare_candidate<double>(const Candidate<double>&, const ProductSpace&, const Oracle<double>&, Device&,
                                               const Clock&);
template KernelOutcome measure_candidate<float>(const Candidate<float>&, const ProductSpace&, const Oracle<float>&, Device&,
                                                const TimingOptions&);
template KernelOutcome measure_candidate<double>(const Candidate<double>&, const ProductSpace&, const Oracle<double>&, Device&,
                                                 const TimingOptions&);
template ReadyKernel prepare_kernel<float>(const KernelEntry&, const Layout<float>&, const Layout<float>&, const ProductSpace&,
                                           const Oracle<float>&, Device&, const Clock&);
template ReadyKernel prepare_kernel<double>(const KernelEntry&, const Layout<double>&, const Layout<double>&,
                                            const ProductSpace&, const Oracle<double>&, Device&, const Clock&);
template KernelOutcome measure_kernel<float>(const KernelEntry&, const Layout<float>&, const Layout<float>&,
                                             const ProductSpace&, const Oracle<float>&, Device&, const TimingOptions&);
template KernelOutcome measure_kernel<double>(const KernelEntry&, const Layout<double>&, const Layout<double>&,
                                              const ProductSpace&, const Oracle<double>&, Device&, const TimingOptions&);

}  // namespace workbench
