#include "pipeline/measure/measure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <array>

#include "core/contract/errors.hpp"
#include "core/system/compile.hpp"
#include "core/system/host_memory.hpp"
#include "pipeline/measure/checked_product.hpp"

namespace workbench {
namespace {

/// For two x each: the exact product, and the real one with its bounds.
void require_memory_for_results(const CsrMatrix& input) {
    require_host_memory(2 * sizeof(double) * (std::size_t{3} * input.rows + input.columns), "the right results");
}

/// In turn i, vector j of the product is x number i + j of the problem, so that each vector is verified with each x.
template <ValueType Value>
Comparison verify_exactly(Kernel<Value>& kernel, VectorsOfProduct<Value>& vectors, const ExactReference& exact,
                          Device& device) {
    const int count = exact.problem.vector_count();
    for (int turn = 0; turn < count; ++turn) {
        const auto number = [turn, count](int vector) { return (turn + vector) % count; };
        vectors.set_x([&](Index column, int vector) { return exact.problem.x(number(vector), column); });
        vectors.clear_y();
        (void)device.time([&] { vectors.run(kernel, false); });
        Comparison found = vectors.compare_exactly([&](Index row, int vector) { return exact.products[number(vector)][row]; });
        if (!found.right) return found;
    }
    // The last x again, added to a y that is already there.
    vectors.set_y([&](Index row, int vector) { return static_cast<Value>(ExactProblem::start(row, vector)); });
    (void)device.time([&] { vectors.run(kernel, true); });
    Comparison found = vectors.compare_exactly([&](Index row, int vector) {
        return exact.products[(count - 1 + vector) % count][row] + ExactProblem::start(row, vector);
    });
    if (!found.right) found.first_wrong += " (adding to a y that was there)";
    return found;
}

/// Several vectors all differ, and are compared with products of their own.
template <ValueType Value>
Comparison verify_within_bounds(Kernel<Value>& kernel, VectorsOfProduct<Value>& vectors, const Oracle<Value>& oracle,
                                const CsrMatrix* rounded, Device& device, double& first_seconds) {
    const auto run = [&] {
        vectors.clear_y();
        return device.time([&] { vectors.run(kernel, false); });
    };
    const CsrMatrix& matrix = rounded == nullptr ? *oracle.matrix() : *rounded;
    if (const int count = vectors.count(); count > 1) {
        HostArray<Value> x = unwritten_array<Value>(static_cast<std::size_t>(matrix.columns) * count);
        for_pieces(x.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                x[i] =
                    static_cast<Value>(real_element(static_cast<Index>(i / count), static_cast<std::uint32_t>(i % count + 1)));
            }
        });
        vectors.set_x([&](Index column, int vector) { return x[Offset{column} * count + vector]; });
        first_seconds = run();
        return vectors.compare_within(matrix, x.data(), {}, vectors.y());
    }
    Comparison worst;
    for (std::size_t i = 0; i < oracle.references.size(); ++i) {
        vectors.set_x([&](Index column) { return oracle.real_vectors[i][column]; });
        const double seconds = run();
        if (i == 0) first_seconds = seconds;
        Comparison found = vectors.compare_each([&](const auto& y, int) {
            return compare_within(
                y, rounded == nullptr ? oracle.references[i] : bounded_reference<Value>(matrix, oracle.real_vectors[i]));
        });
        if (!found.right) return found;
        worst.error_over_bound = std::max(worst.error_over_bound, found.error_over_bound);
    }
    return worst;
}

