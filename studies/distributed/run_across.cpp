#include "studies/distributed/run_across.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "kernels/krylov/cg_across_ranks.hpp"
#include "pipeline/engine/solve_engine.hpp"
#include "pipeline/measure/timing.hpp"
#include "pipeline/solving/solve_range.hpp"
#include "studies/distributed/collective.hpp"
#include "studies/distributed/messages.hpp"
#include "studies/distributed/persistent_across.hpp"

namespace workbench {
namespace {

constexpr std::int64_t most_iterations_per_launch = 32;
constexpr double launch_seconds = 0.004;  // short, because iterations launched beyond the end are computed in vain
constexpr double sample_seconds = 0.02;

/// Times collective work; each sample repeats it many times.
class TimingAcross {
public:
    TimingAcross(Ranks& ranks, Device& device, int samples) : ranks_(ranks), device_(device), samples_(samples) {}

    /// Sets the repetitions per sample, the same on all ranks.
    void choose_repeats(const std::function<void()>& work) {
        repeats_ = 1;
        (void)sample(work);
        const double once = largest_of(ranks_, sample(work));
        repeats_ = static_cast<int>(std::clamp(sample_seconds / std::max(once, 1e-7), 1.0, 200.0));
    }
    [[nodiscard]] int repeats() const { return repeats_; }

    /// Median seconds of one repetition on this rank.
    [[nodiscard]] double time(const std::function<void()>& work) {
        (void)sample(work);
        std::vector<double> samples;
        for (int i = 0; i < samples_; ++i) samples.push_back(sample(work));
        return median_of(std::move(samples)).value;
    }

private:
    double sample(const std::function<void()>& work) {
        ranks_.barrier();
        return device_.time([&] {
            for (int i = 0; i < repeats_; ++i) work();
        }) / repeats_;
    }

    Ranks& ranks_;
    Device& device_;
    int samples_;
    int repeats_ = 1;
};

/// Conjugate gradients to a true residual below the tolerance, with restarts. x is in the order of this rank's rows.
template <ValueType Value>
class SolveOfRank {
public:
    SolveOfRank(const RanksPlan& plan, const RankShares& shares, std::vector<double> b, RankProduct<Value>& product,
                const SolveOptions& options)
        : plan_(plan),
          shares_(shares),
          b_(std::move(b)),
          product_(product),
          options_(options),
          norm_of_b_(norm_over(plan.ranks, b_)),
          rules_(options.tolerance, norm_of_b_, options.most_iterations, options.patience) {
        require_range();
    }

    RanksSolve run() {
        const Stopwatch beginning(plan_.clock);
        begin();
        solve_.solver_seconds = largest_of(plan_.ranks, beginning.seconds());
        const Stopwatch watch(plan_.clock);
        double checking_seconds = 0;  // true residuals, which are not part of the solve
        std::int64_t iterations = 1;
        for (;;) {
            const Stopwatch checking(plan_.clock);
            check_progress();
            checking_seconds += checking.seconds();
            if (ended_) break;
            const Stopwatch launched(plan_.clock);
            const std::int64_t most = rules_.iterations_until_check(progress_.iterations);
            // A persistent kernel ends by itself.
            iterations = solve_.engine == SolveEngine::persistent ? most : std::min(iterations, most);
            cg_->launch(iterations);
            progress_ = cg_->wait();
            iterations = iterations_of_next_launch(iterations, largest_of(plan_.ranks, launched.seconds()));
        }
        solve_.seconds += largest_of(plan_.ranks, watch.seconds() - checking_seconds);
        const double norm = norm_of_b_ > 0 ? norm_of_b_ : 1;
        solve_.iterations = progress_.iterations;
        solve_.residual = progress_.residual / norm;
        solve_.history = cg_->history();
        for (double& residual : solve_.history) residual /= norm;
        solve_.x = x_of_rank();
        solve_.true_residual = true_residual();
        solve_.tolerance = options_.tolerance;
        solve_.jacobi = options_.jacobi;
        return std::move(solve_);
    }

