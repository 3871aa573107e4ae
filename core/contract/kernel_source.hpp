// A kernel from a source file beside the recipe, compiled on demand.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/contract/kernel.hpp"
#include "core/contract/layout.hpp"

namespace workbench {

/// The part of a recipe that describes the kernel. The launch shape applies to a GPU only.
struct KernelSource {
    std::filesystem::path file = {};
    std::string layout = {};         // the layout whose arrays it takes
    Backend backend = Backend::cpu;  // cpu or cuda
    std::string threads = "rows";    // an expression for thread_count, which threads_per_row multiplies
    int threads_per_row = 1;
    int threads_per_block = 256;
    int shared_bytes = 0;              // dynamic shared memory per block
    std::string prepared_bytes = "0";  // an expression for the memory on a GPU that the file prepares
    bool zero_y = false;               // set y to zero before y = A x, for kernels that add atomically
    bool accumulate = true;            // false: the kernel computes y = A x alone, and y += A x goes through a buffer
    double limit_seconds = 10;

    /// The name in reports: the file name without its extension.
    [[nodiscard]] std::string name() const { return file.stem().string(); }

    friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

/// The names that an expression can use, with their values: rows, columns, slots, slices (if the layout has slice_offsets), the
/// numbers of the layout, and the size of each array as "NAME_size".
[[nodiscard]] std::map<std::string, Offset> launch_names(const std::vector<LayoutField>& fields, Index rows, Index columns);

/// The value of an expression of names and integers with + - * / and parentheses; / rounds down. Throws Unsuitable for a syntax
/// error, an unknown name, a division by zero, and results that are negative or above 2^62.
[[nodiscard]] Offset thread_count(const std::string& expression, const std::map<std::string, Offset>& names);

}  // namespace workbench
