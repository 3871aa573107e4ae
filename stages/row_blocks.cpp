// Cuts rows into blocks, for tiles.
#include "stages/blocks.hpp"
#include "stages/parameters.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageContract row_blocks_contract(const Parameters& parameters) {
    require_one_of(parameters, {"height", "count"});
    StageContract contract{.needs = {.unsplit = true}, .gives_cuts = {CutKind::row_block}};
    if (parameters.has("count")) contract.most_pieces[CutKind::row_block] = parameters.integer("count");
    return contract;
}

StageResult run_row_blocks(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Index rows = staged.matrix.rows;
    Cuts blocks{CutKind::row_block, parameters.has("height") ? boundaries_by_size(rows, parameters.integer("height"))
                                                             : boundaries_by_count(rows, parameters.integer("count"))};
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
                               "number of blocks, at most the number of rows; their heights differ by at most one row")},
            .contract = row_blocks_contract,
            .reads_entries = [](const Parameters&) { return false; },
            .run = run_row_blocks};
}

}  // namespace workbench
