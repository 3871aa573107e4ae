#include "pipeline/run/references.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "pipeline/engine/built_layouts.hpp"

namespace workbench {

namespace {

bool has_result(const ReadyKernel& ready) { return ready.outcome.status != KernelOutcome::Status::unsuitable; }

/// The fastest of the verified ones, or the first of all. They are at least one.
ReadyKernel fastest_kernel(std::vector<ReadyKernel> kernels, const Clock& clock) {
    std::vector<Contender> contenders;
    std::vector<ReadyKernel*> verified;
    for (ReadyKernel& kernel : kernels) {
        if (kernel.product == nullptr) continue;
        verified.push_back(&kernel);
        contenders.push_back(kernel.product->contender());
    }
    return std::move(verified.empty() ? kernels.front() : *verified[fastest_of(contenders, clock)]);
}

}  // namespace

std::size_t fastest_of(const std::vector<Contender>& contenders, const Clock& clock) {
    if (contenders.size() == 1) return 0;
    const std::vector<Timing> timings =
        time_in_turns(contenders, {.minimum_samples = 7, .minimum_seconds = 0, .maximum_seconds = 0.5, .clock = clock});
    const auto seconds = [](const Timing& timing) {
        return timing.fault.empty() ? timing.median : std::numeric_limits<double>::infinity();
    };
    const auto fastest = std::ranges::min_element(timings, {}, seconds);
    return static_cast<std::size_t>(fastest - timings.begin());
}

template <ValueType Value>
const Oracle<Value>& References::oracle() {
    std::optional<Oracle<Value>>& oracle = oracles_.get<Value>();
    if (!oracle) oracle.emplace(input_);
    return *oracle;
}

template <ValueType Value>
ReadyKernel& References::baseline(DeviceKind kind, const ReportStep& progress) {
    const std::pair key{precision_of<Value>, kind};
    if (const auto known = baselines_.find(key); known != baselines_.end()) return known->second;

    const LayoutEntry& entry = *catalogue_.find_layout(catalogue_.baseline_layout);
    const Oracle<Value>& right = oracle<Value>();
    Recipe recipe;
    recipe.layouts.push_back({.entry = &entry, .parameters = Parameters(entry.parameters, {}), .kernels = {}, .place = {}});
    BuiltLayouts<Value> built;
    {
        StagedMatrix natural = stage_copy(input_, 1);
        built = build_layouts<Value>(recipe, natural, {.exact = right.exact_problems(), .clock = clock_});
    }
    const auto space = std::make_shared<const ProductSpace>(Permutation::identity(input_.rows),
                                                            Permutation::identity(input_.columns), vectors_);
    const Verifier<Value> verifier{*device(kind), &right, clock_};
    std::vector<ReadyKernel> found;
    ReadyKernel unsuitable{.outcome = {}, .device = device(kind)};
    std::vector<Backend> backends{Backend::cusparse, Backend::cuda, Backend::kokkos};  // a vendor's kernel first
    if (fastest_baseline_) backends.push_back(Backend::eigen);
    for (const Backend backend : backends) {
        if (!found.empty() && !fastest_baseline_) break;
        bool backend_has_result = false;
        for (const KernelEntry& kernel : entry.kernels) {
            if (kernel.backend != backend || device_of(backend) != kind || backend_has_result) continue;
            if (progress) progress(fmt::format("baseline {} {} {}", entry.name, kernel.name, name_of(precision_of<Value>)));
            ReadyKernel ready = verifier.make_ready(built.candidate({&kernel}, space, false));
            backend_has_result = has_result(ready);
            (backend_has_result ? found.emplace_back() : unsuitable) = std::move(ready);
        }
    }
    if (found.empty()) found.push_back(std::move(unsuitable));
    ReadyKernel ready = fastest_kernel(std::move(found), clock_);
    ready.outcome.layout = entry.name;
    ready.outcome.baseline = true;
    if (ready.outcome.verified()) {
        ready.outcome.setup_seconds = ready.outcome.new_values_seconds = built.outcome.seconds + ready.outcome.prepare_seconds;
    }
    return baselines_.emplace(key, std::move(ready)).first->second;
}

template const Oracle<float>& References::oracle();
template const Oracle<double>& References::oracle();
template ReadyKernel& References::baseline<float>(DeviceKind, const ReportStep&);
template ReadyKernel& References::baseline<double>(DeviceKind, const ReportStep&);

}  // namespace workbench
