// A failure that is recorded while the rest of the work goes on.
#pragma once

#include <string>

namespace workbench {

struct Failure {
    int exit_code = 0;
    std::string text;  // for the user: where, what was found, what was expected

    friend bool operator==(const Failure&, const Failure&) = default;
};

/// Of the exception that is being handled: to be called in a catch block.
[[nodiscard]] Failure current_failure();

}  // namespace workbench
