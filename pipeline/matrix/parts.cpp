#include "pipeline/matrix/parts.hpp"

namespace workbench {

PartView::PartView(const CsrMatrix& whole) : row_count_(whole.rows), offsets_(whole.row_offsets.data()) {}

PartView::PartView(const Part& part)
    : row_count_(static_cast<Index>(part.rows.size())),
      rows_(part.rows.data()),
      offsets_(part.row_offsets.data()),
      entries_(part.entries.data()) {}

}  // namespace workbench
