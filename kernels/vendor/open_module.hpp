// Opens the workbench's modules that are linked with vendor libraries.
#pragma once

#include <string>

namespace workbench {

/// A function of a module, or the reason why it is missing.
struct ModuleFunction {
    void* address = nullptr;
    std::string absence;  // one line without a full stop
};

/// Opens a module beside the program. It is never closed, because objects that it created still use its code.
[[nodiscard]] ModuleFunction find_in_module(const std::string& file, const char* function);

}  // namespace workbench
