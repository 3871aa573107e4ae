// RGB images in memory, the operations on pixels that all pictures use, and PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace workbench {

struct Colour {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;

    friend bool operator==(const Colour&, const Colour&) = default;
};

inline constexpr Colour white{255, 255, 255};

struct Image {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> pixels;  // [height][width][3], red first

    [[nodiscard]] Colour at(int x, int y) const;

    friend bool operator==(const Image&, const Image&) = default;
};

/// An image of one colour. Throws std::invalid_argument unless both sides are positive.
[[nodiscard]] Image blank_image(int width, int height, Colour colour = white);

/// `share` of 256 parts of b, the rest of a, in integers only, so that every machine computes the same colour.
[[nodiscard]] Colour mix(Colour a, Colour b, int share);

/// Pixels from (x, y) to (x + width - 1, y + height - 1). Drawing is clipped to the image; a box without a positive width and
/// height is empty.
struct Box {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;

    [[nodiscard]] int right() const { return x + width; }
    [[nodiscard]] int bottom() const { return y + height; }
};

inline constexpr int opaque = 256;

/// Blends `opacity` of 256 parts of the colour into every pixel of the box.
void fill(Image& image, const Box& box, Colour colour, int opacity = opaque);

/// The bytes of a PNG file, without a time stamp: the same image gives the same bytes. Throws MachineError if memory runs out.
[[nodiscard]] std::string png_bytes(const Image& image);

/// Writes the file completely or not at all, and creates its folders. Throws MachineError with the path and the reason.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace workbench