/// The vectors may be null without an oracle.
template <ValueType Value>
VerifiedKernel<Value> verify_on(VectorsOfProduct<Value>* vectors, const Candidate<Value>& candidate,
                                const Verifier<Value>& verifier) {
    VerifiedKernel<Value> verified;
    KernelOutcome& outcome = verified.outcome;
    outcome.kernel = candidate.kernel();
    outcome.backend = candidate.backend();
    outcome.one_by_one = candidate.multiplies_one_by_one();
    outcome.precision = precision_of<Value>;
    const Oracle<Value>* const oracle = verifier.oracle;
    Device& device = verifier.device;
    try {
        candidate.try_out(device);
        Comparison found;
        if (oracle != nullptr && oracle->is_exact()) {
            const ExactReference& exact = oracle->exact(candidate.exact_values);
            found = verify_exactly(*candidate.prepare(Values::exact, device), *vectors, exact, device);
        }
        if (found.right) {
            const double compiled_before = seconds_of_compiling_kernels();
            const Stopwatch watch(verifier.clock);
            verified.kernel = candidate.prepare(Values::real, device);
            (void)device.time([] {});  // waits for copies
            outcome.prepare_seconds = watch.seconds() - (seconds_of_compiling_kernels() - compiled_before);
            if (oracle != nullptr) {
                found = verify_within_bounds(*verified.kernel, *vectors, *oracle, candidate.rounded.get(), device,
                                             outcome.first_seconds);
            }
        }
        outcome.error_over_bound = found.error_over_bound;
        outcome.status = found.right ? KernelOutcome::Status::measured : KernelOutcome::Status::wrong;
        outcome.reason = found.first_wrong;
    } catch (const Unsuitable& reason) {
        outcome.reason = reason.what();
    } catch (const BrokenKernel& reason) {
        outcome.status = KernelOutcome::Status::wrong;
        outcome.reason = reason.what();
    }
    if (!outcome.verified()) verified.kernel.reset();
    return verified;
}

