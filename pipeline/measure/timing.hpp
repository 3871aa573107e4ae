// Times work until there are enough samples.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/contract/device.hpp"

namespace workbench {

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
    std::uint32_t seed = 1;  // of the random order of the turns
};

/// Samples in seconds, in the order in which they were taken, and their statistics.
struct Timing {
    std::vector<double> samples;
    double median = 0;
    double spread = 0;       // (90th - 10th percentile) / median
    long interruptions = 0;  // preemptions of this process while the samples were taken
};

/// Median and spread of samples; percentiles are linearly interpolated between neighbours. All zero without samples.
[[nodiscard]] Timing summarise(std::vector<double> samples);

/// One of several pieces of work that are timed in turns.
struct Contender {
    std::string name;  // for a profiler
    Device* device = nullptr;
    std::function<void()> work;
    std::function<void()> rest_of_iteration = {};  // inside CG: the untimed rest of the iteration; waits for its end
};

/// Times all contenders in rounds: each round takes one sample of each, in a newly shuffled order, so that a disturbance of the
/// machine affects all alike and the i-th samples are comparable. One untimed run of each comes first. The rounds end when
/// every contender has reached both minima, or when the time limit, multiplied by their number, is exceeded. For a warm cache
/// and inside CG, one of several contenders runs once untimed before each of its samples, because the others have replaced the
/// contents of the caches; inside CG the rest of the iteration follows, then the sample.
[[nodiscard]] std::vector<Timing> time_in_turns(const std::vector<Contender>& contenders, const TimingOptions& options);

/// Times `work` on the device: one untimed run, then samples until both minima or the maximum are reached.
[[nodiscard]] Timing time_repeatedly(Device& device, const std::function<void()>& work, const TimingOptions& options);

}  // namespace workbench
