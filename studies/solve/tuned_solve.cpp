#include "studies/solve/tuned_solve.hpp"

#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "core/contract/failure.hpp"
#include "studies/solve/iterative_solve.hpp"

namespace workbench {
namespace {

constexpr double most_loss = 0.02;               // of all trials together, as a fraction of the solve's time so far
constexpr double guessed_switch_seconds = 2e-3;  // for permuting vectors and recording an iteration, until it is measured
constexpr double chunk_seconds = 5e-3;           // between two looks at the queue of candidates
constexpr std::int64_t least_chunk_iterations = 8;

/// A prepared recipe.
template <ValueType Value>
struct TrialCandidate {
    std::unique_ptr<Device> own_device;  // null: the solve's device
    std::unique_ptr<Multiplier<Value>> multiplier;
    DeviceMemory from_input;  // permutation from the input's to its order; empty if they are equal
    DeviceMemory to_input;    // and back
    Trial trial;
};

template <ValueType Value>
class TunedSolve final : public IterativeSolve<Value> {
public:
    TunedSolve(PreparedSolver<Value>& solver, const SolveOptions& options, const TuningPlan& plan)
        : IterativeSolve<Value>(solver, options), plan_(plan), watch_(options.timing.clock) {}

protected:
    double advance() override {
        const Stopwatch watch(this->options_.timing.clock);
        if (!begun_) watch_ = watch;
        begun_ = true;
        const double begin = watch_.seconds();
        double seconds = 0;
        if (plan_.make_device) {
            seconds = advance_concurrently(watch);
        } else {
            advance_alternating();
            seconds = watch.seconds();
        }
        ended_at_ = begin + seconds;
        return seconds;
    }

    void finish() override {
        IterativeSolve<Value>::finish();
        while (auto left = take()) note_untried(std::move(left));
        for (; next_ < plan_.recipes.size(); ++next_) {
            Trial trial;
            trial.recipe = plan_.recipes[next_].name;
            trial.reason = "the solve had ended";
            failed_.push_back(std::move(trial));
        }
        trials_.insert(trials_.end(), failed_.begin(), failed_.end());
        this->outcome_.tuned = true;
        this->outcome_.preparation.recipe = "tuned";
        this->outcome_.trials = std::move(trials_);
    }

    /// Notes a candidate that was ready but not tried.
    void note_untried(std::unique_ptr<TrialCandidate<Value>> candidate) {
        if (candidate->trial.ready_seconds >= ended_at_) {
            return note(std::move(candidate), Trial::End::too_late, "it was ready when the solve had ended");
        }
        const std::string reason =
            fmt::format("trials may take {:.0f} % of the solve, which was too short for one", 100 * most_loss);
        note(std::move(candidate), Trial::End::not_tried, reason);
    }

    void time_product() override {}  // the solve used several kernels

    /// The vectors have the order of the multiplier in use.
    [[nodiscard]] std::span<const Value> x_of_input() override {
        const std::vector<Value> x = this->krylov_->x();
        const Permutation& order = this->multiplier_->order();
        x_.resize(x.size());
        for_pieces(x.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) x_[i] = x[order.new_of_old(static_cast<Index>(i))];
        });
        return x_;
    }

private:
    /// A second thread iterates while this one prepares candidates. Returns the seconds until the iterations ended; a candidate
    /// still in preparation then is finished, but its time does not count.
    double advance_concurrently(const Stopwatch& watch) {
        std::atomic<bool> done = false;
        double seconds = 0;
        std::exception_ptr failure;
        std::jthread iterations([&] {
            try {
                iterate();
            } catch (...) {
                failure = std::current_exception();
            }
            seconds = watch.seconds();
            done = true;
        });
        while (!done && next_ < plan_.recipes.size()) prepare_next();
        iterations.join();
        if (failure != nullptr) std::rethrow_exception(failure);
        return seconds;
    }

    /// Runs until the solve has ended or the state is no longer `running`.
    void iterate() {
        while (!this->ended_ && this->progress_.state == KrylovState::running) {
            try_next();
            if (this->ended_ || this->progress_.state != KrylovState::running) return;
            run_chunk();
        }
    }

    /// Prepares the next recipe once the iterations since the last preparation took as long as that did.
    void advance_alternating() {
        while (!this->ended_ && this->progress_.state == KrylovState::running) {
            run_chunk();
            if (this->ended_ || this->progress_.state != KrylovState::running) return;
            if (next_ < plan_.recipes.size() && watch_.seconds() >= ready_at_ + last_preparation_) {
                const double start = watch_.seconds();
                prepare_next();
                ready_at_ = watch_.seconds();
                last_preparation_ = ready_at_ - start;
            }
            try_next();
        }
    }