/// The time to permute x to the layout's order and y back, once each; 0 if both are in the input's order.
template <ValueType Value>
double time_vector_permutation(const ProductSpace& space, Device& device) {
    const auto time_one = [&](std::span<const Index> list) {
        const std::vector<Index> elements = elements_of(list, space.vectors);
        const auto count = static_cast<Index>(elements.size());
        const DeviceMemory order = to_device(device, std::span<const Index>(elements), "an order");
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

void derive_rates(KernelOutcome& outcome, Offset nonzero_count, int vectors, std::int64_t bytes_to_move, Device& device) {
    const auto nonzeros = static_cast<double>(nonzero_count);
    outcome.bytes_to_move = bytes_to_move;
    const auto bytes = static_cast<double>(bytes_to_move);
    if (nonzeros > 0) outcome.bytes_per_nonzero = bytes / nonzeros;
    if (outcome.timing.median <= 0) return;
    outcome.gflops = 2 * vectors * nonzeros / outcome.timing.median / 1e9;
    outcome.gbytes_per_second = bytes / outcome.timing.median / 1e9;
    const Bandwidth bandwidth = device.bandwidth();
    outcome.share_of_copy = bytes / outcome.timing.median / bandwidth.copy;
    outcome.share_of_read = bytes / outcome.timing.median / bandwidth.read;
}

template <ValueType Value>
class VerifiedProduct final : public TimedProduct {
public:
    VerifiedProduct(Candidate<Value> candidate, VectorsOfProduct<Value> vectors, std::shared_ptr<Kernel<Value>> kernel,
                    std::shared_ptr<const CsrMatrix> matrix, Device& device)
        : candidate_(std::move(candidate)),
          kernel_(std::move(kernel)),
          product_(std::move(vectors), kernel_, std::move(matrix), device),
          device_(device) {
        for (auto& share : candidate_.shares) share.layout.exact.reset();
    }

    [[nodiscard]] Contender contender() override {
        return product_.contender(candidate_.kernel(), candidate_.bytes_to_move(*kernel_));
    }
    void begin_cg() override { product_.begin_cg(); }
    void end_cg() override { product_.end_cg(); }

    void derive_rates(KernelOutcome& outcome) override {
        outcome.vector_permutation_seconds = time_vector_permutation<Value>(*candidate_.space, device_);
        workbench::derive_rates(outcome, candidate_.nonzeros(), candidate_.space->vectors, candidate_.bytes_to_move(*kernel_),
                                device_);
    }

private:
    Candidate<Value> candidate_;
    std::shared_ptr<Kernel<Value>> kernel_;
    CheckedProduct<Value> product_;
    Device& device_;
};

ExactReference reference_of(const ExactProblem& problem, const CsrMatrix& matrix) {
    return {problem, problem.products(matrix)};
}

}  // namespace

template <ValueType Value>
Oracle<Value>::Oracle(const CsrMatrix& input, std::optional<ExactValues> exactly)
    : matrix_(std::shared_ptr<void>(), &input), is_whole_(true), is_exact_(exactly.has_value()) {
    require_memory_for_results(input);
    if (exactly) (void)exact(*exactly);
    for (const std::uint32_t seed : seeds_of_real_vectors) {
        real_vectors.push_back(real_vector(input.columns, seed));
        references.push_back(bounded_reference<Value>(input, real_vectors.back()));
    }
}

template <ValueType Value>
Oracle<Value>::Oracle(const Oracle& whole, CsrMatrix share, ExactValues kind, Rounding rounding)
    : real_vectors(whole.real_vectors) {
    require_memory_for_results(share);
    exact_[static_cast<std::size_t>(kind)] = reference_of(whole.exact(kind).problem, share);
    if (rounding != Rounding::none) {
        for (double& value : share.values) value = rounded(value, rounding);
    }
    for (const std::vector<double>& x : real_vectors) references.push_back(bounded_reference<Value>(share, x));
    matrix_ = std::make_shared<const CsrMatrix>(std::move(share));
}

template <ValueType Value>
const ExactReference& Oracle<Value>::exact(ExactValues kind) const {
    std::optional<ExactReference>& exact = exact_[static_cast<std::size_t>(kind)];
    if (!exact) {
        if (!is_whole_) throw std::logic_error("the oracle of a share has one kind of integers");
        exact = reference_of(ExactProblem(*matrix_, kind), *matrix_);
    }
    return *exact;
}

template <ValueType Value>
ExactProblems Oracle<Value>::exact_problems() const {
    if (!is_exact_) return {};
    return [this](ExactValues kind) -> const ExactProblem& { return exact(kind).problem; };
}

std::optional<Verdict> KernelOutcome::verdict() const {
    if (baseline || !speedup) return std::nullopt;
    if (!speedup_interval) return Verdict::too_few_samples;
    if (busy) return Verdict::busy_machine;
    if (speedup_interval->low > 1) return Verdict::faster;
    return speedup_interval->high < 1 ? Verdict::slower : Verdict::within_noise;
}

template <ValueType Value>
VerifiedKernel<Value> Verifier<Value>::verify(const Candidate<Value>& candidate) const {
    if (oracle == nullptr) return verify_on<Value>(nullptr, candidate, *this);
    VectorsOfProduct<Value> vectors(candidate.space, device);
    return verify_on(&vectors, candidate, *this);
}

template <ValueType Value>
ReadyKernel Verifier<Value>::make_ready(const Candidate<Value>& candidate) const {
    VectorsOfProduct<Value> vectors(candidate.space, device);
    VerifiedKernel<Value> verified = verify_on(&vectors, candidate, *this);
    ReadyKernel ready{.outcome = std::move(verified.outcome), .device = &device};
    if (verified.kernel != nullptr) {
        ready.product = std::make_unique<VerifiedProduct<Value>>(
            candidate, std::move(vectors), std::move(verified.kernel),
            candidate.rounded == nullptr ? oracle->matrix() : candidate.rounded, device);
    }
    return ready;
}

template <ValueType Value>
KernelOutcome Verifier<Value>::measure(const Candidate<Value>& candidate, const TimingOptions& timing) const {
    ReadyKernel ready = make_ready(candidate);
    time_in_turns({&ready}, timing);
    return std::move(ready.outcome);
}

void time_in_turns(const std::vector<ReadyKernel*>& kernels, const TimingOptions& options) {
    std::vector<ReadyKernel*> timed;
    std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(timed),
                 [](const ReadyKernel* kernel) { return kernel->product != nullptr; });
    if (timed.empty()) return;
    const bool inside_cg = options.cache == CacheState::inside_cg;
    std::vector<Contender> contenders;
    for (const ReadyKernel* kernel : timed) {
        if (inside_cg) kernel->product->begin_cg();
        contenders.push_back(kernel->product->contender());
    }
    std::vector<Timing> timings = time_in_turns(contenders, options);
    for (std::size_t i = 0; i < timed.size(); ++i) {
        ReadyKernel& kernel = *timed[i];
        if (inside_cg) kernel.product->end_cg();
        if (timings[i].fault.empty()) {
            kernel.outcome.timing = std::move(timings[i]);
            kernel.product->derive_rates(kernel.outcome);
        } else {
            kernel.outcome.status = KernelOutcome::Status::wrong;
            kernel.outcome.reason = std::move(timings[i].fault);
            kernel.outcome.timing = {};
            kernel.product.reset();
        }
    }
}

