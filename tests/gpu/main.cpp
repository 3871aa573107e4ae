// The main function of the GPU tests. Without a GPU they are skipped, which is neither success nor failure: exit code 77.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <Kokkos_Core.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/device/cuda_device.hpp"

namespace {

constexpr int skipped = 77;

/// The number of tests that the command line selects, from doctest's output "... passing the current filters: 12".
int count_tests(int argc, char** argv) {
    std::vector<const char*> arguments(argv, argv + argc);
    arguments.insert(arguments.end(), {"--count", "--no-colors"});
    std::ostringstream answer;
    doctest::Context context(static_cast<int>(arguments.size()), arguments.data());
    context.setCout(&answer);
    (void)context.run();
    const std::string text = answer.str();
    const std::size_t colon = text.rfind("filters: ");
    return colon == std::string::npos ? 0 : std::stoi(text.substr(colon + std::string("filters: ").size()));
}

}  // namespace

int main(int argc, char** argv) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    const std::string reason = workbench::cuda_absence_reason();
    if (!reason.empty()) {
        fmt::print("{} GPU tests skipped: {}\n", count_tests(argc, argv), reason);
        return skipped;
    }
    doctest::Context context(argc, argv);
    return context.run();
}
