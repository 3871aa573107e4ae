// The layouts of a recipe, built from the matrix after its stages: one, or in a hybrid one per share of the nonzeros.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/engine/chain.hpp"
#include "pipeline/engine/outcomes.hpp"
#include "pipeline/measure/candidate.hpp"
#include "pipeline/measure/verification.hpp"

namespace workbench {

struct BuildOptions {
    ExactProblems exact = {};  // empty: no layouts with its values, no exact verification
    Clock clock = {};
    Keeping keeping = {};  // the key of the staged matrix
    ReportStep progress = {};
    /// The device that tuned parameters are for (Parameters::on_device): the GPU of this machine, unless the recipe names a
    /// model.
    const DeviceProperties* device = nullptr;  // null: tuned_device_model()
};

/// The layout of one share of the nonzeros, or of all of them.
template <ValueType Value>
struct BuiltShare {
    std::optional<ShareId> share = {};  // if none, all nonzeros
    BuiltLayout<Value> layout = {};     // null if it is unsuitable
    LayoutOutcome outcome = {};
};

template <ValueType Value>
struct BuiltLayouts {
    LayoutOutcome outcome;                  // of a hybrid as if it were one layout; array names start with their share
    std::vector<BuiltShare<Value>> shares;  // in the order of the recipe's layouts
    ExactValues exact_values = ExactValues::by_place;
    std::shared_ptr<const CsrMatrix> rounded = nullptr;  // see Candidate

    /// The product with all shares, or with share `i` alone; one kernel per share of the recipe. `outcome` must be suitable.
    [[nodiscard]] Candidate<Value> candidate(const std::vector<const KernelEntry*>& kernels,
                                             std::shared_ptr<const ProductSpace> space, bool side_by_side) const;
    [[nodiscard]] Candidate<Value> candidate_of_share(std::size_t i, const std::vector<const KernelEntry*>& kernels,
                                                      std::shared_ptr<const ProductSpace> space) const;
};

/// Throws Unsuitable if the matrix does not fit the layout of a plain recipe; in a hybrid, the outcomes record it. Throws
/// MachineError if memory runs out, std::logic_error unless each nonzero is in exactly one share. `staged` is left as it was.
template <ValueType Value>
[[nodiscard]] BuiltLayouts<Value> build_layouts(const Recipe& recipe, StagedMatrix& staged, const BuildOptions& options);

/// The integers for the layouts of a recipe: by value if one of them may code values.
[[nodiscard]] ExactValues exact_values_of(const Recipe& recipe);

/// The outcome of a layout that is yet to be built.
[[nodiscard]] LayoutOutcome outcome_of(const RecipeLayout& layout, Precision precision);

}  // namespace workbench
