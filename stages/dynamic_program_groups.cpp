// Groups of rows of similar length with minimum padding, by dynamic programming: the baseline of the nonlinear hash.
#include <atomic>
#include <cstdint>
#include <utility>

#include "stages/least_padding.hpp"
#include "stages/row_placement.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_dynamic_program_groups(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const auto most_groups = static_cast<Index>(parameters.integer("groups"));
    std::atomic<std::int64_t> groups = 0;
    std::atomic<std::int64_t> padding = 0;
    StageChange change = place_rows(staged, parameters, [&](std::span<const Index> lengths) {
        const LengthGroups best = groups_of_least_padding(lengths, most_groups);
        groups += static_cast<std::int64_t>(best.longest.size());
        padding += best.padding;
        return rows_by_group(lengths, best);
    });
    return {.change = std::move(change),
            .notes = {{"groups", std::to_string(groups)}, {"padding of the groups", std::to_string(padding)}}};
}

}  // namespace

StageEntry dynamic_program_groups_stage() {
    return {.name = "dynamic_program_groups",
            .summary = "Group rows by length with minimum padding to the longest row of each group; shortest group first",
            .source =
                "after Fei, Zhang, 'Regu2D: accelerating vectorization of SpMV on Intel processors through 2D-partitioning and "
                "regular "
                "arrangement', ICPP 2021, with which HBP compares itself; the recurrence is a design of this project",
            .parameters = placement_parameters(
                integer_parameter("groups", by_default(8), between(1, 256, "groups"),
                                  "maximum number of groups in the matrix, in each partition, or in each tile")),
            .contract = placement_contract,
            .run = run_dynamic_program_groups};
}

}  // namespace workbench
