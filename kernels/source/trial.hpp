// A trial: one product with a kernel that nobody knows, in a process of its own, where it may hang, crash or write anywhere.
// The program starts workbench_trial and hands it a file in memory: a plan, then the arrays. What was found comes back in the
// plan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/source/cuda_driver.hpp"

namespace workbench {

inline constexpr const char* trial_program = "workbench_trial";

/// On the host an array ends where a page that nobody may touch begins, or less than this before it: wide loads may ask for so
/// much alignment.
inline constexpr std::size_t trial_alignment = 64;
inline constexpr std::size_t trial_page = 4096;
/// What stands around y, and on a GPU around every array, to show whether it was written to.
inline constexpr unsigned char trial_guard = 0xA5;
/// So much of it on a GPU, on each side; on the host so many bytes that nobody may touch.
inline constexpr std::size_t trial_guard_bytes = std::size_t{1} << 16;

inline constexpr int most_trial_arrays = 64;
inline constexpr int most_trial_arguments = 4000;  // bytes; CUDA takes 4096 with x, y and accumulate

struct TrialArray {
    std::array<char, 64> name{};
    std::uint64_t pointer = 0;  // where its address stands in the arguments; of x and y nothing
    std::uint64_t element_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t pages = 0;    // offset in the file of the pages that it lies in
    std::uint64_t offset = 0;   // of itself in the file
    std::uint64_t address = 0;  // told by the trial

    /// Of its pages. An empty array has one.
    [[nodiscard]] std::uint64_t page_bytes() const {
        return (bytes + trial_page - (bytes == 0 ? 0 : 1)) / trial_page * trial_page;
    }
};

enum class TrialVerdict : std::int32_t {
    none,
    fine,
    not_loadable,   // text: why
    no_function,    // the file has none of that name
    refused,        // text: the device, not the kernel, is to blame
    hung,           // longer than the limit
    signal,         // number; where it is about memory, fault_address
    wrote_outside,  // array `array` has neighbours that changed
    wrote_inside,   // array `array`, which is only to be read, changed
    failed,         // text: what the device says
};

struct TrialPlan {
    bool on_gpu = false;
    double limit_seconds = 0;
    std::uint64_t file_bytes = 0;
    Launch launch;
    std::uint64_t argument_bytes = 0;
    std::array<unsigned char, most_trial_arguments> arguments{};
    std::int32_t array_count = 0;  // the last but one is x, the last y
    std::array<TrialArray, most_trial_arrays> arrays{};
    std::uint64_t image = 0;                 // offset of what a GPU loads
    std::array<char, 4096> shared_object{};  // what the host loads
    std::array<char, 64> function{};

    // Told by the trial.
    TrialVerdict verdict = TrialVerdict::none;
    bool accumulating = false;  // in the second product, which is added to y
    std::int32_t signal = 0;
    std::int32_t array = 0;
    std::uint64_t fault_address = 0;
    std::array<char, 512> text{};
};

}  // namespace workbench
