#include "pipeline/report/storage_pictures.hpp"

#include <fmt/format.h>

#include "core/system/whole_file.hpp"
#include "pipeline/report/pictures.hpp"
#include "viz/png.hpp"
#include "viz/storage_sheet.hpp"

namespace workbench {

StoragePicture storage_picture(const RunReport& report, const StorageMap& map) {
    return {report.title() + ": stored arrays", fmt::format("{}  ·  {}", head_of(report).origin, name_of(map.precision)), map};
}

void write_storage_pictures(const std::filesystem::path& folder, RunReport& report) {
    if (report.storage == nullptr) return;
    const StorageMap& map = *report.storage;
    const StoragePicture picture = storage_picture(report, map);
    try {
        write_png(folder / "storage.png", storage_sheet(picture.title, picture.subtitle, map));
        report.storage_picture = "storage.png";
        if (map.has_reads()) {
            write_png(folder / "storage_reads.png",
                      reads_sheet(report.title() + ": which thread reads what", picture.subtitle, map));
        }
        write_whole_file(folder / "storage.svg", svg_of(picture));
    } catch (...) {
        report.failures.push_back(current_failure());
    }
}

}  // namespace workbench
