#include "pipeline/measure/timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

namespace workbench {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

struct Taken {
    std::vector<double> samples;
    double sum = 0;
    long interruptions = 0;
};

void take_sample(const Contender& contender, bool is_alone, const TimingOptions& options, Taken& taken) {
    Device& device = *contender.device;
    if (options.cache == CacheState::cold) {
        device.flush_cache();
    } else if (!is_alone) {
        (void)device.time(contender.work);
    }
    if (options.cache == CacheState::inside_cg) contender.rest_of_iteration();
    const ProfilerRange range(device, contender.name);
    const long before = options.clock.interruptions();
    taken.samples.push_back(device.time(contender.work));
    taken.interruptions += options.clock.interruptions() - before;
    taken.sum += taken.samples.back();
}

/// Used instead of std::shuffle, whose order differs between standard libraries.
void shuffle(std::vector<std::size_t>& order, std::mt19937& random) {
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
}

}  // namespace

std::string_view name_of(CacheState cache) {
    if (cache == CacheState::inside_cg) return "inside cg";
    return cache == CacheState::cold ? "cold" : "warm";
}

std::string_view words_of(CacheState cache) {
    if (cache == CacheState::inside_cg) return "inside CG";
    return cache == CacheState::cold ? "cold cache" : "warm cache";
}

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

std::vector<Timing> time_in_turns(const std::vector<Contender>& contenders, const TimingOptions& options) {
    constexpr std::size_t rounds_in_any_case = 5;
    const Stopwatch watch(options.clock);
    for (const Contender& contender : contenders) {
        (void)contender.device->time(contender.work);  // loads code and touches pages
    }
    std::vector<Taken> taken(contenders.size());
    std::vector<std::size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(options.seed);
    const double most_seconds = options.maximum_seconds * static_cast<double>(contenders.size());
    const auto enough = [&options](const Taken& one) {
        return one.samples.size() >= static_cast<std::size_t>(options.minimum_samples) && one.sum >= options.minimum_seconds;
    };
    for (std::size_t round = 0; !std::all_of(taken.begin(), taken.end(), enough); ++round) {
        if (round >= rounds_in_any_case && watch.seconds() > most_seconds) break;
        shuffle(order, random);
        for (const std::size_t turn : order) take_sample(contenders[turn], contenders.size() == 1, options, taken[turn]);
    }
    std::vector<Timing> timings;
    for (Taken& one : taken) {
        timings.push_back(summarise(std::move(one.samples)));
        timings.back().interruptions = one.interruptions;
    }
    return timings;
}

Timing time_repeatedly(Device& device, const std::function<void()>& work, const TimingOptions& options) {
    return std::move(time_in_turns({{"", &device, work}}, options).front());
}

}  // namespace workbench
