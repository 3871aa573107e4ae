// The drawings of what a run's layouts store.
#pragma once

#include <filesystem>

#include "pipeline/run/report.hpp"
#include "viz/image.hpp"

namespace workbench {

/// Writes storage.png and storage.svg into the folder and notes it in the report, where the report has a map. What cannot be
/// written is a failure of the report.
void write_storage_pictures(const std::filesystem::path& folder, RunReport& report);

/// A picture with the storage below it, where the report has a map of it.
[[nodiscard]] Image with_storage(Image picture, const RunReport& report);

}  // namespace workbench
