// The facts that the program compares before it uses a format that was compiled beside a recipe.
#pragma once

#include "core/contract/layout.hpp"

namespace workbench {

/// Counts changes after which files that formats include, or what they may do, are no longer the same.
inline constexpr int format_version = 1;

/// Differs if the format was compiled with the headers of another version.
struct FormatHead {
    int version = format_version;
    std::size_t layout_entry = sizeof(LayoutEntry);
    std::size_t kernel_entry = sizeof(KernelEntry);
    std::size_t parameter = sizeof(ParameterDeclaration);
    std::size_t staged_matrix = sizeof(StagedMatrix);
    std::size_t device = sizeof(DeviceProperties);

    friend bool operator==(const FormatHead&, const FormatHead&) = default;
};

}  // namespace workbench