bool machine_was_busy(long interruptions, std::size_t samples, double seconds) {
    constexpr double least_time_slice = 1e-3;
    constexpr double tolerated = 0.1;
    return interruptions > static_cast<long>(samples) &&
           static_cast<double>(interruptions) * least_time_slice > tolerated * seconds;
}

bool machine_was_busy(const KernelOutcome& kernel) {
    const std::vector<double>& samples = kernel.timing.samples;
    return device_of(kernel.backend) == DeviceKind::host &&
           machine_was_busy(kernel.timing.interruptions, samples.size(), std::accumulate(samples.begin(), samples.end(), 0.0));
}

Median ratio_in_turns(const Timing& one, const Timing& other) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(one.samples.size(), other.samples.size()); ++round) {
        const bool equal = one.samples[round] == other.samples[round];  // a clock may be too coarse to see one product
        ratios.push_back(equal ? 1 : one.samples[round] / other.samples[round]);
    }
    return median_of(std::move(ratios));
}

void compare_with_baseline(KernelOutcome& kernel, const KernelOutcome& baseline) {
    if (!kernel.verified() || !baseline.verified() || kernel.timing.median <= 0) return;
    kernel.busy = machine_was_busy(kernel) || machine_was_busy(baseline);
    if (kernel.baseline) {
        kernel.speedup = 1;
        return;
    }
    const std::vector<double>& mine = kernel.timing.samples;
    const std::vector<double>& theirs = baseline.timing.samples;
    const Median ratio = ratio_in_turns(baseline.timing, kernel.timing);
    kernel.speedup = ratio.value;
    kernel.speedup_interval = ratio.interval;
    if (kernel.verdict() != Verdict::faster) return;
    std::vector<double> gains;  // seconds
    for (std::size_t round = 0; round < std::min(mine.size(), theirs.size()); ++round) {
        gains.push_back(theirs[round] - mine[round]);
    }
    const Median gain = median_of(std::move(gains));  // all of its interval is above 0, as that of the ratio is above 1
    const double price = kernel.setup_seconds.value_or(0);
    kernel.break_even = price / gain.value;
    kernel.break_even_interval = Interval{price / gain.interval->high, price / gain.interval->low};
}

template struct Oracle<float>;
template struct Oracle<double>;
template struct Verifier<float>;
template struct Verifier<double>;

bool still_works(Device& device) {
    std::array<Index, 4> numbers{};
    try {
        const DeviceMemory memory = to_device(device, std::span<const Index>(numbers), "a test of the device");
        device.download(memory, std::as_writable_bytes(std::span(numbers)));
    } catch (const UserError&) {
        return false;
    }
    return true;
}

}  // namespace workbench
