// Where the slots of a layout come from, told in runs of neighbouring nonzeros: most rows are one run, so that a layout which
// remembers its origin costs little more than its arrays.
#pragma once

#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// Nonzeros that are neighbours in CsrMatrix::values.
struct NonzeroRun {
    Offset first = 0;
    Offset count = 0;

    friend bool operator==(const NonzeroRun&, const NonzeroRun&) = default;
};

/// Calls visit(run) for the runs of neighbouring nonzeros in a stored row, in the order of its entries.
template <typename Visit>
void for_each_run(const ShareView& share, Index stored, const Visit& visit) {
    const Offset length = share.length(stored);
    for (Offset k = 0; k < length;) {
        NonzeroRun run{share.entry(stored, k), 1};
        while (k + run.count < length && share.entry(stored, k + run.count) == run.first + run.count) ++run.count;
        visit(run);
        k += run.count;
    }
}

/// Hands out the nonzeros of some runs one by one, then -1 for ever.
class RunCursor {
public:
    RunCursor(const NonzeroRun* begin, const NonzeroRun* end) : run_(begin), end_(end) {}

    Offset next() {
        if (run_ == end_) return -1;
        const Offset nonzero = run_->first + used_++;
        if (used_ == run_->count) {
            ++run_;
            used_ = 0;
        }
        return nonzero;
    }

private:
    const NonzeroRun* run_;
    const NonzeroRun* end_;
    Offset used_ = 0;
};

}  // namespace workbench
