// The struct that a kernel beside a recipe gets: a layout's fields as a header for its author, and as the bytes that are handed
// over.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/contract/precision.hpp"

namespace workbench {

/// What an author's file includes, and the function that it defines.
inline constexpr const char* arrays_header_name = "arrays.hpp";
inline constexpr const char* kernel_function = "multiply";

/// `struct Arrays` for a list of fields, the types of the precision, and the declaration of the function.
[[nodiscard]] std::string arrays_header(const std::string& layout, const std::vector<LayoutField>& fields, Precision precision);

/// The declaration alone, for messages.
[[nodiscard]] std::string declaration_of_kernel(bool on_gpu);

/// A value of `struct Arrays`, as the compilers lay it out.
struct PackedArrays {
    std::vector<std::byte> bytes;
    std::vector<std::size_t> pointers;  // where the pointer of each field that is an array stands

    /// Puts the address of the i-th array into its place.
    void point(std::size_t i, const void* address);
};

/// With null for every pointer.
[[nodiscard]] PackedArrays pack_arrays(const std::vector<LayoutField>& fields);

}  // namespace workbench
