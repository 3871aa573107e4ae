// The child process in which code beside a recipe runs first. It is a copy of the program with a single thread: parallel loops
// run on that thread, and each array ends at an inaccessible page, so that the first access behind its end is noticed. New
// memory is not zero, so that what is never written is noticed, too: each byte of an array is 0xFF.
#pragma once

#include <cstddef>

namespace workbench {

/// True in such a child.
[[nodiscard]] bool in_trial_process();

/// Makes this process such a child. To be called right after fork.
void enter_trial_process();

/// An array that was allocated in the child.
struct TrialArrayPlace {
    const void* begin = nullptr;
    std::size_t bytes = 0;
};

/// The array that ends before an inaccessible page with this address. begin == nullptr: none does.
[[nodiscard]] TrialArrayPlace trial_array_before(const void* address);

/// Memory for an array: in the child before an inaccessible page, otherwise from operator new and, if large, in huge pages.
[[nodiscard]] void* allocate_array(std::size_t bytes);
void free_array(void* array) noexcept;

}  // namespace workbench
