// Shares of the nonzeros that are stored, and multiplied with, in different ways.
#include <Kokkos_Core.hpp>

#include <utility>

#include "stages/stages.hpp"

namespace workbench {
namespace {

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// The part of all entries for which `belongs(row, column)`. Rows that have none are not present in it.
template <typename Belongs>
Part part_where(std::string name, const CsrMatrix& matrix, const Belongs& belongs) {
    std::vector<Offset> lengths(matrix.rows, 0);
    Kokkos::parallel_for("count_entries", Range(0, matrix.rows), [&](Index row) {
        for (const Index column : matrix.row_columns(row)) lengths[row] += belongs(row, column) ? 1 : 0;
    });

    Part part{std::move(name), {}, {0}, {}};
    for (Index row = 0; row < matrix.rows; ++row) {
        if (lengths[row] == 0) continue;
        part.rows.push_back(row);
        part.row_offsets.push_back(part.row_offsets.back() + lengths[row]);
    }

    part.entries.resize(part.row_offsets.back());
    Kokkos::parallel_for("list_entries", Range(0, static_cast<Index>(part.rows.size())), [&](Index stored) {
        const Index row = part.rows[stored];
        Offset place = part.row_offsets[stored];
        for (Offset entry = matrix.row_offsets[row]; entry < matrix.row_offsets[row + 1]; ++entry) {
            if (belongs(row, matrix.column_indices[entry])) part.entries[place++] = entry;
        }
    });
    return part;
}

std::pair<std::string, std::string> describe(const Part& part) {
    return {part.name, std::to_string(part.entries.size()) + " nonzeros in " + std::to_string(part.rows.size()) + " rows"};
}

StageContract contract(const Parameters&) {
    return {.needs = {.square = true, .cuts = {CutKind::partition}, .unsplit = true}, .gives_parts = {"inside", "outside"}};
}

StageResult run(const StagedMatrix& staged, const Parameters&, const StageContext&) {
    const std::vector<Index> piece_of = staged.find_cuts(CutKind::partition)->pieces();
    std::vector<Part> parts;
    parts.push_back(part_where("inside", staged.matrix, [&](Index i, Index j) { return piece_of[i] == piece_of[j]; }));
    parts.push_back(part_where("outside", staged.matrix, [&](Index i, Index j) { return piece_of[i] != piece_of[j]; }));
    StageResult result{.change = {}, .notes = {describe(parts[0]), describe(parts[1])}};
    result.change.parts = std::move(parts);
    return result;
}

}  // namespace

StageEntry split_stage() {
    return {.name = "split",
            .summary = "Split the nonzeros into parts: inside and outside the diagonal blocks of the partition",
            .source = "EHYB section 3.2: sliced ELL for what finds x in the cache, extra rows for the rest",
            .parameters = {{.name = "by",
                            .type = ParameterType::choice,
                            .words = {"inside_partition"},
                            .help = "inside_partition: part 'inside' if row and column are in one partition, else 'outside'"}},
            .contract = contract,
            .run = run};
}

}  // namespace workbench
