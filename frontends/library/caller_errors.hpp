// Translates the workbench's exceptions into those of the library's header.
#pragma once

#include <cstddef>
#include <string_view>

namespace workbench {

/// Rethrows the exception being handled as the header documents it; call it in a catch block.
[[noreturn]] void rethrow_to_caller();

/// Runs `work` and translates its exceptions.
template <typename Work>
auto for_caller(const Work& work) {
    try {
        return work();
    } catch (...) {
        rethrow_to_caller();
    }
}

// Preconditions of the caller; both throw std::invalid_argument.
void require_size(std::string_view name, std::size_t found, std::size_t expected);
void require_apart(const void* x, std::size_t bytes_of_x, const void* y, std::size_t bytes_of_y);

}  // namespace workbench
