// The main function of every test program: doctest, with Kokkos initialised.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    doctest::Context context;
    context.setOption("order-by", "suite");  // slow cases last (support/slow.hpp)
    context.applyCommandLine(argc, argv);
    return context.run();
}
