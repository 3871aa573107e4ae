// Cuts rows into blocks, for tiles.
#include "stages/blocks.hpp"
#include "stages/parameters.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

bool within_partition(const Parameters& parameters) { return parameters.text("within") == "partition"; }

std::vector<Index> boundaries_of_blocks(Index rows, const Parameters& parameters) {
    return parameters.has("height") ? boundaries_by_size(rows, parameters.integer("height"))
                                    : boundaries_by_count(rows, parameters.integer("count"));
}

/// Blocks that begin anew in each partition.
std::vector<Index> boundaries_within(const Cuts& partition, const Parameters& parameters) {
    std::vector<Index> boundaries{0};
    for (Index piece = 0; piece < partition.count(); ++piece) {
        if (partition.size(piece) == 0) continue;
        for (const Index boundary : boundaries_of_blocks(partition.size(piece), parameters)) {
            if (boundary > 0) boundaries.push_back(partition.begin(piece) + boundary);
        }
    }
    return boundaries;
}

StageContract row_blocks_contract(const Parameters& parameters) {
    require_one_of(parameters, {"height", "count"});
    StageContract contract{.needs = {.unsplit = true}, .gives_cuts = {CutKind::row_block}};
    if (within_partition(parameters)) {
        contract.needs.cuts = {CutKind::partition};
    } else if (parameters.has("count")) {
        contract.most_pieces[CutKind::row_block] = parameters.integer("count");
    }
    return contract;
}

StageResult run_row_blocks(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    Cuts blocks{CutKind::row_block, within_partition(parameters)
                                        ? boundaries_within(*staged.find_cuts(CutKind::partition), parameters)
                                        : boundaries_of_blocks(staged.matrix.rows, parameters)};
    StageResult result{.notes = {{"row blocks", std::to_string(blocks.count())}}};
    result.change.cuts.push_back(std::move(blocks));
    return result;
}

}  // namespace

StageEntry row_blocks_stage() {
    return {.name = "row_blocks",
            .summary = "Cut the rows into blocks; a following column_segmentation cuts the matrix into tiles",
            .source =
                "Yan, Diao, Liu, An, Xu, 'A Nonlinear Hash-based Optimization Method for SpMV on GPUs' (HBP), arXiv 2025: 2D "
                "partition",
            .parameters = {integer_parameter("height", not_required, between(1, largest_index, "rows"),
                                             "rows per block; the last block may have fewer; give height or count"),
                           integer_parameter(
                               "count", not_required, between(1, largest_index, "blocks"),
                               "number of blocks, at most the number of rows; their heights differ by at most one row"),
                           choice_parameter("within", by_default("all"), {"all", "partition"},
                                            "blocks of all rows, or blocks that begin anew in each partition, count in each")},
            .contract = row_blocks_contract,
            .reads_entries = [](const Parameters&) { return false; },
            .run = run_row_blocks,
            .on_device = [](const Parameters& parameters) -> std::optional<DeviceStep> {
                const auto boundaries = [parameters](Index rows, const std::vector<Index>& partition) {
                    return within_partition(parameters) ? boundaries_within({CutKind::partition, partition}, parameters)
                                                        : boundaries_of_blocks(rows, parameters);
                };
                return CutRows{boundaries, within_partition(parameters)};
            }};
}

}  // namespace workbench
