// Timing a piece of work until there are enough samples.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// Since some moment; never goes back.
[[nodiscard]] double seconds_so_far();
/// How often a thread of this process has lost its core to another.
[[nodiscard]] long interruptions_so_far();

/// The clock and the count of interruptions that are read. Tests hand over their own.
struct Clock {
    std::function<double()> seconds = seconds_so_far;
    std::function<long()> interruptions = interruptions_so_far;
};

/// Runs from its construction on.
class Stopwatch {
public:
    explicit Stopwatch(Clock clock = {}) : clock_(std::move(clock)), start_(clock_.seconds()) {}
    [[nodiscard]] double seconds() const { return clock_.seconds() - start_; }

private:
    Clock clock_;
    double start_;
};

/// What the caches hold when a sample is taken. inside_cg: what an iteration of conjugate gradients leaves in them, which did
/// all but its product in between.
enum class CacheState { cold, warm, inside_cg };

/// "cold", "warm", "inside cg": as reports have it.
[[nodiscard]] std::string_view name_of(CacheState cache);
/// "cold cache", "warm cache", "inside CG": in the heads of tables.
[[nodiscard]] std::string_view words_of(CacheState cache);

struct TimingOptions {
    CacheState cache = CacheState::cold;
    int minimum_samples = 20;
    double minimum_seconds = 0.2;  // sum of the samples
    double maximum_seconds = 2.0;  // wall time for what is timed, flushes included; five samples are taken in any case
    Clock clock = {};
    std::uint32_t seed = 1;  // of the order of the turns
};

/// Samples in seconds, in the order in which they were taken, and their statistics.
struct Timing {
    std::vector<double> samples;
    double median = 0;
    double spread = 0;       // (90th - 10th percentile) / median
    long interruptions = 0;  // how often a thread of this process lost its core to another while the samples were taken
};

/// Median and spread of samples; percentiles are linearly interpolated between neighbours. All zero without samples.
[[nodiscard]] Timing summarise(std::vector<double> samples);

/// One of several works that are timed in turns.
struct Contender {
    std::string name;  // for a profiler
    Device* device = nullptr;
    std::function<void()> work;
    std::function<void()> rest_of_iteration = {};  // where it is timed inside CG: waits, and is not timed
};

/// Times all of them in rounds: each round takes one sample of each, in an order that is shuffled anew, so that what disturbs
/// the machine for a while disturbs all alike, and the i-th samples can be compared with each other. One untimed run of each
/// goes first. The rounds end when every contender has both minima, or when the maximum, once for each, is over. Where the
/// cache is to be warm, or is that of an iteration, a contender that is not alone runs once untimed before each of its samples:
/// the others have had the cache meanwhile. Inside CG the rest of the iteration follows, then the sample.
[[nodiscard]] std::vector<Timing> time_in_turns(const std::vector<Contender>& contenders, const TimingOptions& options);

/// Times `work` on the device: one untimed run first, then samples until both minima are reached or the maximum is.
[[nodiscard]] Timing time_repeatedly(Device& device, const std::function<void()>& work, const TimingOptions& options);

}  // namespace workbench
