// A matrix in its layout, twice: with its own values, and with those of the exact problem.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pipeline/contract/host_memory.hpp"
#include "pipeline/run/report.hpp"

namespace workbench {

[[nodiscard]] inline LayoutOutcome outcome_of(const LayoutEntry& entry, const Parameters& parameters, Precision precision) {
    LayoutOutcome outcome;
    outcome.name = entry.name;
    outcome.parameters = parameters;
    outcome.precision = precision;
    return outcome;
}

template <ValueType Value>
struct BuiltTwice {
    std::unique_ptr<Layout<Value>> real;
    std::unique_ptr<Layout<Value>> exact;
};

/// The values of the exact problem in the order of a staged matrix. Both must outlive what is returned.
[[nodiscard]] inline std::function<std::vector<double>()> exact_values(const ExactProblem& problem,
                                                                       const StagedMatrix& staged) {
    return [&] { return problem.values_of(staged.matrix, staged.row_order, staged.column_order); };
}

/// Fills the time, the footprint and the size of the outcome. `exact_values` gives the values of the exact problem in the order
/// of the matrix; empty: nothing will be verified exactly, and there is no exact layout. Throws Unsuitable where the matrix
/// does not fit the layout, MachineError where memory lacks.
template <ValueType Value>
[[nodiscard]] BuiltTwice<Value> build_twice(const LayoutEntry& entry, const Parameters& parameters, StagedMatrix& staged,
                                            const std::function<std::vector<double>()>& exact_values, const Clock& clock,
                                            LayoutOutcome& outcome) {
    BuiltTwice<Value> built;
    const BuildLayout<Value> build = entry.build.template get<Value>();
    const std::size_t nonzeros = staged.matrix.values.size();
    outcome.rows = staged.matrix.rows;
    outcome.nonzeros = staged.matrix.nonzeros();
    // How large it becomes is known when it is there. The values are in every layout.
    require_host_memory(nonzeros * sizeof(Value), fmt::format("layout '{}'", entry.name));
    const Stopwatch watch(clock);
    built.real = build(staged, parameters);
    outcome.seconds += watch.seconds();
    std::size_t bytes = nonzeros * sizeof(double);
    for (const LayoutArray& array : built.real->arrays()) {
        outcome.footprint.push_back({std::string(array.name), array.role, array.count, array.bytes()});
        bytes += array.bytes();
    }
    outcome.notes = built.real->notes();
    if (!exact_values) return built;
    require_host_memory(bytes, fmt::format("layout '{}', once more for the exact verification,", entry.name));
    // The exact layout goes through the same building code; only the values are exchanged meanwhile.
    std::vector<double> exact = exact_values();
    std::swap(staged.matrix.values, exact);
    try {
        built.exact = build(staged, parameters);
    } catch (...) {
        std::swap(staged.matrix.values, exact);
        throw;
    }
    std::swap(staged.matrix.values, exact);
    return built;
}

}  // namespace workbench
