#include "pipeline/keep/prepared.hpp"

#include <fmt/format.h>

#include "pipeline/text/text_table.hpp"

namespace workbench {

void note_preparer(Preparer* preparer, bool kept, std::vector<std::pair<std::string, std::string>>& notes) {
    if (preparer == nullptr) return;
    std::string text;
    for (const PreparedStep& step : preparer->take_steps()) {
        text += fmt::format("{}{} in {}, {} of it transfers", text.empty() ? "" : "; ", step.what, duration(step.seconds),
                            duration(step.transfer_seconds));
    }
    if (text.empty() && kept) return;
    notes.emplace_back("prepared", text.empty() ? "on the host" : fmt::format("on {}: {}", preparer->name(), text));
}

Keeping keeping_with(const Keeping& matrix, const Preparer* preparer) {
    if (!matrix.on() || preparer == nullptr) return matrix;
    return matrix.after("prepared", "prepared on " + preparer->name());
}

}  // namespace workbench
