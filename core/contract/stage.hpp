// The contract of a stage, which is a struct of data and functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/device_plan.hpp"
#include "core/contract/parameters.hpp"
#include "core/contract/pipeline_facts.hpp"
#include "core/contract/precision.hpp"

namespace workbench {

/// The context of a stage, beside the matrix and its parameters.
struct StageContext {
    const DeviceProperties* device = nullptr;  // the device model of the recipe, or the GPU of this machine; null: neither
    Precision precision = Precision::f64;      // of the stored values; see StageContract::depends_on_precision
};

/// The value of the parameter `value_bytes`, or the size of a value in the precision of the context.
[[nodiscard]] inline std::int64_t bytes_of_value(const Parameters& parameters, const StageContext& context) {
    return parameters.has("value_bytes") ? parameters.integer("value_bytes") : value_bytes(context.precision);
}

/// A change, and notes for the report: ("partitions", "132"), ("rows moved to fit", "17").
struct StageResult {
    StageChange change = {};
    std::vector<std::pair<std::string, std::string>> notes = {};
    double untimed_seconds = 0;  // of the run, which are not part of the stage's time: a source was compiled
};

class PatternForecast;  // forecast.hpp

/// Applies to a forecast what is known about the change of a stage before it runs.
using ForeseeChange = void (*)(PatternForecast&, const Parameters&, const StageContext&);

/// A stage, as the catalogue lists it.
struct StageEntry {
    std::string name;     // as written after `use =`
    std::string summary;  // one line
    std::string source;   // the publication (authors, title, year, venue) and the library that does the work
    std::vector<ParameterDeclaration> parameters;
    bool takes_other_keys = false;  // true: it accepts undeclared parameters, for code beside the recipe

    /// The preconditions and effects with these parameters; called when the recipe is checked. Throws ParameterError where
    /// values contradict each other.
    StageContract (*contract)(const Parameters&) = nullptr;

    /// True if the stage orders the whole matrix by itself, so that `choose` puts no other order before it.
    bool orders_all = false;

    /// The parameter that is the number of columns of a segment, whose x a cache may contain; empty: there is none.
    std::string segment_width = {};

    /// True for a stage that shows what other stages gain, such as a random order. A recipe with it is timed, but never
    /// advised.
    bool is_control = false;

    /// Returns false if the stage, with these parameters, reads neither columns nor values of the matrix; orders before it are
    /// then applied later, as one. Null: it reads them.
    bool (*reads_entries)(const Parameters&) = nullptr;

    /// A pure function: the same input gives the same change on every machine. Its preconditions hold. Throws Unsuitable or
    /// UserError.
    StageResult (*run)(const StagedMatrix&, const Parameters&, const StageContext&) = nullptr;

    /// The stage as a step of a plan for a device. Returns nothing if the host does it with these parameters. Null: the host
    /// always does it.
    std::optional<DeviceStep> (*on_device)(const Parameters&) = nullptr;

    /// The change before the stage has run. Null: the pattern is taken to stay as it is.
    ForeseeChange foresee = nullptr;

    /// The time of the stage on 16 cores, as measured (docs/results/preprocessing.md), by which `choose` plans its budget.
    double nanoseconds_per_nonzero = 2;
};

/// The values of parameters that the stage does not declare (StageEntry::takes_other_keys), by name.
[[nodiscard]] inline std::map<std::string, ParameterValue> undeclared_values(const StageEntry& entry,
                                                                             const Parameters& parameters) {
    std::map<std::string, ParameterValue> values(parameters.values().begin(), parameters.values().end());
    for (const ParameterDeclaration& declaration : entry.parameters) values.erase(declaration.name);
    return values;
}

}  // namespace workbench
