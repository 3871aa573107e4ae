#include "pipeline/engine/references.hpp"

#include <memory>

#include <fmt/format.h>

#include "pipeline/engine/built_layouts.hpp"

namespace workbench {

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
    const auto space =
        std::make_shared<const ProductSpace>(Permutation::identity(input_.rows), Permutation::identity(input_.columns));
    const Verifier<Value> verifier{*device(kind), &right, clock_};
    ReadyKernel ready{.outcome = {}, .device = device(kind)};
    for (const Backend backend : {Backend::cusparse, Backend::cuda, Backend::kokkos}) {  // a vendor's kernel first
        for (const KernelEntry& kernel : entry.kernels) {
            const bool has_result = ready.outcome.status != KernelOutcome::Status::unsuitable;
            if (kernel.backend != backend || device_of(backend) != kind || has_result) continue;
            if (progress) progress(fmt::format("baseline {} {} {}", entry.name, kernel.name, name_of(precision_of<Value>)));
            ready = verifier.make_ready(built.candidate({&kernel}, space, false));
        }
    }
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
