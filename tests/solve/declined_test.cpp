// A GPU that declines to prepare a matrix as a whole, after the matrix was copied there: the host prepares it, and the solve
// says why and counts the copy.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "pipeline/catalogue/catalogue.hpp"
#include "run/scripted_runs.hpp"
#include "studies/solve/multiplier.hpp"
#include "support/layouts/second_preparer.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// The scripted catalogue, whose `plain` and its kernel `gpu` pass for `sell` and its kernel `slices`.
const Catalogue& catalogue_with_sell() {
    static const Catalogue with_sell = [] {
        Catalogue made = scripted_catalogue();
        const auto named = [](auto& entries, const std::string& name) {
            return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
        };
        LayoutEntry& sell = *named(made.layouts, "plain");
        sell.name = "sell";
        sell.parameters = named(catalogue().layouts, "sell")->parameters;
        named(sell.kernels, "gpu")->name = "slices";
        return made;
    }();
    return with_sell;
}

Preparation preparation_of(const std::string& recipe_text, Preparer* preparer) {
    new_script().seconds = {{"upload", {1.0 / 16}}, {"prepare gpu", {4}}};
    const Recipe recipe = parse_recipe("[recipe]\nname = 'R'\n" + recipe_text, "t.toml", catalogue_with_sell());
    ScriptedDevice gpu(gpu_properties());
    const Multiplier<double> multiplier(
        recipe, example(), {.device = gpu, .filter = {DeviceKind::gpu}, .clock = scripted_clock(), .preparer = preparer});
    CHECK(multiplier.ready());
    return multiplier.preparation();
}

}  // namespace

TEST_CASE("a matrix that the GPU declines after the copy is prepared on the host, with the reason and the price") {
    SecondPreparer preparer;
    const Preparation prepared = preparation_of("[layout]\nuse = 'sell'\ncolumn_index = 'u16'\n", &preparer);
    CHECK_EQ(prepared.copy_seconds, 4 + 3.0 / 16);  // the kernel; row offsets, columns and values
    REQUIRE_FALSE(prepared.notes.empty());
    CHECK_EQ(prepared.notes.back(),
             "prepared on the host, because the GPU declined after 187.50 ms: a GPU prepares no matrix as a whole");
}

TEST_CASE("a matrix is not copied to the GPU if it cannot prepare the recipe, or was not asked to") {
    SecondPreparer preparer;
    for (const Preparation& prepared :
         {preparation_of("[[stage]]\nuse = 'rotate'\n[layout]\nuse = 'sell'\ncolumn_index = 'u16'\n", &preparer),
          preparation_of("[layout]\nuse = 'sell'\ncolumn_index = 'u16'\n", nullptr)}) {
        CHECK_EQ(prepared.copy_seconds, 4);
        CHECK_FALSE(std::any_of(prepared.notes.begin(), prepared.notes.end(),
                                [](const std::string& note) { return note.find("declined") != std::string::npos; }));
    }
}

}  // namespace workbench
