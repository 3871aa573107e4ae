#include "viz/image.hpp"

#include <png.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {

std::string png_bytes(const Image& image) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(image.width);
    header.height = static_cast<png_uint_32>(image.height);
    header.format = PNG_FORMAT_RGB;

    // The upper bound for incompressible data, so that one pass suffices.
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
    std::string bytes(size, '\0');
    if (png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) {
        throw MachineError(fmt::format("a picture of {} x {} pixels could not be compressed: {}", image.width, image.height,
                                       static_cast<const char*>(header.message)));
    }
    bytes.resize(size);
    return bytes;
}

void write_png(const std::filesystem::path& path, const Image& image) { write_whole_file(path, png_bytes(image)); }

Colour Image::at(int x, int y) const {
    const std::size_t first = (static_cast<std::size_t>(y) * width + x) * 3;
    return {pixels[first], pixels[first + 1], pixels[first + 2]};
}

Image blank_image(int width, int height, Colour colour) {
    if (width < 1 || height < 1) throw std::invalid_argument("an image must have at least one pixel per side");
    Image image{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height * 3)};
    fill(image, {0, 0, width, height}, colour);
    return image;
}

Colour mix(Colour a, Colour b, int share) {
    const auto channel = [share](int from, int to) {
        return static_cast<std::uint8_t>((from * (256 - share) + to * share + 128) / 256);
    };
    return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

void fill(Image& image, const Box& box, Colour colour, int opacity) {
    const int left = std::max(box.x, 0);
    const int right = std::min(box.right(), image.width);
    for (int y = std::max(box.y, 0); y < std::min(box.bottom(), image.height); ++y) {
        for (int x = left; x < right; ++x) {
            const Colour result = opacity == opaque ? colour : mix(image.at(x, y), colour, opacity);
            std::uint8_t* pixel = &image.pixels[(static_cast<std::size_t>(y) * image.width + x) * 3];
            pixel[0] = result.red;
            pixel[1] = result.green;
            pixel[2] = result.blue;
        }
    }
}

}  // namespace workbench
