#include "studies/distributed/start_ranks.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"
#include "studies/distributed/mpi/module.hpp"

namespace workbench {

std::unique_ptr<Ranks> start_ranks() {
    const auto file = find_beside_program(mpi_module_file);
    if (!file) {
        throw MachineError(
            fmt::format("--distributed needs MPI: no {} in ../lib/spmv-workbench relative to the program's folder {}; its "
                        "package {} is not installed, or this program was built without MPI",
                        mpi_module_file, program_folder().string(), package_of_modules));
    }
    // RTLD_GLOBAL because MPI's plug-ins resolve symbols in it. Never closed, as the ranks' code is in the module.
    void* const module = dlopen(file->c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* const function = module == nullptr ? nullptr : dlsym(module, mpi_module_function);
    if (function == nullptr) throw MachineError(fmt::format("--distributed needs MPI, which cannot be loaded: {}", dlerror()));
    return std::unique_ptr<Ranks>(reinterpret_cast<StartMpi>(function)());
}

}  // namespace workbench
