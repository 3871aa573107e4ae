// The struct that a kernel beside a recipe receives: a layout's fields as a header for the author and as the bytes passed to
// the kernel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"
#include "core/contract/precision.hpp"

namespace workbench {

/// The header that an author's file includes and the function that it defines.
inline constexpr const char* arrays_header_name = "arrays.hpp";
inline constexpr const char* kernel_function = "multiply";
/// Functions that a file may define: one that prepares what `multiply` needs beside the arrays, and one that frees it, on the
/// host alone.
inline constexpr const char* prepare_function = "prepare";
inline constexpr const char* release_function = "release";

/// Returns the header: `struct Arrays` for a list of fields, the types of the precision, the declaration of the function.
[[nodiscard]] std::string arrays_header(const std::string& layout, const std::vector<LayoutField>& fields, Precision precision);

/// Returns the declaration alone, for messages.
[[nodiscard]] std::string declaration_of_kernel(bool on_gpu);

/// A value of `struct Arrays` with the compilers' struct layout.
struct PackedArrays {
    std::vector<std::byte> bytes;
    std::vector<std::size_t> pointers;  // offset of the pointer of each array
    std::size_t prepared = 0;           // offset of the pointer to what the file's own function has prepared

    /// Sets the address of the i-th array.
    void point(std::size_t i, const void* address);
    void set_prepared(const void* address);
};

/// Packs the fields, with every pointer null.
[[nodiscard]] PackedArrays pack_arrays(const std::vector<LayoutField>& fields);

}  // namespace workbench
