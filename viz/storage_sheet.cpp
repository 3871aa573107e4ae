#include "viz/storage_sheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "viz/storage_picture.hpp"

namespace workbench {
namespace {

/// Makes everything so many times as large.
class ScaledCanvas final : public Canvas {
public:
    ScaledCanvas(Canvas& canvas, double scale) : canvas_(canvas), scale_(scale) {}

    void line(double x1, double y1, double x2, double y2, Colour colour, double width) override {
        canvas_.line(x1 * scale_, y1 * scale_, x2 * scale_, y2 * scale_, colour, width * scale_);
    }
    void box(double x, double y, double width, double height, Colour colour, double opacity) override {
        canvas_.box(x * scale_, y * scale_, width * scale_, height * scale_, colour, opacity);
    }
    void picture(const Box& box, const Image& pixels) override { canvas_.picture(scaled(box), pixels); }
    void boxes(std::span<const Box> boxes, const Filling& filling) override {
        std::vector<Box> larger;
        for (const Box& box : boxes) larger.push_back(scaled(box));
        canvas_.boxes(larger, filling);
    }
    void marker(Marker shape, double x, double y, double radius, Colour colour) override {
        canvas_.marker(shape, x * scale_, y * scale_, radius * scale_, colour);
    }
    void text(double x, double y, std::string_view text, const TextStyle& style) override {
        TextStyle larger = style;
        larger.size = static_cast<int>(style.size * scale_);
        canvas_.text(std::lround(x * scale_), std::lround(y * scale_), text, larger);
    }

private:
    /// By its edges, so that what touches goes on touching.
    [[nodiscard]] Box scaled(const Box& box) const {
        const auto at = [this](int place) { return static_cast<int>(std::lround(place * scale_)); };
        return {at(box.x), at(box.y), at(box.right()) - at(box.x), at(box.bottom()) - at(box.y)};
    }

    Canvas& canvas_;
    double scale_;
};

/// What has 14 pixels in a picture of the last of these has 21 on the sheet; the others are larger still.
constexpr std::array<int, 5> readable_widths{768, 854, 960, 1097, 1280};
/// For what does not fit otherwise.
constexpr std::array<int, 5> last_widths{1536, 1920, 2560, 3840, 7680};

/// From the whole to the least that is shown of the arrays.
std::vector<StorageRoom> rooms_for_arrays() {
    StorageRoom room;
    room.most_warps = 0;
    std::vector<StorageRoom> rooms;
    const auto try_widths = [&](const auto& widths) {
        for (const int width : widths) {
            room.width = width;
            rooms.push_back(room);
        }
    };
    try_widths(readable_widths);
    room.lane_notes = false;
    try_widths(std::array{readable_widths.back()});
    room.cell_width = 31;
    try_widths(std::array{readable_widths.back()});
    room.memory_bar = false;
    try_widths(std::array{readable_widths.back(), 1366});
    for (const int lines : {6, 5, 4, 3, 2, 1}) {
        room.most_lines = lines;
        try_widths(std::array{readable_widths.back()});
    }
    try_widths(last_widths);
    return rooms;
}

/// The same of the warps.
std::vector<StorageRoom> rooms_for_reads() {
    StorageRoom room;
    room.memory_bar = room.arrays = false;
    std::vector<StorageRoom> rooms;
    for (const std::int64_t steps : {64, 48, 32, 24, 16, 12, 8, 6, 4}) {
        for (const std::size_t warps : {4, 3, 2, 1}) {
            for (const int width : readable_widths) {
                room.width = width;
                room.most_warps = warps;
                room.most_steps = steps;
                rooms.push_back(room);
            }
        }
    }
    for (const int width : last_widths) {
        room.width = width;
        rooms.push_back(room);
    }
    return rooms;
}

Image sheet_of(StoragePicture picture, const std::vector<StorageRoom>& rooms,
               const std::function<bool(const StorageRoom&)>& good) {
    for (const StorageRoom& room : rooms) {
        picture.room = room;
        if (good(room) && size_of(picture).height * nominal_width <= nominal_height * room.width) break;
    }
    RasterCanvas sheet(nominal_width, nominal_height);
    ScaledCanvas canvas(sheet, static_cast<double>(nominal_width) / picture.room.width);
    draw(canvas, picture);
    return sheet.image();
}

}  // namespace

Image storage_sheet(const std::string& title, const std::string& subtitle, const StorageMap& map) {
    return sheet_of({title, subtitle, map}, rooms_for_arrays(), [](const StorageRoom&) { return true; });
}

Image reads_sheet(const std::string& title, const std::string& subtitle, const StorageMap& map) {
    // Cells need room for their numbers; warps side by side for the bars beside them.
    const auto good = [&](const StorageRoom& room) {
        if (room.width >= last_widths.front()) return true;
        return map.by_cell ? room.width == readable_widths.back() : static_cast<int>(room.most_warps) * 400 <= room.width;
    };
    return sheet_of({title, subtitle, map}, rooms_for_reads(), good);
}

void storage_bar(Canvas& canvas, const StorageMap& map, const Box& box, Unit unit) {
    const int size = unit(22);
    std::size_t total = 0;
    for (const StoragePart& part : map.parts) total += part.bytes();
    const Offset places = map.places();
    const std::string words =
        fmt::format("stored: {} nonzeros in {} places, {:.1f} % of padding, {} bytes", grouped(map.nonzeros), grouped(places),
                    places == 0 ? 0.0 : 100.0 * map.padding_share(), grouped(static_cast<Offset>(total)));
    const int baseline = box.y + unit(26);
    canvas.text(box.x, baseline, words, {size, style::ink});

    const std::array<std::pair<const char*, Filling>, 4> keys{{{"structure", filling_of(ArrayRole::structure)},
                                                               {"columns", filling_of(ArrayRole::column)},
                                                               {"padding", filling_of_padding()},
                                                               {"values", filling_of(ArrayRole::value)}}};
    int right = box.right();
    for (const auto& [name, filling] : keys) {
        const int left = right - text_width(name, size);
        canvas.text(left, baseline, name, {size, style::muted});
        const Box swatch{left - unit(40), baseline - unit(16), unit(32), unit(18)};
        canvas.boxes(std::array{swatch}, filling);
        outline(canvas, swatch, unit(1), style::muted);
        right = swatch.x - unit(24);
    }

    const Box bar{box.x, box.y + unit(40), box.width, unit(40)};
    const auto at = [&](std::size_t bytes) {
        return bar.x + static_cast<int>(std::lround(static_cast<double>(bar.width) * static_cast<double>(bytes) /
                                                    static_cast<double>(std::max<std::size_t>(total, 1))));
    };
    std::size_t before = 0;
    for (const StoragePart& part : map.parts) {
        for (const StorageArray& array : part.arrays) {
            const int from = at(before);
            before += array.bytes();
            const int wide = at(before) - from;
            const auto padding = array.length == 0 ? 0 : static_cast<int>(wide * array.padding / array.length);
            canvas.boxes(std::array{Box{from, bar.y, wide - padding, bar.height}}, filling_of(array.role));
            canvas.boxes(std::array{Box{from + wide - padding, bar.y, padding, bar.height}}, filling_of_padding());
            canvas.boxes(std::array{Box{from, bar.y, std::max(1, unit(1)), bar.height}}, {style::ink});
        }
    }
    outline(canvas, bar, std::max(1, unit(1)), style::ink);
}

}  // namespace workbench
