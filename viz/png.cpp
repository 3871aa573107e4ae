#include "viz/png.hpp"

#include <fmt/format.h>
#include <png.h>

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

}  // namespace workbench
