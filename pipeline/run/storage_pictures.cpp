#include "pipeline/run/storage_pictures.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "pipeline/contract/whole_file.hpp"
#include "pipeline/run/pictures.hpp"
#include "viz/png.hpp"
#include "viz/storage_picture.hpp"

namespace workbench {

void write_storage_pictures(const std::filesystem::path& folder, RunReport& report) {
    if (report.storage == nullptr) return;
    const StorageMap& map = *report.storage;
    const StoragePicture picture{
        report.title() + ": what is stored",
        fmt::format("{}, {} rows, {} columns, {} nonzeros in {}", report.matrix.source, grouped(map.rows), grouped(map.columns),
                    grouped(map.nonzeros), name_of(map.precision)),
        map};
    try {
        write_png(folder / "storage.png", image_of(picture));
        report.storage_picture = "storage.png";
        write_whole_file(folder / "storage.svg", svg_of(picture));
    } catch (...) {
        report.failures.push_back(current_failure());
    }
}

Image sheet_with_storage(std::span<const StageFrame> frames, const DensityScale& scale, const RunReport& report) {
    const SheetHead head = head_of(report);
    if (report.storage == nullptr) return contact_sheet(frames, scale, head);
    constexpr int most_reserved = nominal_height * 3 / 10;
    const int wanted = storage_strip(*report.storage, nominal_width).height;
    const int reserved = wanted <= most_reserved ? wanted : 0;
    const int width = sheet_width(frames, reserved);
    const Image strip = storage_strip(*report.storage, width);
    Image sheet = contact_sheet(frames, scale, head, width, reserved);
    int top = sheet.height - strip.height;
    if (reserved == 0) {
        top = sheet.height;
        Image higher = blank_image(sheet.width, sheet.height + strip.height);
        std::copy(sheet.pixels.begin(), sheet.pixels.end(), higher.pixels.begin());
        sheet = std::move(higher);
    }
    for (int y = 0; y < strip.height; ++y) {
        std::copy_n(strip.pixels.begin() + std::ptrdiff_t{3} * y * strip.width,
                    std::ptrdiff_t{3} * std::min(strip.width, sheet.width),
                    sheet.pixels.begin() + std::ptrdiff_t{3} * (top + y) * sheet.width);
    }
    return sheet;
}

}  // namespace workbench
