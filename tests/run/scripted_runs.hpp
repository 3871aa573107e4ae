// Runs of one small matrix on the scripted machine, for tests with measurements and figures that are worked out by hand.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pipeline/run/runner.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {

/// 4 x 4 with 7 nonzeros, none of them an integer. CSR in f64 takes 40 bytes of offsets, 28 of columns and 56 of values, and
/// 188 bytes with x and y.
inline const CsrMatrix& example() {
    static const CsrMatrix matrix = csr_from_entries(
        4, 4, std::vector<Entry>{{0, 0, 1.5}, {0, 2, 2.5}, {1, 1, 3.5}, {2, 0, 4.5}, {2, 3, 5.5}, {3, 1, 6.5}, {3, 3, 0.25}});
    return matrix;
}

inline DeviceProperties host_properties() { return {DeviceKind::host, "a host", 8, 0, 0, 0}; }
inline DeviceProperties gpu_properties() { return {DeviceKind::gpu, "a GPU", 4, 1000, 0, 0}; }

inline Recipe scripted_recipe(const std::string& text) { return parse_recipe(text, "some/test.toml", scripted_catalogue()); }

inline RunOptions options_of(CacheState cache = CacheState::warm, int samples = 5) {
    RunOptions options;
    options.timing = {cache, samples, 0, 1e9, scripted_clock()};
    return options;
}

struct Machine {
    ScriptedDevice host{host_properties(), {376, 752}};
    ScriptedDevice gpu{gpu_properties(), {3000, 4000}};
};

inline RunReport run(const std::string& recipe, const RunOptions& options = options_of(), bool with_gpu = false,
                     const CsrMatrix& matrix = example()) {
    Machine machine;
    Runner runner(matrix, scripted_catalogue(), {machine.host, with_gpu ? &machine.gpu : nullptr}, options);
    return runner.run(scripted_recipe(recipe), {});
}

inline const KernelOutcome& kernel_of(const RunReport& report, const std::string& name, Precision precision = Precision::f64) {
    const auto found = std::find_if(report.kernels.begin(), report.kernels.end(), [&](const KernelOutcome& kernel) {
        return kernel.kernel == name && kernel.precision == precision;
    });
    REQUIRE_MESSAGE(found != report.kernels.end(), name);
    return *found;
}

inline std::vector<std::string> names_of(const RunReport& report) {
    std::vector<std::string> names;
    for (const KernelOutcome& kernel : report.kernels) names.push_back(kernel.kernel);
    return names;
}

using Names = std::vector<std::string>;

/// Sets times: the baseline takes 16 s, `fast` 4 and `slow` 32; the others as in the comments.
inline void price_everything() {
    Script& script = new_script();
    script.seconds["stage reverse"] = {1};
    script.seconds["stage rotate_rows"] = {2};
    script.seconds["build csr"] = {1000};
    script.seconds["build plain"] = {3, 500};   // the second build is for the exact problem and is not part of the price
    script.seconds["prepare fast"] = {700, 5};  // likewise, the first is for the exact problem
    script.seconds["prepare slow"] = {700, 5};
    script.seconds["run usual"] = {16};
    script.seconds["run fast"] = {4};
    script.seconds["run slow"] = {32};
    script.seconds["scatter"] = {0.5};
}

inline constexpr const char* reversed_plain = "[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'plain'\n";

}  // namespace workbench
