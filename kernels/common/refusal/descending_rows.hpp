// Layouts that store rows in descending length refuse other orders, and say which stage has to come before them.
#pragma once

#include <string>

#include "pipeline/matrix/shares.hpp"

namespace workbench {

struct DescendingRows {
    std::string wish;             // "jagged diagonals need rows in descending length", as the beginning of the refusal
    std::string stage;            // the stage to put before: "row_sort with apply = \"rows\""
    std::string share_name = {};  // empty: the whole matrix
    Index window = 0;             // rows descend within windows of so many; 0: all of them
};

/// Throws Unsuitable, with the row and the stage, where a row is longer than the one stored before it in the same window.
void require_descending(const ShareView& rows, const DescendingRows& wanted);

}  // namespace workbench
