// The message of an error.
#pragma once

#include <string>

namespace workbench {

/// The message of the error that the work throws.
template <typename Error, typename Work>
[[nodiscard]] std::string message_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace workbench
