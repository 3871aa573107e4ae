#include "pipeline/measure/timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <fmt/format.h>

namespace workbench {
namespace {

/// The largest j >= 1 for which fewer than j heads of n fair coins have a probability of at most 2.5 %.
std::size_t rank_of_interval(std::size_t n) {
    constexpr std::size_t most_counted = 1000;  // 2^-n underflows soon after
    const auto count = static_cast<double>(n);
    if (n > most_counted) return static_cast<std::size_t>(count / 2 - 0.98 * std::sqrt(count));  // 1.96 deviations
    double exactly = std::ldexp(1.0, -static_cast<int>(n));  // the probability of exactly this many heads
    double fewer = exactly;
    std::size_t rank = 0;
    for (std::size_t heads = 0; fewer <= 0.025; ++heads) {
        rank = heads + 1;
        exactly *= static_cast<double>(n - heads) / static_cast<double>(heads + 1);
        fewer += exactly;
    }
    return std::max<std::size_t>(rank, 1);
}

double percentile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

struct TakenSamples {
    std::vector<double> samples;
    double sum = 0;
    long interruptions = 0;
    bool is_compared = false;  // the result of the last sample
    std::string fault;
};

void call(const std::function<void()>& function) {
    if (function) function();
}

void take_sample(const Contender& contender, const TimingOptions& options, TakenSamples& taken) {
    Device& device = *contender.device;
    call(contender.clear_result);
    if (options.cache == CacheState::cold) {
        call(contender.exchange_operands);
        call(contender.change_operands);
        device.flush_cache();
    } else {
        (void)device.time(contender.work);
        if (options.cache == CacheState::inside_cg) contender.rest_of_iteration();
        call(contender.change_operands);
    }
    const ProfilerRange range(device, contender.name);
    const long before = options.clock.interruptions();
    taken.samples.push_back(device.time(contender.work));
    taken.interruptions += options.clock.interruptions() - before;
    taken.sum += taken.samples.back();
    taken.is_compared = false;
}

/// run: "timed run 3".
void compare_result(const Contender& contender, TakenSamples& taken, const std::string& run) {
    taken.is_compared = true;
    if (!contender.fault) return;
    const std::string fault = contender.fault();
    if (!fault.empty()) taken.fault = fmt::format("{} (in {}, the kernel was right before)", fault, run);
}

/// Runs the work on for a while, untimed, and compares results like those of samples: a kernel that counts its runs cannot know
/// when the last one is that counts.
void run_on(const Contender& contender, const TimingOptions& options, std::mt19937& random, TakenSamples& taken) {
    if (!contender.fault) return;
    constexpr std::uint32_t fewest = 8;
    constexpr std::uint32_t many = 50;
    const std::uint32_t in_any_case = fewest + random() % fewest;
    const std::uint32_t most = many + random() % (4 * many);
    double seconds = 0;
    for (std::uint32_t run = 1; taken.fault.empty(); ++run) {
        if (options.cache == CacheState::inside_cg) contender.rest_of_iteration();
        call(contender.change_operands);
        seconds += contender.device->time(contender.work);
        const bool is_last = run >= most || (run >= in_any_case && seconds > taken.sum / 2);
        if (is_last || random() % (run + 1) < 2)
            compare_result(contender, taken, fmt::format("run {} after the timed ones", run));
        if (is_last) return;
    }
}

/// Returns why the work cannot have taken so little time, or "".
std::string fault_of_time(const Contender& contender, double seconds, CacheState cache) {
    constexpr double most = 2;          // bandwidths are measured, too, on machines that may do other work
    constexpr double briefest = 10e-6;  // below, clocks, launches and the nearest caches decide
    if (contender.least_bytes <= 0 || seconds <= 0) return "";
    Device& device = *contender.device;
    const double found = static_cast<double>(contender.least_bytes) / seconds;
    const Bandwidth memory = device.bandwidth();
    double highest = std::max(memory.read, memory.copy);
    if (found <= most * highest) return "";
    const bool is_cold = cache == CacheState::cold;
    const std::size_t as_many =
        is_cold ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(contender.least_bytes);
    // Other work of the machine slows a measurement down, but not each of many.
    constexpr int measurements = 10;
    for (int i = 0; i < measurements && found > most * highest; ++i) {
        highest = std::max(highest, device.read_bandwidth(as_many));
    }
    if (found <= most * highest || static_cast<double>(contender.least_bytes) < briefest * highest) return "";
    return fmt::format(
        "a run of {:.3g} us would move its {} bytes at {:.4g} GB/s, but {} reads {} at {:.4g} GB/s at most: the kernel "
        "does not do all of the work when it is timed",
        1e6 * seconds, contender.least_bytes, found / 1e9, device.properties().name, is_cold ? "its memory" : "as many bytes",
        highest / 1e9);
}

/// Used instead of std::shuffle, whose order differs between standard libraries.
void shuffle(std::vector<std::size_t>& order, std::mt19937& random) {
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
}

}  // namespace

Median median_of(std::vector<double> samples) {
    Median median;
    const std::size_t n = samples.size();
    if (n == 0) return median;
    std::sort(samples.begin(), samples.end());
    median.value = (n % 2 == 1) ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    if (n < fewest_for_interval) return median;
    const std::size_t rank = rank_of_interval(n);
    median.interval = Interval{samples[rank - 1], samples[n - rank]};
    return median;
}

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
    double seconds_of_comparisons = 0;
    for (const Contender& contender : contenders) {
        (void)contender.device->time(contender.work);  // loads code and touches pages
    }
    std::vector<TakenSamples> taken(contenders.size());
    std::vector<std::size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(options.seed);
    std::mt19937 random_checks(options.seed_of_checks);
    const double most_seconds = options.maximum_seconds * static_cast<double>(contenders.size());
    const auto enough = [&options](const TakenSamples& one) {
        if (!one.fault.empty()) return true;
        return one.samples.size() >= static_cast<std::size_t>(options.minimum_samples) && one.sum >= options.minimum_seconds;
    };
    const auto compare = [&](std::size_t turn) {
        const Stopwatch comparison(options.clock);
        compare_result(contenders[turn], taken[turn], fmt::format("timed run {}", taken[turn].samples.size()));
        seconds_of_comparisons += comparison.seconds();
    };
    for (std::size_t round = 0; !std::all_of(taken.begin(), taken.end(), enough); ++round) {
        if (round >= rounds_in_any_case && watch.seconds() - seconds_of_comparisons > most_seconds) break;
        shuffle(order, random);
        for (const std::size_t turn : order) {
            if (!taken[turn].fault.empty()) continue;
            take_sample(contenders[turn], options, taken[turn]);
            if (random_checks() % (round + 2) < 2) compare(turn);
        }
    }
    std::vector<Timing> timings;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        TakenSamples& one = taken[i];
        if (!one.samples.empty() && !one.is_compared) compare(i);
        run_on(contenders[i], options, random_checks, one);
        timings.push_back(summarise(std::move(one.samples)));
        timings.back().interruptions = one.interruptions;
        if (one.fault.empty()) one.fault = fault_of_time(contenders[i], timings.back().median, options.cache);
        timings.back().fault = std::move(one.fault);
    }
    return timings;
}

}  // namespace workbench
