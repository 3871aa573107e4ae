// PNG files.
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "core/contract/errors.hpp"
#include "support/golden.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"
#include "viz/golden_picture.hpp"
#include "viz/image.hpp"

namespace workbench {
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t file_count(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

TEST_CASE("a PNG can be read back") {
    Image image = blank_image(37, 23);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<std::uint8_t>(i * i * 31 + i / 7);
    const TemporaryFolder folder;
    write_png(folder.path() / "new" / "picture.png", image);
    CHECK(read_png(file_text(folder.path() / "new" / "picture.png")) == image);
    CHECK(read_png(png_bytes(blank_image(1, 1))) == blank_image(1, 1));
}

TEST_CASE("an error of writing names the file, and leaves no partial file") {
    const Image image = blank_image(64, 64);
    const TemporaryFolder folder;
    const auto failure = [&](const fs::path& path) { return message_of<MachineError>([&] { write_png(path, image); }); };

    write_png(folder.path() / "file", image);
    const fs::path below_a_file = folder.path() / "file" / "picture.png";
    CHECK(failure(below_a_file).find(below_a_file.string()) != std::string::npos);

    fs::create_directory(folder.path() / "folder.png");
    CHECK(failure(folder.path() / "folder.png").find("directory") != std::string::npos);
    CHECK(file_count(folder.path()) == 2);

    // Simulates a full disk.
    write_png(folder.path() / "old.png", image);
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit tiny{16, usual.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tiny);
    const std::string full = failure(folder.path() / "old.png");
    setrlimit(RLIMIT_FSIZE, &usual);
    std::signal(SIGXFSZ, SIG_DFL);
    CHECK(full.find("old.png") != std::string::npos);
    CHECK(full.find("File too large") != std::string::npos);
    CHECK(file_count(folder.path()) == 3);
    CHECK(file_text(folder.path() / "old.png") == png_bytes(image));
}

}  // namespace workbench
