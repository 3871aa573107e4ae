// A GPU that declines to prepare a matrix as a whole, after the matrix was copied there: the host prepares it, and the solve
// says why and counts the copy.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "pipeline/catalogue/catalogue.hpp"
#include "run/scripted_runs.hpp"
#include "studies/solve/multiplier.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// The scripted catalogue, whose layout `plain` declares that a device can store it, and a stage that only the host can do.
const Catalogue& catalogue_of_device() {
    static const Catalogue of_device = [] {
        Catalogue made = scripted_catalogue();
        const auto plain = std::ranges::find(made.layouts, "plain", &LayoutEntry::name);
        plain->on_device = [](const Parameters&) -> std::optional<DeviceStorage> { return RowSlices{}; };
        plain->kernel_on_device = "gpu";
        StageEntry cut = made.stages.front();
        cut.name = "cut";
        cut.contract = [](const Parameters&) { return StageContract{.gives_cuts = {CutKind::row_block}}; };
        cut.run = [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
            return StageResult{.change = {.cuts = {{CutKind::row_block, {0, staged.matrix.rows}}}}};
        };
        made.stages.push_back(cut);
        return made;
    }();
    return of_device;
}

Preparation preparation_of(const std::string& recipe_text, const std::string& prepare) {
    new_script().seconds = {{"upload", {1.0 / 16}}, {"prepare gpu", {4}}};
    const Recipe recipe =
        parse_recipe("[recipe]\nname = 'R'\nprepare = '" + prepare + "'\n" + recipe_text, "t.toml", catalogue_of_device());
    ScriptedDevice gpu(gpu_properties());
    const Multiplier<double> multiplier(recipe, example(),
                                        {.device = gpu, .filter = {DeviceKind::gpu}, .clock = scripted_clock()});
    CHECK(multiplier.ready());
    return multiplier.preparation();
}

}  // namespace

TEST_CASE("a matrix that the GPU declines after the copy is prepared on the host, with the reason and the price") {
    const Preparation prepared = preparation_of("[layout]\nuse = 'plain'\n", "gpu");
    CHECK_EQ(prepared.copy_seconds, 4 + 3.0 / 16);  // the kernel; row offsets, columns and values
    REQUIRE_FALSE(prepared.notes.empty());
    CHECK_EQ(prepared.notes.back(),
             "prepared on the host, because the GPU declined after 187.50 ms: a GPU prepares no matrix as a whole");
}

TEST_CASE("a matrix is not copied to the GPU if it cannot prepare the recipe, or was not asked to") {
    const std::string plain = "[layout]\nuse = 'plain'\n";
    const Preparation of_host = preparation_of("[[stage]]\nuse = 'cut'\n" + plain, "gpu");
    CHECK_EQ(of_host.copy_seconds, 4);
    REQUIRE_FALSE(of_host.notes.empty());
    CHECK_EQ(of_host.notes.back(), "prepared on the host: a GPU does not do stage 'cut'");
    const Preparation not_asked = preparation_of(plain, "cpu");
    CHECK_EQ(not_asked.copy_seconds, 4);
    CHECK(not_asked.notes.empty());
}

}  // namespace workbench
