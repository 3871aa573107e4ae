// Refusals of layouts that store rows in descending length, with the stage that sorts them.
#pragma once

#include <string>

#include "core/matrix/shares.hpp"

namespace workbench {

struct DescendingRows {
    std::string requirement;      // the beginning of the message: "jagged diagonals need rows in descending length"
    std::string stage;            // that sorts the rows: "row_sort with apply = \"rows\""
    std::string share_name = {};  // empty: the whole matrix
    Index window = 0;             // rows descend within windows of this size; 0: all rows
};

/// Throws Unsuitable, with the row and the stage, if a row is longer than the one stored before it in the same window.
void require_descending(const ShareView& rows, const DescendingRows& order);

}  // namespace workbench
