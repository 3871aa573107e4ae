// A matrix in its layout, twice: with its own values, and with those of the exact problem.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pipeline/contract/host_memory.hpp"
#include "pipeline/keep/kept_stage.hpp"
#include "pipeline/keep/prepared.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {

[[nodiscard]] inline LayoutOutcome outcome_of(const LayoutEntry& entry, const Parameters& parameters, Precision precision) {
    LayoutOutcome outcome;
    outcome.name = entry.name;
    outcome.parameters = parameters;
    outcome.precision = precision;
    return outcome;
}

/// A layout, made or read from where it was kept.
template <ValueType Value>
struct FoundLayout {
    std::unique_ptr<Layout<Value>> layout;
    double seconds = 0;                  // that it took to build, be it in another run
    std::optional<double> kept_seconds;  // that it took to read what was kept; none: it was built
};

/// `keeping`: of the matrix or share that it is built from. `build` is called where nothing is kept.
template <ValueType Value>
[[nodiscard]] FoundLayout<Value> find_layout(const LayoutEntry& entry, const Parameters& parameters, const Keeping& keeping,
                                             const Clock& clock, const std::function<std::unique_ptr<Layout<Value>>()>& build) {
    FoundLayout<Value> found;
    const EmptyLayout<Value> empty = entry.empty.template get<Value>();
    Keeping own;
    if (keeping.on() && empty != nullptr) own = keeping_of(keeping, entry, parameters, precision_of<Value>);
    const auto transfer = [&found](Transfer& all) {
        all(found.seconds);
        found.layout->transfer(all);
    };
    const Stopwatch reading(clock);
    if (own.on()) found.layout = empty(parameters);
    if (own.read(transfer)) {
        found.kept_seconds = reading.seconds();
        return found;
    }
    const Stopwatch building(clock);
    found.layout = build();
    found.seconds = building.seconds();
    own.write(transfer);
    return found;
}

template <ValueType Value>
struct BuiltTwice {
    std::unique_ptr<Layout<Value>> real;
    std::unique_ptr<Layout<Value>> exact;
};

/// The values of the exact problem in the order of a staged matrix. Both must outlive what is returned.
[[nodiscard]] inline std::function<HostArray<double>()> exact_values(const ExactProblem& problem, const StagedMatrix& staged) {
    return [&] { return problem.values_of(staged.matrix, staged.row_order, staged.column_order); };
}

/// `keeping`: of the matrix or share, as it is staged. Fills the time, the footprint and the size of the outcome.
/// `exact_values` gives the values of the exact problem in the order of the matrix; empty: nothing will be verified exactly,
/// and there is no exact layout. Throws Unsuitable where the matrix does not fit the layout, MachineError where memory lacks.
template <ValueType Value>
[[nodiscard]] BuiltTwice<Value> build_twice(const LayoutEntry& entry, const Parameters& parameters, StagedMatrix& staged,
                                            const std::function<HostArray<double>()>& exact_values, const Clock& clock,
                                            LayoutOutcome& outcome, const Keeping& keeping = {}) {
    BuiltTwice<Value> built;
    const BuildLayout<Value> build = entry.build.template get<Value>();
    const std::size_t nonzeros = staged.matrix.values.size();
    outcome.rows = staged.matrix.rows;
    outcome.nonzeros = staged.matrix.nonzeros();
    // How large it becomes is known when it is there. The values are in every layout.
    require_host_memory(nonzeros * sizeof(Value), fmt::format("layout '{}'", entry.name));
    FoundLayout<Value> real = find_layout<Value>(entry, parameters, keeping, clock, [&] { return build(staged, parameters); });
    built.real = std::move(real.layout);
    outcome.seconds += real.seconds;
    outcome.kept_seconds = real.kept_seconds;
    std::size_t bytes = nonzeros * sizeof(double);
    for (const LayoutArray& array : built.real->arrays()) {
        outcome.footprint.push_back({std::string(array.name), array.role, array.count, array.bytes()});
        bytes += array.bytes();
    }
    outcome.notes = built.real->notes();
    note_preparer(staged.preparer, real.kept_seconds.has_value(), outcome.notes);
    if (!exact_values) return built;
    require_host_memory(bytes, fmt::format("layout '{}', once more for the exact verification,", entry.name));
    // The exact layout goes through the same building code; only the values are exchanged meanwhile.
    const auto build_exact = [&] {
        HostArray<double> exact = exact_values();
        std::swap(staged.matrix.values, exact);
        try {
            std::unique_ptr<Layout<Value>> layout = build(staged, parameters);
            std::swap(staged.matrix.values, exact);
            return layout;
        } catch (...) {
            std::swap(staged.matrix.values, exact);
            throw;
        }
    };
    const Keeping of_exact = keeping.after("exact", "values of the exact problem");
    built.exact = find_layout<Value>(entry, parameters, of_exact, clock, build_exact).layout;
    if (staged.preparer != nullptr) (void)staged.preparer->take_steps();  // nobody is told of the exact layout's
    return built;
}

}  // namespace workbench
