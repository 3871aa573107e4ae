#include "pipeline/run/timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace workbench {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double seconds_so_far() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

long interruptions_so_far() {
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

Timing summarise(std::vector<double> samples) {
    Timing timing;
    timing.samples = std::move(samples);
    if (timing.samples.empty()) return timing;
    std::vector<double> sorted = timing.samples;
    std::sort(sorted.begin(), sorted.end());
    timing.median = percentile(sorted, 0.5);
    if (timing.median > 0) timing.spread = (percentile(sorted, 0.9) - percentile(sorted, 0.1)) / timing.median;
    return timing;
}

Timing time_repeatedly(Device& device, const std::function<void()>& work, const TimingOptions& options) {
    constexpr std::size_t samples_in_any_case = 5;
    const Stopwatch watch(options.clock);
    (void)device.time(work);  // code is loaded, pages are touched
    std::vector<double> samples;
    double sum = 0;
    long interruptions = 0;
    while (samples.size() < static_cast<std::size_t>(options.minimum_samples) || sum < options.minimum_seconds) {
        if (samples.size() >= samples_in_any_case && watch.seconds() > options.maximum_seconds) break;
        if (options.cache == CacheState::cold) device.flush_cache();
        const long before = options.clock.interruptions();
        samples.push_back(device.time(work));
        interruptions += options.clock.interruptions() - before;
        sum += samples.back();
    }
    Timing timing = summarise(std::move(samples));
    timing.interruptions = interruptions;
    return timing;
}

}  // namespace workbench
