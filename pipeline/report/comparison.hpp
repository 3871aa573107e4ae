// Two runs on one matrix, side by side: a view of their reports.
#pragma once

#include <string>

#include "pipeline/report/report.hpp"

namespace workbench {

/// Stage by stage and kernel by kernel, in at most 80 columns.
[[nodiscard]] std::string compare_text(const RunReport& a, const RunReport& b);

/// {"runs": [A, B], "kernels": [...]}: both reports, and the kernels that are compared with each other.
[[nodiscard]] std::string compare_json(const RunReport& a, const RunReport& b);

/// Pairs kernels of two runs that do the same work on the same kind of device in one precision: first by name, then in their
/// order. Kernels without a partner are listed alone.
struct KernelPair {
    const KernelOutcome* a = nullptr;
    const KernelOutcome* b = nullptr;

    [[nodiscard]] const KernelOutcome& either() const { return a != nullptr ? *a : *b; }

    /// The median over the rounds of the time of a over that of b; none if one of them was not measured, or if they were not
    /// timed in turns.
    [[nodiscard]] std::optional<Median> ratio() const;
};

/// Baselines, which both runs share, come first.
[[nodiscard]] std::vector<KernelPair> pairs_of(const RunReport& a, const RunReport& b);

}  // namespace workbench
