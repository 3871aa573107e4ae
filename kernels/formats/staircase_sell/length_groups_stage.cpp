// Cuts sorted rows into groups that are stored with one width each.
#include "kernels/formats/staircase_sell/length_groups.hpp"

#include <fmt/format.h>

#include <string>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

HostArray<Offset> ascending_lengths(const CsrMatrix& matrix) {
    HostArray<Offset> lengths(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) {
        lengths[row] = matrix.row_length(row);
        if (row == 0 || lengths[row - 1] <= lengths[row]) continue;
        throw Unsuitable(fmt::format(
            "rows must ascend in length, but row {} has {} nonzeros and row {} has {}: precede this stage by a row_sort "
            "with order = \"ascending\"",
            row - 1, lengths[row - 1], row, lengths[row]));
    }
    return lengths;
}

/// The number of rows in a group of longer rows, because theirs made no group or did not fill its last slice.
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
            .summary = "Cut rows of ascending length into groups that are stored with one width each",
            .source =
                "Wikberg, 'Unstructured Mesh FVM with GPU', MPhil dissertation, University of Cambridge 2025, section 4.3.2, "
                "algorithm 3",
            .parameters = {integer_parameter("slice_height", by_default(512), between(1, 65536, "rows"),
                                             "rows that do not fill a slice join the next length; must match the layout"),
                           real_parameter("alpha", by_default(0.01), between(0, 1),
                                          "groups with less than this fraction of all rows join the next length")},
            .contract = contract,
            .reads_entries = [](const Parameters&) { return false; },
            .run = run};
}

}  // namespace workbench
