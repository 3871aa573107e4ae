// Which kernel of a layout runs, and what a run says about it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/measure/still_works.hpp"
#include "run/scripted_runs.hpp"
#include "support/free_memory.hpp"

namespace workbench {

TEST_SUITE("kernel choice") {
    TEST_CASE("a kernel that the filter names comes before the recipe's, and that before the first one") {
        const Recipe plain = scripted_recipe("[layout]\nuse = 'plain'\n");
        const Recipe slow = scripted_recipe("[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'slow'\n");
        const auto chosen = [](const Recipe& recipe, const KernelFilter& filter) {
            const KernelEntry* const kernel = choose_kernel(recipe.layouts.front(), filter);
            return kernel == nullptr ? "" : kernel->name;
        };
        CHECK(chosen(plain, {}) == "fast");
        CHECK(chosen(slow, {}) == "slow");
        CHECK(chosen(slow, {.only = "fast"}) == "fast");
        CHECK(chosen(plain, {.only = "eigen"}) == "eigen");
        CHECK(chosen(slow, {.may_run = [](const KernelEntry& kernel) { return kernel.name != "slow"; }}) == "fast");
        CHECK(chosen(slow, {.may_run = [](const KernelEntry&) { return false; }}).empty());
    }

    TEST_CASE("a run announces each layout with its kernel") {
        Machine machine;
        Runner runner(example(), scripted_catalogue(), {machine.host}, options_of());
        std::vector<std::string> steps;
        RunObserver observer;
        observer.progress = [&](const std::string& step) { steps.push_back(step); };
        (void)runner.run(scripted_recipe("[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'slow'\n"), observer);
        CHECK(std::count(steps.begin(), steps.end(), "kernel plain slow f64") == 1);
    }

    TEST_CASE("the memory for building a layout once more is that of its arrays and of other values") {
        std::vector<Entry> entries;
        for (Index i = 0; i < 100'000; ++i) entries.push_back({i, i, 1.5});
        const CsrMatrix matrix = csr_from_entries(100'000, 100'000, entries);
        std::string failures;  // with more and more memory
        for (std::size_t free = 2'000'000; free < 20'000'000; free += 400'000) {
            const FreeMemory memory(free);
            try {
                for (const Failure& failure : run("[layout]\nuse = 'csr'\n", options_of(), false, matrix).failures) {
                    failures += failure.text + '\n';
                }
            } catch (const MachineError& error) {
                failures += std::string(error.what()) + '\n';
            }
        }
        CAPTURE(failures);
        // 100,001 offsets of 8 bytes, 100,000 columns of 4 and twice as many values of 8.
        CHECK(failures.find("layout 'csr', once more for the exact verification, needs 2800008 bytes") != std::string::npos);
    }

    TEST_CASE("a device that cannot copy in one of the directions does not work") {
        for (const std::string direction : {"", "upload", "download"}) {
            new_script().fails[direction] = {1};
            ScriptedDevice gpu(gpu_properties());
            CHECK(still_works(gpu) == direction.empty());
        }
    }
}

}  // namespace workbench