    // ---- Preparing candidates

    void prepare_next() {
        const Recipe& recipe = plan_.recipes[next_++];
        auto candidate = std::make_unique<TrialCandidate<Value>>();
        candidate->trial.recipe = recipe.name;
        const Stopwatch watch(this->options_.timing.clock);
        try {
            try {
                prepare(recipe, *candidate);
            } catch (const MachineError&) {
                if (!free_dropped()) throw;
                prepare(recipe, *candidate);
            }
        } catch (...) {
            return note(std::move(candidate), Trial::End::failed, current_failure().text);
        }
        candidate->trial.preparation_seconds = watch.seconds();
        candidate->trial.ready_seconds = watch_.seconds();
        if (!candidate->multiplier->ready()) {
            const std::string reason = candidate->multiplier->preparation().kernel.reason;
            return note(std::move(candidate), Trial::End::failed, reason);
        }
        const std::scoped_lock lock(mutex_);
        ready_.push_back(std::move(candidate));
    }

    void prepare(const Recipe& recipe, TrialCandidate<Value>& candidate) {
        candidate.multiplier.reset();
        if (plan_.make_device && candidate.own_device == nullptr) candidate.own_device = plan_.make_device();
        Device& device = candidate.own_device == nullptr ? this->device_ : *candidate.own_device;
        const ReadyPlan<Value> plan{.device = device,
                                    .filter = plan_.filter,
                                    .product = &this->system_.one_product(),
                                    .clock = this->options_.timing.clock,
                                    .keeping = plan_.keeping};
        candidate.multiplier = std::make_unique<Multiplier<Value>>(recipe, this->system_.input(), plan);
        candidate.trial.kernel = candidate.multiplier->preparation().kernel.kernel;
        const Permutation& order = candidate.multiplier->order();
        if (order.is_identity()) return;
        candidate.from_input = to_device(device, order.new_of_old(), "a permutation of vectors");
        candidate.to_input = to_device(device, order.old_of_new(), "a permutation of vectors");
    }

    // ---- Iterating

    /// The next candidate; null if none is ready.
    std::unique_ptr<TrialCandidate<Value>> take() {
        const std::scoped_lock lock(mutex_);
        if (ready_.empty()) return nullptr;
        std::unique_ptr<TrialCandidate<Value>> first = std::move(ready_.front());
        ready_.pop_front();
        return first;
    }

    double time_iterations(std::int64_t iterations) {
        const std::int64_t before = this->progress_.iterations;
        const double seconds = this->device_.time([&] { this->krylov_->launch(iterations); });
        this->progress_ = this->krylov_->wait();
        const std::int64_t done = this->progress_.iterations - before;
        return done > 0 ? seconds / static_cast<double>(done) : 0;
    }

    void run_chunk() {
        if (this->options_.poll) this->options_.poll();
        const double each = iteration_seconds_;
        const auto wanted = each > 0 ? static_cast<std::int64_t>(chunk_seconds / each) : least_chunk_iterations;
        const std::int64_t chunk =
            std::clamp(wanted, least_chunk_iterations, std::max(least_chunk_iterations, this->options_.patience));
        if (const double seconds = time_iterations(chunk); seconds > 0) iteration_seconds_ = seconds;
        if (this->progress_.state != KrylovState::running) return;
        this->check_progress();
    }

    /// Tries the next candidate if the budget for trials allows it.
    void try_next() {
        if (most_loss * watch_.seconds() - lost_ < expected_loss_ || iteration_seconds_ <= 0) return;
        if (auto candidate = take()) try_out(std::move(candidate));
    }

    void try_out(std::unique_ptr<TrialCandidate<Value>> candidate) {
        const std::int64_t first = this->progress_.iterations;
        const double before = iteration_seconds_;
        const double start = watch_.seconds();
        Trial& trial = candidate->trial;
        trial.iteration = first;
        trial.before_seconds = before;
        std::unique_ptr<TrialCandidate<Value>> other = switch_to(std::move(candidate));

        // Measured more precisely only if it may be faster, so that a slow candidate costs one iteration.
        double seconds = time_iterations(1);
        if (seconds < 1.5 * before) seconds = time_iterations(8);
        if (seconds < 1.2 * before) seconds = time_iterations(24);
        current_->trial.iteration_seconds = seconds;
        if (seconds > 0 && seconds < 0.99 * before) {
            current_->trial.end = Trial::End::kept;
            trials_.push_back(current_->trial);
            iteration_seconds_ = seconds;
            drop(std::move(other));
        } else {
            std::unique_ptr<TrialCandidate<Value>> slower = switch_to(std::move(other));
            slower->trial.end = seconds > 0 ? Trial::End::slower : Trial::End::too_late;
            if (seconds <= 0) slower->trial.reason = "the solve ended during its trial";
            trials_.push_back(slower->trial);
            drop(std::move(slower));
        }
        const auto useful = static_cast<double>(this->progress_.iterations - first) * before;
        const double loss = std::max(0.0, watch_.seconds() - start - useful);
        lost_ += loss;
        expected_loss_ = lost_ / static_cast<double>(++trials_made_);
    }

