// Pictures of the arrays that a run's layouts store.
#pragma once

#include <filesystem>

#include "pipeline/report/report.hpp"
#include "viz/storage_picture.hpp"

namespace workbench {

/// The whole map of a report's layouts; it must outlive the picture.
[[nodiscard]] StoragePicture storage_picture(const RunReport& report, const StorageMap& map);

/// Writes storage.png, a 16:9 sheet, storage_reads.png and storage.svg, which shows the whole map, if the report has a map. A
/// file that cannot be written becomes a failure of the report.
void write_storage_pictures(const std::filesystem::path& folder, RunReport& report);

}  // namespace workbench
