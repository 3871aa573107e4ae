// The drawings of what a run's layouts store.
#pragma once

#include <filesystem>
#include <span>

#include "pipeline/run/report.hpp"
#include "viz/contact_sheet.hpp"

namespace workbench {

/// Writes storage.png and storage.svg into the folder and notes it in the report, where the report has a map. What cannot be
/// written is a failure of the report.
void write_storage_pictures(const std::filesystem::path& folder, RunReport& report);

/// The sheet of all stages, with the storage at its foot where the report has a map of it: still 16 : 9, where that leaves the
/// stages enough room.
[[nodiscard]] Image sheet_with_storage(std::span<const StageFrame> frames, const DensityScale& scale, const RunReport& report);

}  // namespace workbench
