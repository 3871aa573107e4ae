// Results of stages and layouts: computed, or read from the folder where an earlier run kept them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/layout.hpp"
#include "core/contract/stage.hpp"
#include "pipeline/keep/keep_folder.hpp"
#include "pipeline/measure/timing.hpp"

namespace workbench {

/// A stage with all that its result depends on: equal steps after equal steps give the same matrix.
struct ChainStep {
    const StageEntry* entry = nullptr;
    Parameters parameters;
    const DeviceProperties* device = nullptr;
    Precision precision = Precision::f64;
    std::optional<Precision> only_for;  // set if the stage runs for this precision alone in a run that has others

    friend bool operator==(const ChainStep&, const ChainStep&) = default;
};

template <typename Result>
struct Obtained {
    Result result = {};
    double seconds = 0;                       // of computing it, in this run or an earlier one
    std::optional<double> kept_seconds = {};  // of reading it; none if it was computed now
};

/// The key of a step's result; `before` is that of the step before it.
[[nodiscard]] Keeping keeping_after(const Keeping& before, const ChainStep& step);

/// The key of the result of all these steps, on a matrix with `node_size` unknowns per node.
[[nodiscard]] Keeping keeping_after(const Keeping& matrix, Index node_size, std::span<const ChainStep> steps);

/// A stage's result; `keeping` is its key.
[[nodiscard]] Obtained<StageResult> obtain(const ChainStep& step, const StagedMatrix& staged, const Keeping& keeping,
                                           const Clock& clock);

/// A layout; `keeping` is the key of the matrix or share that `build` builds it from.
template <ValueType Value>
using ObtainedLayout = Obtained<std::unique_ptr<Layout<Value>>>;
template <ValueType Value>
[[nodiscard]] ObtainedLayout<Value> obtain(const LayoutEntry& entry, const Parameters& parameters, const Keeping& keeping,
                                           const Clock& clock, const std::function<std::unique_ptr<Layout<Value>>()>& build);

/// The contents of the files that the parameters name, with what sources include and what is beside a program: "; order.npy
/// 0123...; order.py 4567...". Empty if they name none.
[[nodiscard]] std::string contents_of_files(const std::vector<ParameterDeclaration>& declarations,
                                            const Parameters& parameters);

/// What a recipe takes from an earlier run.
class KeptParts {
public:
    /// A stage or layout, if it was kept: see Obtained::kept_seconds.
    void add(const std::string& name, const std::optional<double>& kept_seconds);
    /// "kept by an earlier run: ...", a note for reports; empty if nothing was.
    [[nodiscard]] std::string note() const;

private:
    std::vector<std::string> names_;
    double seconds_ = 0;
};

}  // namespace workbench
