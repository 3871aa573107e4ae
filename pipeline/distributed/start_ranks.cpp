#include "pipeline/distributed/start_ranks.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include "kernels/device/beside_program.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/distributed/mpi/module.hpp"

namespace workbench {

std::unique_ptr<Ranks> start_ranks() {
    const auto file = find_beside_program(mpi_module_file);
    if (!file) {
        throw MachineError(
            fmt::format("--distributed needs MPI: {} is not in lib/spmv-workbench beside the folder of the program, {}; "
                        "a program that was built without MPI has none",
                        mpi_module_file, program_folder().string()));
    }
    // Global, because MPI opens parts of its own that want to find it. Never closed: the ranks live on its code.
    void* const module = dlopen(file->c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (module == nullptr) throw MachineError(fmt::format("--distributed needs MPI, which cannot be opened: {}", dlerror()));
    void* const function = dlsym(module, mpi_module_function);
    if (function == nullptr) throw MachineError(fmt::format("--distributed needs MPI, which cannot be opened: {}", dlerror()));
    return std::unique_ptr<Ranks>(reinterpret_cast<StartMpi>(function)());
}

}  // namespace workbench
