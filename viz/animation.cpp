#include "viz/animation.hpp"

#include <fmt/format.h>
#include <gif_lib.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/contract/errors.hpp"
#include "viz/image.hpp"

namespace workbench {
namespace {

void check(std::span<const AnimationFrame> frames) {
    if (frames.empty()) throw std::invalid_argument("an animation needs at least one image");
    const auto& [width, height, pixels] = frames.front().image;
    for (const AnimationFrame& frame : frames) {
        const bool fits = frame.image.width == width && frame.image.height == height;
        if (!fits) throw std::invalid_argument("the images of an animation differ in size");
    }
}

/// The box in which two images differ; one pixel if they are equal, because each frame must have a part.
Box difference(const Image& a, const Image& b) {
    int left = a.width;
    int top = a.height;
    int right = 0;
    int bottom = 0;
    for (int y = 0; y < a.height; ++y) {
        for (int x = 0; x < a.width; ++x) {
            if (a.at(x, y) == b.at(x, y)) continue;
            left = std::min(left, x);
            right = std::max(right, x + 1);
            top = std::min(top, y);
            bottom = y + 1;
        }
    }
    return right == 0 ? Box{0, 0, 1, 1} : Box{left, top, right - left, bottom - top};
}

Image part_of(const Image& image, const Box& box) {
    Image part = blank_image(box.width, box.height);
    for (int y = 0; y < box.height; ++y) {
        const auto row = image.pixels.begin() + (static_cast<std::ptrdiff_t>(box.y + y) * image.width + box.x) * 3;
        std::copy_n(row, box.width * 3, part.pixels.begin() + static_cast<std::ptrdiff_t>(y) * box.width * 3);
    }
    return part;
}

/// The part of each image that is stored.
std::vector<Box> parts_of(std::span<const AnimationFrame> frames) {
    std::vector<Box> parts{{0, 0, frames.front().image.width, frames.front().image.height}};
    for (std::size_t i = 1; i < frames.size(); ++i) parts.push_back(difference(frames[i - 1].image, frames[i].image));
    return parts;
}

// ---- PNG. libpng compresses the images; it does not support the chunks of animations.

std::string big_endian(std::uint32_t number, int bytes = 4) {
    std::string text;
    for (int byte = bytes - 1; byte >= 0; --byte) text += static_cast<char>(number >> 8 * byte & 0xFF);
    return text;
}

std::string chunk(std::string_view name, const std::string& data) {
    const std::string body = std::string(name) + data;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
}

constexpr std::size_t signature_length = 8;

/// Calls visit(name, data, whole chunk) for each chunk of a PNG.
template <typename Visit>
void for_each_chunk(std::string_view png, const Visit& visit) {
    for (std::size_t at = signature_length; at < png.size();) {
        std::uint32_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(png[at + i]);
        visit(png.substr(at + 4, 4), png.substr(at + 8, length), png.substr(at, length + 12));
        at += length + 12;
    }
}

// ---- GIF.

struct GifCloser {
    void operator()(GifFileType* file) const { EGifCloseFile(file, nullptr); }
};

int append(GifFileType* file, const GifByteType* bytes, int count) {
    static_cast<std::string*>(file->UserData)->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
    return count;
}

void demand(int done) {
    if (done != GIF_OK) throw MachineError("a GIF could not be written: giflib ran out of memory");
}

/// 256 colours for all images, and the nearest of them to any colour.
class Palette {
public:
    explicit Palette(std::span<const AnimationFrame> frames) {
        std::unordered_map<std::uint32_t, int> seen;
        std::array<std::vector<GifByteType>, 3> channels;
        for (const AnimationFrame& frame : frames) {
            const std::vector<std::uint8_t>& pixels = frame.image.pixels;
            for (std::size_t i = 0; i < pixels.size(); i += 3) {
                // The frequency counts up to a limit, so that white does not take most of the palette.
                constexpr int often = 64;
                int& times = seen[key(pixels[i], pixels[i + 1], pixels[i + 2])];
                if (times++ >= often) continue;
                for (std::size_t k = 0; k < 3; ++k) channels.at(k).push_back(pixels[i + k]);
            }
        }
        std::vector<GifByteType> ignored(channels[0].size());
        int size = most;
        const auto count = static_cast<unsigned>(ignored.size());
        demand(GifQuantizeBuffer(count, 1, &size, channels[0].data(), channels[1].data(), channels[2].data(), ignored.data(),
                                 colours_.data()));
        colours_.front() = {255, 255, 255};  // keeps the background white
    }

    [[nodiscard]] const GifColorType* colours() const { return colours_.data(); }

