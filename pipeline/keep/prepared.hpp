// What a report says of the work that a preparer did.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/keep/keep_folder.hpp"
#include "pipeline/matrix/preparer.hpp"

namespace workbench {

/// One more note, "prepared": which of a stage's or a layout's work was done where, and how long that took. None without a
/// preparer, or where the result was `kept` and nothing was done. Takes the preparer's steps.
void note_preparer(Preparer* preparer, bool kept, std::vector<std::pair<std::string, std::string>>& notes);

/// Results are the same whoever prepares them; their times are not, and so each preparer has a place of its own.
[[nodiscard]] Keeping keeping_with(const Keeping& matrix, const Preparer* preparer);

}  // namespace workbench
