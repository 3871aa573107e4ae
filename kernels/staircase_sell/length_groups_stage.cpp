// Cuts between rows of different lengths, for layouts that store each group with one width.
#include "kernels/staircase_sell/length_groups.hpp"

#include <fmt/format.h>

#include <string>

#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

HostArray<Offset> ascending_lengths(const CsrMatrix& matrix) {
    HostArray<Offset> lengths(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) {
        lengths[row] = matrix.row_length(row);
        if (row == 0 || lengths[row - 1] <= lengths[row]) continue;
        throw Unsuitable(
            fmt::format("rows must come in ascending length, but row {} has {} nonzeros and row {} has {}: put a "
                        "row_sort with order = \"ascending\" before it",
                        row - 1, lengths[row - 1], row, lengths[row]));
    }
    return lengths;
}

/// The number of rows that are padded because their length made no group or did not fill its last slice.
Index passed_on(const HostArray<Offset>& lengths, const Cuts& groups) {
    Index count = 0;
    for (Index group = 0; group < groups.count(); ++group) {
        const Offset width = lengths[groups.end(group) - 1];
        for (Index row = groups.begin(group); row < groups.end(group); ++row) count += lengths[row] < width ? 1 : 0;
    }
    return count;
}

StageContract contract(const Parameters&) { return {.gives_cuts = {CutKind::length_group}}; }

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const HostArray<Offset> lengths = ascending_lengths(staged.matrix);
    const auto slice_height = static_cast<Index>(parameters.integer("slice_height"));
    Cuts groups{CutKind::length_group, length_groups(lengths, slice_height, parameters.real("alpha"))};
    StageResult result;
    result.notes = {{"groups", std::to_string(groups.count())},
                    {"rows passed on to a wider group", std::to_string(passed_on(lengths, groups))}};
    result.change.cuts = {std::move(groups)};
    return result;
}

}  // namespace

StageEntry length_groups_stage() {
    return {.name = "length_groups",
            .summary = "Cut rows of ascending length into groups that are stored with one width each; moves nothing",
            .source = "Wikberg, 'Unstructured Mesh FVM with GPU' (2025), section 4.3.2, algorithm 3",
            .parameters = {{.name = "slice_height",
                            .type = ParameterType::integer,
                            .default_value = std::int64_t{512},
                            .minimum = 1,
                            .maximum = 65536,
                            .unit = "rows",
                            .help = "rows that do not fill a slice are passed on to the next length; as in the layout"},
                           {.name = "alpha",
                            .type = ParameterType::real,
                            .default_value = 0.01,
                            .minimum = 0,
                            .maximum = 1,
                            .help = "a group of less than this share of all rows is passed on whole to the next length"}},
            .contract = contract,
            .reads_entries = [](const Parameters&) { return false; },
            .run = run};
}

}  // namespace workbench