    [[nodiscard]] CgAcrossRanks<Value>& cg() { return *cg_; }

private:
    [[nodiscard]] static double norm_over(Ranks& ranks, std::span<const double> own) {
        const double scale = scale_for_squares(largest_of(ranks, largest_magnitude(own)));
        double squares = 0;
        for (const double value : own) squares += value * scale * (value * scale);
        return std::sqrt(sum_of(ranks, squares)) / scale;
    }

    void require_range() const {
        const double largest_of_b = largest_of(plan_.ranks, largest_magnitude(b_));
        if (std::isnan(norm_of_b_) || std::isinf(largest_of_b)) {
            throw RanksFailed(ExitCode::bad_input, "the right-hand side has values that are not finite");
        }
        const double own = std::max(largest_magnitude(shares_.inside.values), largest_magnitude(shares_.outside.values));
        const std::string reason = reason_against({.method = KrylovMethod::cg,
                                                   .jacobi = options_.jacobi,
                                                   .tolerance = options_.tolerance,
                                                   .precision = precision_of<Value>,
                                                   .norm_of_b = norm_of_b_,
                                                   .largest_of_b = largest_of_b,
                                                   .largest_of_matrix = largest_of(plan_.ranks, own)});
        if (!reason.empty()) throw RanksFailed(ExitCode::bad_input, reason);
    }

    /// Aims at launch_seconds per launch, given the duration of the last one.
    static std::int64_t iterations_of_next_launch(std::int64_t iterations, double seconds) {
        const double wanted = std::ceil(launch_seconds * static_cast<double>(iterations) / std::max(seconds, 1e-9));
        return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(most_iterations_per_launch)));
    }

    void begin() {
        const std::span<const Index> element_at = product_.element_at();
        std::vector<Value> b(element_at.size());
        std::vector<Value> inverse(options_.jacobi ? element_at.size() : 0, Value{1});
        for (std::size_t i = 0; i < b.size(); ++i) {
            b[i] = static_cast<Value>(b_[element_at[i]]);
            if (options_.jacobi) inverse[i] = static_cast<Value>(inverse_of_diagonal(shares_.inside, element_at[i]));
        }
        const KrylovPlan krylov{KrylovMethod::cg, options_.tolerance * norm_of_b_, options_.most_iterations};
        if (is_for_persistent()) make_persistent(krylov, b, inverse);
        if (cg_ == nullptr) {
            cg_ = in_agreement(plan_.ranks, [&] {
                return make_cg_across_ranks<Value>(krylov, b, inverse, plan_.device, plan_.links,
                                                   [this](const Value* x, Value* y) { product_.multiply(x, y); });
            });
        }
        progress_ = cg_->wait();
        plan_.ranks.barrier();
    }

    /// True if a persistent kernel is to be made; the same on all ranks. The slowest rank of each engine counts.
    [[nodiscard]] bool is_for_persistent() {
        const DeviceProperties& device = plan_.device.properties();
        if (options_.engine == SolveEngine::graph) return false;
        if (device.kind != DeviceKind::gpu && options_.engine == SolveEngine::persistent) {
            throw RanksFailed(ExitCode::machine_error, "--engine persistent needs GPUs; these ranks run on " + device.name);
        }
        if (device.kind != DeviceKind::gpu || options_.engine == SolveEngine::persistent) return device.kind == DeviceKind::gpu;
        const Offset outside = shares_.outside.nonzeros();
        const EngineForecast own =
            forecast_engines({.rows = shares_.inside.rows,
                              .nonzeros = shares_.inside.nonzeros() + outside,
                              .bytes_of_product = product_.preparation().bytes_to_move +
                                                  outside * static_cast<std::int64_t>(sizeof(Value) + sizeof(Index)),
                              .precision = precision_of<Value>,
                              .jacobi = options_.jacobi,
                              .parts = std::max(Index{0}, static_cast<Index>(product_.partition().size()) - 1),
                              .device = device,
                              .copy_bandwidth = plan_.device.bandwidth().copy,
                              .ranks = plan_.ranks.size()});
        EngineChoice choice =
            choose_engine({largest_of(plan_.ranks, own.graph_seconds), largest_of(plan_.ranks, own.persistent_seconds),
                           largest_of(plan_.ranks, own.preparation_seconds)},
                          options_.solves * options_.most_iterations);
        solve_.notes.push_back(std::move(choice.note));
        return choice.persistent;
    }