    /// Switches to a candidate, or to CSR for null, and permutes the vectors. Returns the candidate used before.
    std::unique_ptr<TrialCandidate<Value>> switch_to(std::unique_ptr<TrialCandidate<Value>> next) {
        KrylovByProducts<Value>& krylov = *this->solver_.by_products();
        Multiplier<Value>* const multiplier = next == nullptr ? csr_ : next->multiplier.get();
        if (!(multiplier->order() == this->multiplier_->order())) {
            if (current_ != nullptr && current_->to_input.bytes() > 0) {
                krylov.reorder(current_->to_input.template as<const Index>());
            }
            if (next != nullptr && next->from_input.bytes() > 0) krylov.reorder(next->from_input.template as<const Index>());
        }
        std::swap(current_, next);
        this->multiplier_ = multiplier;
        Device* const other = current_ == nullptr ? nullptr : current_->own_device.get();
        krylov.use([this, multiplier, other](const Value* x, Value* y) {
            if (other != nullptr) other->wait_for(this->device_);
            multiplier->multiply(x, y);
            if (other != nullptr) this->device_.wait_for(*other);
        });
        krylov.launch(0);  // records the CUDA graph, so that the trial times iterations only
        this->progress_ = krylov.wait();
        return next;
    }

    // ---- Discarding candidates

    /// Defers freeing its memory, which would block the GPU, until memory runs out or the solve ends.
    void drop(std::unique_ptr<TrialCandidate<Value>> candidate) {
        if (candidate == nullptr) return;
        const std::scoped_lock lock(mutex_);
        dropped_.push_back(std::move(candidate));
    }

    /// Returns false if there was nothing to free.
    bool free_dropped() {
        std::vector<std::unique_ptr<TrialCandidate<Value>>> dropped;
        const std::unique_lock lock(mutex_);
        dropped.swap(dropped_);
        return !dropped.empty();
    }

    void note(std::unique_ptr<TrialCandidate<Value>> candidate, Trial::End end, const std::string& reason) {
        candidate->trial.end = end;
        candidate->trial.reason = reason;
        const std::scoped_lock lock(mutex_);
        failed_.push_back(candidate->trial);
    }

    const TuningPlan& plan_;
    Stopwatch watch_;  // since the first iteration
    bool begun_ = false;
    double ended_at_ = 0;   // seconds since the first iteration
    std::size_t next_ = 0;  // recipe to prepare
    double ready_at_ = 0;
    double last_preparation_ = 0;

    std::mutex mutex_;  // guards the next three, which the thread that prepares and the one that iterates share
    std::deque<std::unique_ptr<TrialCandidate<Value>>> ready_;
    std::vector<std::unique_ptr<TrialCandidate<Value>>> dropped_;
    std::vector<Trial> failed_;

    Multiplier<Value>* const csr_ = this->multiplier_;
    std::unique_ptr<TrialCandidate<Value>> current_;  // null: CSR
    std::vector<Trial> trials_;
    std::vector<Value> x_;
    double iteration_seconds_ = 0;
    double expected_loss_ = guessed_switch_seconds;  // of the next trial: the mean of the trials so far
    double lost_ = 0;
    int trials_made_ = 0;
};

}  // namespace

template <ValueType Value>
SolveOutcome solve_tuned(const System<Value>& system, Multiplier<Value>& csr, Device& device, const SolveOptions& options,
                         const TuningPlan& plan) {
    PreparedSolver<Value> solver(system, csr, device, options);  // its vectors change their order while it is tuned
    return TunedSolve<Value>(solver, options, plan).run();
}

template SolveOutcome solve_tuned(const System<float>&, Multiplier<float>&, Device&, const SolveOptions&, const TuningPlan&);
template SolveOutcome solve_tuned(const System<double>&, Multiplier<double>&, Device&, const SolveOptions&, const TuningPlan&);

}  // namespace workbench
