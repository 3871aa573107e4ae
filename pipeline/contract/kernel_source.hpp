// A kernel that a recipe brings along as a source file, compiled when it is asked for.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/contract/kernel.hpp"
#include "pipeline/contract/layout.hpp"

namespace workbench {

/// What the recipe says of it. The launch shape is for a GPU alone.
struct KernelSource {
    std::filesystem::path file = {};
    std::string layout = {};         // whose arrays it takes
    Backend backend = Backend::cpu;  // cpu or cuda
    std::string threads = "rows";    // an expression of thread_count; there are threads_per_row times as many
    int threads_per_row = 1;
    int threads_per_block = 256;
    int shared_bytes = 0;  // of dynamic shared memory a block
    bool zero_y = false;   // y is zeroed before, unless the product is added to it: for kernels that add atomically
    double limit_seconds = 10;

    /// How the kernel is called in reports: the file's name without its ending.
    [[nodiscard]] std::string name() const { return file.stem().string(); }

    friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

/// What an expression can name of a layout's fields, with its value: rows, columns, slots, slices where the layout has
/// slice_offsets, every number by its name, and the size of every array by its name and "_size".
[[nodiscard]] std::map<std::string, Offset> launch_names(const std::vector<LayoutField>& fields, Index rows, Index columns);

/// The value of an expression of names and whole numbers with + - * / and brackets; / rounds down. Throws Unsuitable where it
/// is none, names something else, divides by zero, or is negative or beyond 2^62.
[[nodiscard]] Offset thread_count(const std::string& expression, const std::map<std::string, Offset>& names);

}  // namespace workbench
