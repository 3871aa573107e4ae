// Times work until there are enough samples.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/contract/device.hpp"

namespace workbench {

struct Interval {
    double low = 0;
    double high = 0;

    friend bool operator==(const Interval&, const Interval&) = default;
};

/// The least number of samples for an interval.
inline constexpr std::size_t fewest_for_interval = 5;

struct Median {
    double value = 0;                  // the mean of the middle two of an even number; 0 without samples
    std::optional<Interval> interval;  // holds the true median with 95 % confidence (five samples: with 93.75 %)
};

/// The interval lies between two of the sorted samples, the j-th from below and the j-th from above, with the largest j for
/// which fewer than j of n fair coins show heads with a probability of at most 2.5 %: it does not depend on the
/// distribution of the samples (Conover, 'Practical Nonparametric Statistics', 3.2; Hoefler and Belli, 'Scientific benchmarking
/// of parallel computing systems' (2015), 3.1.3).
[[nodiscard]] Median median_of(std::vector<double> samples);

/// Returns the seconds since a fixed moment; monotonic.
[[nodiscard]] double seconds_so_far();
/// Returns how often a thread of this process has been preempted.
[[nodiscard]] long interruptions_so_far();

/// The clock and the counter of preemptions. Tests replace both.
struct Clock {
    std::function<double()> seconds = seconds_so_far;
    std::function<long()> interruptions = interruptions_so_far;
};

/// A stopwatch that starts when it is constructed.
class Stopwatch {
public:
    explicit Stopwatch(Clock clock = {}) : clock_(std::move(clock)), start_(clock_.seconds()) {}
    [[nodiscard]] double seconds() const { return clock_.seconds() - start_; }

private:
    Clock clock_;
    double start_;
};

/// The state of the caches when a sample is taken. inside_cg: as the vector operations of a conjugate gradient iteration leave
/// them before its product.
enum class CacheState { cold, warm, inside_cg };

/// "cold", "warm" or "inside cg", as in reports.
[[nodiscard]] std::string_view name_of(CacheState cache);
/// "cold cache", "warm cache" or "inside CG", for table headings.
[[nodiscard]] std::string_view words_of(CacheState cache);

struct TimingOptions {
    CacheState cache = CacheState::cold;
    int minimum_samples = 20;
    double minimum_seconds = 0.2;  // sum of the samples
    double maximum_seconds = 2.0;  // limit of the wall time, including flushes; at least five samples are taken
    Clock clock = {};
    std::uint32_t seed = 1;                                 // of the random order of the turns
    std::uint32_t seed_of_checks = std::random_device{}();  // of the choice of samples whose results are compared
};

/// Samples in seconds, in the order in which they were taken, and their statistics.
struct Timing {
    std::vector<double> samples;
    double median = 0;
    double spread = 0;       // (90th - 10th percentile) / median
    long interruptions = 0;  // preemptions of this process while the samples were taken
    /// Why these are not the times of the work: a wrong result of a sample, or fewer seconds than its bytes take. Empty:
    /// nothing is wrong.
    std::string fault;
};

/// Median and spread of samples; percentiles are linearly interpolated between neighbours. All zero without samples.
[[nodiscard]] Timing summarise(std::vector<double> samples);

/// One of several pieces of work that are timed in turns, with the means to find out whether each sample did all of it. Only
/// `work` is timed. The functions behind it may be empty.
struct Contender {
    std::string name;  // for a profiler
    Device* device = nullptr;
    std::function<void()> work;
    std::function<void()> rest_of_iteration = {};  // inside CG: the untimed rest of the iteration; waits for its end

    std::function<void()> clear_result = {};  // before each sample, and before the caches get their state: all of the result
    /// Right before each sample: changes a few operands, so that no earlier result is right, and clears a few places of the
    /// result. Caches keep their contents.
    std::function<void()> change_operands = {};
    /// Before the caches get their state: exchanges all operands for others, so that no few changes lead from one result to the
    /// next.
    std::function<void()> exchange_operands = {};
    std::function<std::string()> fault = {};  // compares the result of the last run; returns what is wrong, or ""
    std::int64_t least_bytes = 0;             // that the work must read or write; 0: unknown
};

/// Times all contenders in rounds: each round takes one sample of each, in a newly shuffled order, so that a disturbance of the
/// machine affects all alike and the i-th samples are comparable. One untimed run of each comes first. The rounds end when
/// every contender has reached both minima, or when the time limit, multiplied by their number, is exceeded, to which
/// comparisons of results do not count.
///
/// For a warm cache and inside CG, a contender runs once untimed before each of its samples, because others have replaced the
/// contents of the caches; inside CG the rest of the iteration follows, then the sample.
///
/// The result of sample i (from 0) is compared with a probability of 2 / (2 + i), and that of the last sample always. A
/// contender with a wrong result has no further samples. After its samples the work runs on, untimed, with its operands changed
/// each time and results compared likewise: 50 to 249 times at random, but at most for half the time of its samples, and 8 to
/// 15 times in any case. A median of less than half of the time that least_bytes take at the highest bandwidth of the memory,
/// or for warm caches of the cache that holds as many bytes, is a fault as well, unless they take less than 10 us.
[[nodiscard]] std::vector<Timing> time_in_turns(const std::vector<Contender>& contenders, const TimingOptions& options);

}  // namespace workbench
