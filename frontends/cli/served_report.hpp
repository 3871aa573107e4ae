// The reports that the live page shows.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "frontends/cli/measuring.hpp"

namespace workbench {

/// Runs one recipe after another in this process. Stages that a recipe has in common with the one before, from the first stage
/// on, and the matrix are kept from that run.
class ServedReports {
public:
    explicit ServedReports(const MeasuringArguments& arguments);
    ~ServedReports();
    ServedReports(const ServedReports&) = delete;
    ServedReports& operator=(const ServedReports&) = delete;

    /// The data of the page of a recipe (PageFile::data), without files. `timed`: with its kernels. `go_on` is called between
    /// steps and may throw, which ends the run. Throws UserError. Starts Kokkos, which must not run yet, in the first call.
    [[nodiscard]] std::string page_of(const Recipe& recipe, bool timed, const std::function<void()>& go_on);

private:
    struct State;

    const MeasuringArguments& arguments_;
    std::unique_ptr<State> state_;  // null before the first call
};

}  // namespace workbench
