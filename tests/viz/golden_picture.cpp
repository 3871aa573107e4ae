#include "viz/golden_picture.hpp"

#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <png.h>

#include "support/golden.hpp"
#include "viz/image.hpp"

namespace workbench {
namespace fs = std::filesystem;

Image read_png(const std::string& bytes) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()) != 0);
    header.format = PNG_FORMAT_RGB;
    Image image = blank_image(static_cast<int>(header.width), static_cast<int>(header.height));
    REQUIRE(png_image_finish_read(&header, nullptr, image.pixels.data(), 0, nullptr) != 0);
    return image;
}

void check_golden(const std::string& name, const Image& image) {
    const fs::path folder = fs::path(WORKBENCH_SOURCE_DIR) / "tests/golden/viz";
    const std::string stored = file_text(folder / (name + ".png"));
    const std::string drawn = png_bytes(image);
    if (stored == drawn) return;
    const fs::path beside = folder / (name + ".new.png");
    write_png(beside, image);
    const bool same_pixels = !stored.empty() && read_png(stored) == image;
    const std::string how = same_pixels ? " in its compression only (another zlib or libpng?)" : "";
    FAIL_CHECK(
        fmt::format("the picture differs from tests/golden/viz/{}.png{}: look at {}, and replace the golden one if it is right",
                    name, how, beside.string()));
}

}  // namespace workbench
