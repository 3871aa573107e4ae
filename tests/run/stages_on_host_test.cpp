// Stages that the host runs for a device that prepares the rest of a matrix.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "run/plans.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const std::string sell = "[layout]\nuse = 'sell'\n";
const std::string to_parts =
    "[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\n[[stage]]\nuse = 'split'\nby = 'inside_partition'\n"
    "[layout]\nuse = 'ehyb'\n";

}  // namespace

TEST_CASE("the host orders and divides for a device where no GPU does") {
    const DevicePlan parts = plan_of("[[stage]]\nuse = 'metis_partition'\nparts = 4\n" + to_parts);
    const auto& metis = step<TakeOrder>(parts, 0);
    CHECK(metis.has_parts);
    CHECK(metis.reads_entries);
    CHECK_FALSE(metis.needs_parts);
    CHECK_FALSE(metis.keeps_parts);
    CHECK(metis.acts == Acts::symmetric);
    CHECK(plan_of("[[stage]]\nuse = 'bfs_blocks'\nparts = 7\n" + to_parts).steps.size() == 3);
    const DevicePlan shuffled =
        plan_of("[[stage]]\nuse = 'cuthill_mckee'\n[[stage]]\nuse = 'random_order'\napply = 'rows'\n" + sell);
    CHECK(shuffled.steps.at(0).on_host.has_value());  // where the pattern is not symmetric
    CHECK(step<TakeOrder>(shuffled, 1).acts == Acts::rows);
    CHECK_FALSE(step<TakeOrder>(shuffled, 1).has_parts);
    CHECK_FALSE(shuffled.suits_any_shape());
    CHECK(plan_of("[[stage]]\nuse = 'random_order'\napply = 'rows'\n" + sell).suits_any_shape());

    // A path of four vertices, 0 - 2 - 3 - 1, and one vertex alone.
    StagedMatrix staged = stage_input(csr_from_entries(
        5, 5, std::vector<Entry>{{0, 2, 1}, {1, 3, 1}, {2, 0, 1}, {2, 3, 1}, {3, 1, 1}, {3, 2, 1}, {4, 4, 1}}));
    const DevicePlan king = plan_of("[[stage]]\nuse = 'king'\n" + sell);
    const GivenOrder given = step<TakeOrder>(king, 0).find(staged, {});
    const Recipe recipe = recipe_of_plan("[[stage]]\nuse = 'king'\n" + sell);
    const StageResult there = recipe.stages[0].entry->run(staged, recipe.stages[0].parameters, {});
    CHECK(std::ranges::equal(given.old_of_new, there.change.order->order.old_of_new()));
    CHECK(given.notes == there.notes);
    CHECK(given.partition.empty());
}

TEST_CASE("a stage that the host runs for a device runs once, and may be kept") {
    const TemporaryFolder folder;
    const Recipe recipe = recipe_of_plan("[[stage]]\nid = 'shuffle'\nuse = 'random_order'\n" + sell);
    const StagedMatrix staged = stage_input(csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 1}, {1, 1, 1}, {2, 2, 1}}));
    std::vector<std::string> begun;
    KeepFolder keep(folder.path(), "a program");
    const Keeping keeping(&keep, staged.matrix);
    for (const bool is_kept : {false, true}) {
        StagesOnHost on_host(keeping, {}, [&](const std::string& what) { begun.push_back(what); });
        const auto first = on_host.run(recipe, 0, staged, {});
        CHECK(first.kept_seconds.has_value() == is_kept);
        CHECK((on_host.note().find("shuffle") != std::string::npos) == is_kept);
        const auto second = on_host.run(recipe, 0, staged, {});
        CHECK(second.seconds == 0);
        CHECK(second.result.change.order->order == first.result.change.order->order);
    }
    CHECK(begun == std::vector<std::string>{"x: stage shuffle", "x: stage shuffle"});
}

}  // namespace workbench
