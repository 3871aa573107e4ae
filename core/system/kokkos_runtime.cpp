#include "core/system/kokkos_runtime.hpp"

#include <Kokkos_Core.hpp>

#include <array>
#include <string>

namespace workbench {

KokkosRuntime::KokkosRuntime() {
    // Kokkos' own advice on OMP_PROC_BIND would stand in the middle of the program's output.
    std::string program = "workbench";
    std::string quiet = "--kokkos-disable-warnings";
    std::array<char*, 3> arguments{program.data(), quiet.data(), nullptr};
    int count = 2;
    Kokkos::initialize(count, arguments.data());
}

KokkosRuntime::~KokkosRuntime() { Kokkos::finalize(); }

}  // namespace workbench
