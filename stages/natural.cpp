// The order in which the matrix comes.
#include "stages/stages.hpp"

namespace workbench {

StageEntry natural_stage() {
    return {.name = "natural",
            .summary = "Leave the matrix in its current order: what the other orders are compared with",
            .source = "",
            .parameters = {},
            .contract = [](const Parameters&) { return StageContract{}; },
            .reads_entries = [](const Parameters&) { return false; },
            .run = [](const StagedMatrix&, const Parameters&, const StageContext&) { return StageResult{}; }};
}

}  // namespace workbench
