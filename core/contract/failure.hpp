// A failure that is recorded while the rest of the run continues.
#pragma once

#include <string>

#include "core/contract/errors.hpp"

namespace workbench {

/// The user has stopped the program. The text says what is kept.
struct Stopped : UserError {
    explicit Stopped(const std::string& what) : UserError(ExitCode::stopped, what) {}
};

struct Failure {
    ExitCode exit_code = ExitCode::ok;
    std::string text;  // for the user: where, what was found, what was expected

    friend bool operator==(const Failure&, const Failure&) = default;
};

/// The exception that is being handled; call it in a catch block.
[[nodiscard]] Failure current_failure();

}  // namespace workbench
