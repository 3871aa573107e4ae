// Rows in groups of like length whose padding is least, found by dynamic programming: what the nonlinear hash is compared with.
#include <atomic>
#include <cstdint>
#include <utility>

#include "stages/least_padding.hpp"
#include "stages/row_placement.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
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

std::vector<ParameterDeclaration> parameters() {
    std::vector<ParameterDeclaration> all = placement_parameters();
    all.push_back(
        {.name = "groups",
         .type = ParameterType::integer,
         .default_value = std::int64_t{8},
         .minimum = 1,
         .maximum = 256,
         .unit = "groups",
         .help = "the most groups of rows that are placed together: in the matrix, in each partition, or in each tile"});
    return all;
}

}  // namespace

StageEntry dynamic_program_groups_stage() {
    return {
        .name = "dynamic_program_groups",
        .summary = "Group rows by length so that groups padded to their longest row pad least, shortest group first",
        .source =
            "after Regu2D: Fei, Zhang, 'Regu2D: accelerating vectorization of SpMV on Intel processors through "
            "2D-partitioning and regular arrangement' (2021), as HBP compares itself with it; the recurrence is a design of "
            "this project",
        .parameters = parameters(),
        .contract = placement_contract,
        .run = run};
}

}  // namespace workbench