    [[nodiscard]] GifByteType nearest(Colour colour) {
        const auto [place, is_new] = nearest_.try_emplace(key(colour.red, colour.green, colour.blue), GifByteType{0});
        if (!is_new) return place->second;
        int least = std::numeric_limits<int>::max();
        for (std::size_t i = 0; i < colours_.size(); ++i) {
            const int red = colours_.at(i).Red - colour.red;
            const int green = colours_.at(i).Green - colour.green;
            const int blue = colours_.at(i).Blue - colour.blue;
            const int distance = 3 * red * red + 6 * green * green + blue * blue;
            if (distance >= least) continue;
            least = distance;
            place->second = static_cast<GifByteType>(i);
        }
        return place->second;
    }

    static constexpr int most = 256;

private:
    static std::uint32_t key(unsigned red, unsigned green, unsigned blue) { return red << 16 | green << 8 | blue; }

    std::array<GifColorType, most> colours_{};
    std::unordered_map<std::uint32_t, GifByteType> nearest_;
};

}  // namespace

std::string animated_png_bytes(std::span<const AnimationFrame> frames) {
    check(frames);
    const std::vector<Box> parts = parts_of(frames);
    std::string bytes;
    std::uint32_t sequence = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const Box& part = parts[i];
        const std::string png = png_bytes(part_of(frames[i].image, part));
        if (i == 0) {
            bytes = png.substr(0, signature_length);
            const auto before_pixels = [&](std::string_view name, std::string_view, std::string_view whole) {
                if (name != "IDAT" && name != "IEND") bytes += whole;
            };
            for_each_chunk(png, before_pixels);
            bytes += chunk("acTL", big_endian(static_cast<std::uint32_t>(frames.size())) + big_endian(0));
        }
        std::string control = big_endian(sequence++);
        for (const int number : {part.width, part.height, part.x, part.y})
            control += big_endian(static_cast<std::uint32_t>(number));
        control += big_endian(static_cast<std::uint32_t>(frames[i].hundredths), 2) + big_endian(100, 2);
        control += std::string(2, '\0');  // the next part is drawn over this one
        bytes += chunk("fcTL", control);
        for_each_chunk(png, [&](std::string_view name, std::string_view data, std::string_view whole) {
            if (name != "IDAT") return;
            bytes += i == 0 ? std::string(whole) : chunk("fdAT", big_endian(sequence++) + std::string(data));
        });
    }
    return bytes + chunk("IEND", "");
}

std::string gif_bytes(std::span<const AnimationFrame> frames) {
    check(frames);
    const auto& [width, height, pixels] = frames.front().image;
    Palette palette(frames);
    const std::unique_ptr<ColorMapObject, decltype(&GifFreeMapObject)> map(GifMakeMapObject(Palette::most, palette.colours()),
                                                                           GifFreeMapObject);
    std::string bytes;
    int error = 0;
    std::unique_ptr<GifFileType, GifCloser> file(EGifOpen(&bytes, append, &error));
    if (file == nullptr || map == nullptr) demand(GIF_ERROR);
    EGifSetGifVersion(file.get(), true);
    demand(EGifPutScreenDesc(file.get(), width, height, 8, 0, map.get()));
    // An endless loop.
    demand(EGifPutExtensionLeader(file.get(), APPLICATION_EXT_FUNC_CODE));
    demand(EGifPutExtensionBlock(file.get(), 11, "NETSCAPE2.0"));
    constexpr std::array<unsigned char, 3> forever{1, 0, 0};
    demand(EGifPutExtensionBlock(file.get(), 3, forever.data()));
    demand(EGifPutExtensionTrailer(file.get()));
    const std::vector<Box> parts = parts_of(frames);
    std::vector<GifByteType> line(width);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const GraphicsControlBlock control{DISPOSE_DO_NOT, false, frames[i].hundredths, NO_TRANSPARENT_COLOR};
        std::array<GifByteType, 4> extension{};
        EGifGCBToExtension(&control, extension.data());
        demand(EGifPutExtension(file.get(), GRAPHICS_EXT_FUNC_CODE, extension.size(), extension.data()));
        const Box& part = parts[i];
        demand(EGifPutImageDesc(file.get(), part.x, part.y, part.width, part.height, false, nullptr));
        for (int y = part.y; y < part.bottom(); ++y) {
            for (int x = 0; x < part.width; ++x) line[x] = palette.nearest(frames[i].image.at(part.x + x, y));
            demand(EGifPutLine(file.get(), line.data(), part.width));
        }
    }
    demand(EGifCloseFile(file.release(), &error));
    return bytes;
}

}  // namespace workbench
