#include "viz/image.hpp"

#include <algorithm>
#include <stdexcept>

namespace workbench {

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
