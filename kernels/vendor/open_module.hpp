// Modules of the workbench that are linked with libraries of a vendor, and opened when they are asked for.
#pragma once

#include <string>

namespace workbench {

/// A function of a module, or why it is not there.
struct ModuleFunction {
    void* address = nullptr;
    std::string absence;  // in one line without a full stop
};

/// Opens a module that lies beside the program. It is never closed: what it has made lives on its code.
[[nodiscard]] ModuleFunction find_in_module(const std::string& file, const char* function);

}  // namespace workbench
