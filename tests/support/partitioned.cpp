#include "support/partitioned.hpp"

#include <string>
#include <utility>

namespace workbench {
namespace {

Part part_where(const std::string& name, const CsrMatrix& matrix, const std::vector<Index>& piece, bool inside) {
    Part part;
    part.name = name;
    for (Index row = 0; row < matrix.rows; ++row) {
        const std::size_t before = part.entries.size();
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            if ((piece[row] == piece[matrix.column_indices[k]]) == inside) part.entries.push_back(k);
        }
        if (part.entries.size() == before) continue;
        part.rows.push_back(row);
        part.row_offsets.push_back(static_cast<Offset>(part.entries.size()));
    }
    return part;
}

}  // namespace

StagedMatrix partitioned(const CsrMatrix& matrix, std::vector<Index> boundaries) {
    StagedMatrix staged = stage_input(matrix);
    StageChange change;
    change.cuts = {Cuts{CutKind::partition, std::move(boundaries)}};
    const std::vector<Index> piece = change.cuts[0].pieces();
    change.parts = {part_where("inside", matrix, piece, true), part_where("outside", matrix, piece, false)};
    apply(staged, change, {});
    return staged;
}

void reverse_rows(Part& part) {
    Part reversed{.name = part.name, .rows = {}, .entries = {}};
    for (std::size_t i = part.rows.size(); i-- > 0;) {
        reversed.rows.push_back(part.rows[i]);
        reversed.entries.insert(reversed.entries.end(), part.entries.begin() + part.row_offsets[i],
                                part.entries.begin() + part.row_offsets[i + 1]);
        reversed.row_offsets.push_back(static_cast<Offset>(reversed.entries.size()));
    }
    part = std::move(reversed);
}

}  // namespace workbench
