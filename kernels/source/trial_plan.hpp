// What workbench_trial runs: one product of an untrusted kernel. The program starts it with a file in memory that holds a plan
// and the arrays.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/common/compilation/cuda_driver.hpp"
#include "kernels/source/trial.hpp"

namespace workbench {

inline constexpr const char* trial_program = "workbench_trial";

/// On the host an array ends at an inaccessible page, or fewer bytes than this before it, because wide loads may need this
/// alignment.
inline constexpr std::size_t trial_alignment = 64;
inline constexpr std::size_t trial_page = 4096;
/// Fills the guards around y, and on a GPU around every array, so that writes to them show.
inline constexpr unsigned char trial_guard = 0xA5;
/// The size of a guard on each side of an array; on the host, the size of the inaccessible pages.
inline constexpr std::size_t trial_guard_bytes = std::size_t{1} << 16;

inline constexpr int most_trial_arrays = 64;
inline constexpr int most_trial_arguments = 4000;  // bytes; CUDA takes 4096 with x, y and accumulate

struct TrialArray {
    std::array<char, 64> name{};
    std::uint64_t pointer = 0;  // offset of its address in the arguments; unused for x and y
    std::uint64_t element_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t pages = 0;    // offset in the file of the pages that hold it
    std::uint64_t offset = 0;   // offset of the array in the file
    std::uint64_t address = 0;  // set by the trial
    bool is_written = false;    // its contents may change

    /// The size of its pages; an empty array has one page.
    [[nodiscard]] std::uint64_t page_bytes() const {
        return (bytes + trial_page - (bytes == 0 ? 0 : 1)) / trial_page * trial_page;
    }
};

struct TrialPlan {
    bool on_gpu = false;
    double limit_seconds = 0;
    bool repeats = false;     // products, whose sums are exact in any order, so that all of them are the same
    bool accumulates = true;  // false: the kernel computes y = A x alone
    std::uint64_t file_bytes = 0;
    Launch launch;
    bool has_prepared = false;   // there is memory on a GPU that the file may prepare, if only 0 bytes
    std::uint64_t prepared = 0;  // offset of the pointer to what the file's own function has prepared
    std::array<unsigned char, most_trial_arguments> arguments{};
    std::int32_t array_count = 0;  // the last but one is x, the last y; before them, on a GPU, what the file prepares
    std::array<TrialArray, most_trial_arrays> arrays{};
    std::uint64_t image = 0;                 // offset of the image for a GPU
    std::array<char, 4096> shared_object{};  // loaded by the host
    std::array<char, 64> function{};
    std::array<char, 64> prepare{};  // a function that the file may have

    // Set by the trial.
    TrialVerdict verdict;
    bool preparing = false;     // before all products
    bool accumulating = false;  // true in the second product, y += A x
    std::int32_t array = 0;     // whose guards or contents changed
};

/// The plan, in memory shared with the program, and the file that contains it.
struct MappedTrial {
    TrialPlan& plan;
    int file = -1;
    const unsigned char* bytes = nullptr;  // the whole file
};

/// A product with more threads than cores, which are stopped in between, may take this many times the limit.
inline constexpr double limits_of_repeated = 10;

/// Starts the time limit of the product.
void start_product(TrialPlan& plan, bool accumulating, double limits);

/// Repeats y = A x and y += A x for a quarter of a second, and concludes with `differs` if the result is not that of the first
/// time, with `unwritten` if y = A x leaves an element as it was. expected: y after the first two products. run(accumulate, y)
/// computes a product from the bytes of y, and returns what it did differently: "5 threads", or "".
void repeat_products(TrialPlan& plan, const std::array<std::vector<unsigned char>, 2>& expected,
                     const std::function<std::string(bool accumulate, std::vector<unsigned char>& y)>& run);

[[noreturn]] void try_on_host(const MappedTrial& trial);
[[noreturn]] void try_on_gpu(const MappedTrial& trial);

}  // namespace workbench
