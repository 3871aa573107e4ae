// The drawings of what a run's layouts store.
#pragma once

#include <filesystem>
#include <span>

#include "pipeline/report/report.hpp"
#include "viz/contact_sheet.hpp"

namespace workbench {

/// Writes storage.png, a sheet of 16 : 9, and storage.svg, which shows all of the map however high that makes it, into the
/// folder and notes it in the report, where the report has a map. What cannot be written is a failure of the report.
void write_storage_pictures(const std::filesystem::path& folder, RunReport& report);

/// The sheet of all stages, 16 : 9, with memory at scale at its foot where the report has a map of it.
[[nodiscard]] Image sheet_with_storage(std::span<const StageFrame> frames, const DensityScale& scale, const RunReport& report);

}  // namespace workbench
