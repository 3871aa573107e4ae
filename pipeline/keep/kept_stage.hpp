// What a stage found, made or read from where it was kept.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/contract/stage.hpp"
#include "pipeline/keep/keep_folder.hpp"
#include "pipeline/measure/timing.hpp"

namespace workbench {

/// A stage as far as its result goes: equal steps after equal ones leave the same matrix behind.
struct ChainStep {
    const StageEntry* entry = nullptr;
    Parameters parameters;
    const DeviceProperties* device = nullptr;
    Precision precision = Precision::f64;
    std::optional<Precision> only_for;  // it runs for this precision alone, where the run has others too

    friend bool operator==(const ChainStep&, const ChainStep&) = default;
};

struct FoundResult {
    StageResult result;
    double seconds = 0;                  // that it took to make, be it in another run
    std::optional<double> kept_seconds;  // that it took to read what was kept; none: it was made
};

/// Where the result of a step is kept, `before` being that of the one before it.
[[nodiscard]] Keeping keeping_after(const Keeping& before, const ChainStep& step);

/// Where that of all these steps is, on a matrix whose nodes have so many unknowns.
[[nodiscard]] Keeping keeping_after(const Keeping& matrix, Index node_size, std::span<const ChainStep> steps);

/// Where a layout is kept, `matrix` being where what it is built from is.
[[nodiscard]] Keeping keeping_of(const Keeping& matrix, const LayoutEntry& entry, const Parameters& parameters,
                                 Precision precision);

/// What a report says of results that were kept: "kept by an earlier run: ...".
[[nodiscard]] std::string note_on_kept(const std::vector<std::string>& names, double seconds);

/// Reads what is kept; or makes it, and keeps it where there is a place for it.
[[nodiscard]] FoundResult find_result(const ChainStep& step, const StagedMatrix& staged, const Keeping& keeping,
                                      const Clock& clock);

}  // namespace workbench
