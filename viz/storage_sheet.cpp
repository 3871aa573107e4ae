#include "viz/storage_sheet.hpp"

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "viz/storage_picture.hpp"
#include "viz/style.hpp"

namespace workbench {
namespace {

/// Text of 14 pixels in a picture of 1280 pixels has 21 on the sheet.
constexpr std::array<int, 5> readable_widths{768, 854, 960, 1097, 1280};
/// For maps that do not fit otherwise.
constexpr std::array<int, 5> last_widths{1536, 1920, 2560, 3840, 7680};

/// Collects details, from the most to the least detailed.
struct Details {
    StorageDetail next;
    std::vector<StorageDetail> all = {};

    void add(std::span<const int> widths) {
        for (const int width : widths) {
            next.width = width;
            all.push_back(next);
        }
    }
};

std::vector<StorageDetail> details_of_arrays() {
    Details details{{.most_warps = 0}};
    const std::array widest{readable_widths.back(), 1366};
    const std::span<const int> readable(widest.data(), 1);
    details.add(readable_widths);
    details.next.lane_notes = false;
    details.add(readable);
    details.next.least_cell_width = 31;
    details.add(readable);
    details.next.memory_bar = false;
    details.add(widest);
    for (const int lines : {6, 5, 4, 3, 2, 1}) {
        details.next.most_lines = lines;
        details.add(readable);
    }
    details.add(last_widths);
    return details.all;
}

std::vector<StorageDetail> details_of_reads() {
    Details details{{.memory_bar = false, .arrays = false}};
    for (const std::int64_t steps : {64, 48, 32, 24, 16, 12, 8, 6, 4}) {
        for (const std::size_t warps : {4, 3, 2, 1}) {
            details.next.most_warps = warps;
            details.next.most_steps = steps;
            details.add(readable_widths);
        }
    }
    details.add(last_widths);
    return details.all;
}

/// Draws the first of the details that `suits` and fits on the sheet.
Image sheet_of(StoragePicture picture, const std::vector<StorageDetail>& details,
               const std::function<bool(const StorageDetail&)>& suits) {
    for (const StorageDetail& detail : details) {
        picture.detail = detail;
        if (suits(detail) && size_of(picture).height * nominal_width <= nominal_height * detail.width) break;
    }
    picture.scale = static_cast<double>(nominal_width) / picture.detail.width;
    RasterCanvas sheet(nominal_width, nominal_height);
    draw(sheet, picture);
    return sheet.image();
}

}  // namespace

Image storage_sheet(const std::string& title, const std::string& subtitle, const StorageMap& map) {
    return sheet_of({title, subtitle, map}, details_of_arrays(), [](const StorageDetail&) { return true; });
}

Image reads_sheet(const std::string& title, const std::string& subtitle, const StorageMap& map) {
    // Cells need space for their numbers, and warps side by side need space for their bars.
    const auto suits = [&](const StorageDetail& detail) {
        if (detail.width >= last_widths.front()) return true;
        return map.by_cell ? detail.width == readable_widths.back() : static_cast<int>(detail.most_warps) * 400 <= detail.width;
    };
    return sheet_of({title, subtitle, map}, details_of_reads(), suits);
}

}  // namespace workbench
