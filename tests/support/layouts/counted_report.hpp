// Numbers that occur once each, and a report in which every figure has another one: a view that shows the figure of another
// precision, device, share or stage, or in another unit, differs from its stored text.
#pragma once

#include "pipeline/report/report.hpp"

namespace workbench {

/// Counts upwards from a number.
class Counted {
public:
    explicit Counted(int first) : next_(first) {}

    [[nodiscard]] int count() { return next_++; }
    /// 101.25
    [[nodiscard]] double number() { return count() + 0.25; }
    /// 0.101
    [[nodiscard]] double share() { return count() / 1000.0; }
    /// 101 s
    [[nodiscard]] double seconds() { return count(); }
    /// 0.101 s
    [[nodiscard]] double milliseconds() { return count() / 1000.0; }

private:
    int next_;
};

[[nodiscard]] Metrics counted_metrics(Counted& next);

/// A hybrid of two shares that ran in both precisions on the host and on a GPU. One stage ran for both precisions, two for
/// each.
[[nodiscard]] RunReport counted_report(int first = 101);

/// The report with stages of square matrices, which alone have figures of the distance from the diagonal.
[[nodiscard]] RunReport with_square_stages(RunReport report);

}  // namespace workbench