    /// Prepares the persistent kernel if that is possible.
    void make_persistent(const KrylovPlan& krylov, std::span<const Value> b, std::span<const Value> inverse) {
        auto made = make_persistent_across<Value>(krylov, b, inverse, plan_, shares_, product_);
        if (made.cg != nullptr) {
            cg_ = std::move(made.cg);
            solve_.engine = SolveEngine::persistent;
        } else if (options_.engine == SolveEngine::persistent) {
            throw RanksFailed(ExitCode::bad_input, "--engine persistent: " + made.reason);
        } else {
            solve_.notes.push_back("no persistent kernel: " + made.reason);
        }
    }

    /// Decides the same on all ranks, whose progress is bit-identical.
    void check_progress() {
        const auto end = rules_.end(
            progress_, [&] { return cg_->history(); }, [&] { return true_residual(); });
        if (end) {
            ended_ = true;
            solve_.end = end->how;
            solve_.reason = reason_text(*end, progress_, options_, precision_of<Value>, solve_.restarts);
        } else if (progress_.state != KrylovState::running) {
            ++solve_.restarts;
            cg_->restart();
            progress_ = cg_->wait();
        }
    }

    [[nodiscard]] std::vector<double> x_of_rank() {
        const std::vector<Value> reordered = cg_->x();
        std::vector<double> x(reordered.size());
        for (std::size_t i = 0; i < x.size(); ++i) x[product_.element_at()[i]] = reordered[i];
        return x;
    }

    /// |b - A x| / |b| in f64, computed on the hosts. Collective.
    [[nodiscard]] double true_residual() {
        const std::vector<double> x = x_of_rank();
        std::vector<Bytes> to(plan_.ranks.size());
        for (const HaloPlan::Message& part : shares_.send) {
            MessageWriter writer;
            for (Index i = 0; i < part.count; ++i) writer.put(x[shares_.places[part.first + i]]);
            to[part.rank] = writer.take();
        }
        const std::vector<Bytes> from = plan_.ranks.exchange(to);
        std::vector<double> halo(shares_.halo_columns.size());
        for (const HaloPlan::Message& part : shares_.receive) {
            MessageReader reader(from[part.rank]);
            for (Index i = 0; i < part.count; ++i) halo[part.first + i] = reader.get<double>();
        }
        std::vector<double> r = b_;
        const auto subtract = [](const CsrMatrix& share, const std::vector<double>& of, const auto& row_of,
                                 std::vector<double>& from_r) {
            for (Index row = 0; row < share.rows; ++row) {
                for (Offset i = share.row_offsets[row]; i < share.row_offsets[row + 1]; ++i) {
                    from_r[row_of(row)] -= share.values[i] * of[share.column_indices[i]];
                }
            }
        };
        subtract(
            shares_.inside, x, [](Index row) { return row; }, r);
        subtract(
            shares_.outside, halo, [&](Index row) { return shares_.outside_rows[row]; }, r);
        return norm_over(plan_.ranks, r) / (norm_of_b_ > 0 ? norm_of_b_ : 1);
    }

    const RanksPlan& plan_;
    const RankShares& shares_;
    std::vector<double> b_;
    RankProduct<Value>& product_;
    const SolveOptions& options_;
    double norm_of_b_;
    SolveRules rules_;
    std::unique_ptr<CgAcrossRanks<Value>> cg_;
    KrylovProgress progress_;
    RanksSolve solve_;
    bool ended_ = false;
};

RankName name_of_this(const Device& device) {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    return {host.data(), device.properties().name};
}

void gather_facts(Ranks& ranks, const RankFacts& own, const RankName& name, RanksReport& report) {
    MessageWriter writer;
    writer.put(own);
    writer.put_all(std::span<const char>(name.machine));
    writer.put_all(std::span<const char>(name.device));
    for (const Bytes& bytes : ranks.gather(writer.bytes())) {
        MessageReader reader(bytes);
        report.ranks.push_back(reader.get<RankFacts>());
        const auto text = [&reader] {
            const auto letters = reader.get_all<char>();
            return std::string(letters.begin(), letters.end());
        };
        const std::string machine = text();
        report.names.push_back({machine, text()});
    }
}

}  // namespace

