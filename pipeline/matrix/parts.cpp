#include "pipeline/matrix/parts.hpp"

namespace workbench {

Part reorder_rows(const Part& part, std::span<const Index> old_of_new) {
    Part ordered{part.name, {}, {0}, {}};
    ordered.rows.reserve(part.rows.size());
    ordered.row_offsets.reserve(part.row_offsets.size());
    ordered.entries.reserve(part.entries.size());
    for (const Index old : old_of_new) {
        ordered.rows.push_back(part.rows[old]);
        ordered.entries.insert(ordered.entries.end(), part.entries.begin() + part.row_offsets[old],
                               part.entries.begin() + part.row_offsets[old + 1]);
        ordered.row_offsets.push_back(static_cast<Offset>(ordered.entries.size()));
    }
    return ordered;
}

PartView::PartView(const CsrMatrix& whole) : row_count_(whole.rows), offsets_(whole.row_offsets.data()) {}

PartView::PartView(const Part& part)
    : row_count_(static_cast<Index>(part.rows.size())),
      rows_(part.rows.data()),
      offsets_(part.row_offsets.data()),
      entries_(part.entries.data()) {}

}  // namespace workbench
