// What a stage promises. A stage is data and two functions; there is nothing to derive from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/contract/device.hpp"
#include "pipeline/contract/parameters.hpp"
#include "pipeline/contract/pipeline_facts.hpp"
#include "pipeline/contract/precision.hpp"

namespace workbench {

/// What a stage may know beyond the matrix and its parameters.
struct StageContext {
    const DeviceProperties* device = nullptr;  // the recipe's device model, or the GPU of this machine; null: neither
    Precision precision = Precision::f64;      // of the values that will be stored; see StageContract::depends_on_precision
};

/// A change, and notes on how it was found ("partitions", "132"; "rows moved to fit", "17").
struct StageResult {
    StageChange change = {};
    std::vector<std::pair<std::string, std::string>> notes = {};
};

/// One kind of stage, as the catalogue lists it.
struct StageEntry {
    std::string name;     // as written after `use =`
    std::string summary;  // one line
    std::string source;   // where it comes from: paper, section, equation; or the library that does the work
    std::vector<ParameterDeclaration> parameters;

    /// What the stage needs, gives and keeps with these parameters. Called when the recipe is checked.
    /// Throws ParameterError where the values do not go together.
    StageContract (*contract)(const Parameters&) = nullptr;

    /// Does it read columns or values of the matrix with these parameters? Where it reads sizes, row offsets, cuts and shares
    /// alone, orders before it can wait. Null: it does.
    bool (*reads_entries)(const Parameters&) = nullptr;

    /// The stage itself: pure, the same change for the same input everywhere. What the contract needs is there when it is
    /// called. Throws Unsuitable or a UserError.
    StageResult (*run)(const StagedMatrix&, const Parameters&, const StageContext&) = nullptr;
};

}  // namespace workbench
