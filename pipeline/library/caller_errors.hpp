// The seam between the workbench's exceptions and those of the header.
#pragma once

#include <cstddef>
#include <string_view>

namespace workbench {

/// Of the exception that is being handled: throws it as the header promises. To be called in a catch block.
[[noreturn]] void rethrow_to_caller();

/// Runs work of the workbench for a function of the header.
template <typename Work>
auto for_caller(const Work& work) {
    try {
        return work();
    } catch (...) {
        rethrow_to_caller();
    }
}

/// What the caller has to mind. Both throw std::invalid_argument.
void require_size(std::string_view name, std::size_t found, std::size_t expected);
void require_apart(const void* x, std::size_t bytes_of_x, const void* y, std::size_t bytes_of_y);

}  // namespace workbench
