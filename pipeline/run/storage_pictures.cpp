#include "pipeline/run/storage_pictures.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pipeline/contract/whole_file.hpp"
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

Image with_storage(Image picture, const RunReport& report) {
    if (report.storage == nullptr) return picture;
    const Image strip = storage_strip(*report.storage, picture.width);
    Image both = blank_image(std::max(picture.width, strip.width), picture.height + strip.height);
    const auto paste = [&both](const Image& image, int top) {
        for (int y = 0; y < image.height; ++y) {
            std::copy_n(image.pixels.begin() + std::ptrdiff_t{3} * y * image.width, std::ptrdiff_t{3} * image.width,
                        both.pixels.begin() + std::ptrdiff_t{3} * (top + y) * both.width);
        }
    };
    paste(picture, 0);
    paste(strip, picture.height);
    return both;
}

}  // namespace workbench
