// The input order.
#include "stages/stages.hpp"

namespace workbench {

StageEntry natural_stage() {
    return {.name = "natural",
            .summary = "Keep the current order: the baseline of the other orders",
            .source = "",
            .parameters = {},
            .contract = [](const Parameters&) { return StageContract{}; },
            .reads_entries = [](const Parameters&) { return false; },
            .run = [](const StagedMatrix&, const Parameters&, const StageContext&) { return StageResult{}; }};
}

}  // namespace workbench
