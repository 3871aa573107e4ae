#include "kernels/vendor/open_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "core/system/beside_program.hpp"

namespace workbench {

ModuleFunction find_in_module(const std::string& file, const char* function) {
    const auto path = find_beside_program(file);
    if (!path) {
        return {nullptr, fmt::format("{} is not in lib/spmv-workbench beside the folder of the program, {}", file,
                                     program_folder().string())};
    }
    void* const module = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) return {nullptr, dlerror()};
    void* const found = dlsym(module, function);
    if (found == nullptr) return {nullptr, dlerror()};
    return {found, {}};
}

}  // namespace workbench