template <ValueType Value>
RanksReport run_across(const RanksPlan& plan, RankRows rows, RankFacts own, const std::optional<SolveAcross>& solve,
                       int samples) {
    RanksReport report;
    Ranks& ranks = plan.ranks;
    report.engine = ranks.engine();
    report.exchange_engine = plan.links.engine();
    report.recipe = plan.recipe.name;
    report.precision = precision_of<Value>;
    report.samples = samples;

    const Stopwatch splitting(plan.clock);
    std::vector<double> b;
    if (solve) {
        const Index first = rows.row_ends[ranks.rank()];
        for (Index i = 0; i < rows.matrix.rows; ++i) {
            b.push_back(solve->right_hand_side(rows.rows_of_input.empty() ? first + i : rows.rows_of_input[i]));
        }
    }
    const RankShares shares = split_by_rank(ranks, std::move(rows));
    own.distribute_seconds += splitting.seconds();
    own.rows = shares.inside.rows;
    own.nonzeros_inside = shares.inside.nonzeros();
    own.nonzeros_outside = shares.outside.nonzeros();
    own.rows_outside = shares.outside.rows;
    own.halo = static_cast<std::int64_t>(shares.halo_columns.size());
    own.sent = static_cast<std::int64_t>(shares.places.size());
    own.neighbours = static_cast<std::int64_t>(shares.receive.size());

    RankProduct<Value> product(plan, shares);
    const Preparation& preparation = product.preparation();
    own.stage_seconds = preparation.stage_seconds;
    own.build_seconds = preparation.build_seconds;
    own.copy_seconds = preparation.copy_seconds;
    own.outside_seconds = product.outside_seconds();
    // From the plan, as rank 0 may have no rows.
    report.layout = name_of_layouts(plan.recipe);
    report.outside_layout = plan.outside_layout.name;
    for (const KernelEntry* kernel : plan.kernels) report.kernel += (report.kernel.empty() ? "" : " + ") + kernel->name;
    report.notes = preparation.notes;
    report.exact_vectors = product.exact_vectors();
    report.error_over_bound = product.error_over_bound();

    std::vector<Value> values(shares.inside.columns);
    for (Index i = 0; i < shares.inside.columns; ++i) {
        values[i] = static_cast<Value>(real_element(shares.first_column + product.element_at()[i], 1));
    }
    const DeviceMemory x_memory = to_device(plan.device, std::span<const Value>(values), "x");
    const DeviceMemory y_memory = plan.device.allocate(static_cast<std::size_t>(shares.inside.rows) * sizeof(Value), "y");
    const auto* const x = x_memory.as<const Value>();
    auto* const y = y_memory.as<Value>();
    TimingAcross timing(ranks, plan.device, samples);
    timing.choose_repeats([&] { product.multiply(x, y); });
    report.products_a_sample = timing.repeats();
    own.product_seconds = timing.time([&] { product.multiply(x, y); });
    own.inside_seconds = timing.time([&] { product.multiply_inside(x, y); });
    own.exchange_seconds = timing.time([&] { product.exchange(x); });
    own.outside_product_seconds = timing.time([&] { product.multiply_outside(y); });

    if (solve) {
        SolveOfRank<Value> course(plan, shares, std::move(b), product, solve->options);
        report.solve = course.run();
        report.notes.insert(report.notes.end(), report.solve->notes.begin(), report.solve->notes.end());
        own.vector_bytes = course.cg().vector_bytes();
        own.sum_seconds = timing.time([&] { course.cg().sum_alone(); });
    }
    gather_facts(ranks, own, name_of_this(plan.device), report);
    return report;
}

template RanksReport run_across<float>(const RanksPlan&, RankRows, RankFacts, const std::optional<SolveAcross>&, int);
template RanksReport run_across<double>(const RanksPlan&, RankRows, RankFacts, const std::optional<SolveAcross>&, int);

}  // namespace workbench
