// Which kernel of a layout runs, and what a run says about it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/measure/measure.hpp"
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

    TEST_CASE("with several vectors kernels that divide rows come first if rows are long, and last if not") {
        LayoutEntry entry = *scripted_recipe("[layout]\nuse = 'plain'\n").layouts.front().entry;
        const PrepareVectors<double> prepare = [](const Layout<double>&, std::span<const Index>, int,
                                                  Device&) -> std::unique_ptr<Kernel<double>> { return nullptr; };
        const auto kernel = [&](const char* name, bool reads_once, bool divides) {
            KernelEntry one;
            one.name = name;
            one.backend = Backend::cuda;
            if (reads_once) one.prepare_vectors.f64 = prepare;
            one.divides_rows = divides;
            return one;
        };
        entry.kernels = {kernel("one by one", false, false), kernel("divides", true, true), kernel("rows", true, false),
                         kernel("other", true, false)};
        RecipeLayout layout;
        layout.entry = &entry;
        const auto chosen = [&](int vectors, bool long_rows, const std::string& only = "") {
            return choose_kernel(layout, {.kind = DeviceKind::gpu, .only = only, .vectors = vectors, .long_rows = long_rows})
                ->name;
        };
        CHECK(chosen(1, true) == "one by one");
        CHECK(chosen(2, true) == "divides");
        CHECK(chosen(2, false) == "rows");
        CHECK(chosen(2, false, "one by one") == "one by one");
        layout.kernels.emplace(Backend::cuda, "other");
        CHECK(chosen(2, true) == "other");
        CHECK(chosen(2, false) == "other");
    }

    TEST_CASE("long rows have more than 1024 entries and 16 times the mean") {
        const auto has = [](Offset longest, Offset rows, Offset others) {
            std::vector<Offset> offsets{0, others};
            offsets.push_back(offsets.back() + longest);
            for (Offset row = 2; row < rows; ++row) offsets.push_back(offsets.back() + others);
            return has_long_rows(offsets);
        };
        CHECK_FALSE(has_long_rows(std::vector<Offset>{0}));
        CHECK_FALSE(has_long_rows(std::vector<Offset>{}));
        CHECK_FALSE(has(1024, 1000, 4));
        CHECK(has(1025, 1000, 4));
        CHECK_FALSE(has(1600, 1000, 100));  // 16 times the mean would be 1624
        CHECK(has(1640, 1000, 100));
        CHECK_FALSE(has(5000, 1, 5000));
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
