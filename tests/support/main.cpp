// The main function of every test program: doctest, with Kokkos initialised.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
    // Flushing a large cache before each sample would take most of the time of the tests, and of the programs that they start.
    setenv("WORKBENCH_LAST_LEVEL_CACHE", "2M", 0);
    const Kokkos::ScopeGuard kokkos(argc, argv);
    doctest::Context context;
    context.setOption("order-by", "suite");  // slow cases last (support/slow.hpp)
    context.applyCommandLine(argc, argv);
    return context.run();
}
