// The references for all kernels of a process on one matrix: correct results, and the times of baselines.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "core/contract/device.hpp"
#include "pipeline/engine/chain.hpp"
#include "pipeline/measure/measure.hpp"

namespace workbench {

/// The devices that a run may use.
struct Devices {
    Device& host;
    Device* gpu = nullptr;  // null: none, or none is to be used
};

/// The number of the fastest contender in a short comparison in turns. There is at least one.
[[nodiscard]] std::size_t fastest_of(const std::vector<Contender>& contenders, const Clock& clock);

/// References and baselines are made when they are first requested, and once, so that all figures of a process can be compared
/// with each other.
class References {
public:
    /// All arguments must outlive this. fastest_baseline: the baseline is the fastest of the first kernels of all backends.
    /// vectors: of each product.
    References(const CsrMatrix& input, const Catalogue& catalogue, Devices devices, Clock clock, bool fastest_baseline = false,
               int vectors = 1)
        : input_(input),
          catalogue_(catalogue),
          devices_(devices),
          clock_(std::move(clock)),
          fastest_baseline_(fastest_baseline),
          vectors_(vectors) {}

    [[nodiscard]] const CsrMatrix& input() const { return input_; }
    [[nodiscard]] int vectors() const { return vectors_; }
    /// Null: there is none, or none is to be used.
    [[nodiscard]] Device* device(DeviceKind kind) const { return kind == DeviceKind::host ? &devices_.host : devices_.gpu; }

    template <ValueType Value>
    [[nodiscard]] const Oracle<Value>& oracle();

    /// The first kernel of the baseline layout that gives a result on this kind of device, in the order of the input; or the
    /// fastest one, see the constructor. Every recipe's kernels are timed in turns with it.
    template <ValueType Value>
    [[nodiscard]] ReadyKernel& baseline(DeviceKind kind, const ReportStep& progress);

    /// See KernelOutcome::series.
    [[nodiscard]] int next_series() { return ++series_; }

private:
    template <typename Value>
    using MaybeOracle = std::optional<Oracle<Value>>;

    const CsrMatrix& input_;
    const Catalogue& catalogue_;
    Devices devices_;
    Clock clock_;
    bool fastest_baseline_;
    int vectors_;
    ForEachPrecision<MaybeOracle> oracles_;
    std::map<std::pair<Precision, DeviceKind>, ReadyKernel> baselines_;
    int series_ = 0;
};

}  // namespace workbench
