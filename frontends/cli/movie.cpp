#include "frontends/cli/movie.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/child.hpp"
#include "core/system/process.hpp"
#include "core/system/whole_file.hpp"
#include "viz/png.hpp"

namespace workbench {
namespace {

constexpr const char* encoder = "ffmpeg";
constexpr const char* list_name = "frames.txt";
constexpr const char* movie_name = "movie.mp4";

/// The list of ffmpeg's demuxer `concat`. Without a second entry the last picture would be shown for no time.
std::string list_of(std::span<const AnimationFrame> frames) {
    std::string list = "ffconcat version 1.0\n";
    for (std::size_t i = 0; i < frames.size(); ++i) {
        list += fmt::format("file {}.png\nduration {}.{:02}\n", i, frames[i].hundredths / 100, frames[i].hundredths % 100);
    }
    return list + fmt::format("file {}.png\n", frames.size() - 1);
}

}  // namespace

void require_movie_encoder(const std::string& file) {
    if (program_exists(encoder)) return;
    throw MachineError(
        fmt::format("--out {}: ffmpeg, which encodes MP4, is not on PATH; install it, or write .png or .gif", file));
}

std::string movie_bytes(std::span<const AnimationFrame> frames) {
    const WorkFolder folder;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        write_whole_file(folder.path() / fmt::format("{}.png", i), png_bytes(frames[i].image));
    }
    write_whole_file(folder.path() / list_name, list_of(frames));
    const std::vector<std::string> command{
        encoder,      "-nostdin", "-loglevel", "error", "-f",
        "concat",     "-i",       list_name,   "-vf",   "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white,fps=50,format=yuv420p",
        "-c:v",       "libx264",  "-crf",      "18",    "-movflags",
        "+faststart", movie_name};
    constexpr double limit_seconds = 3600;
    const Ending end = Child(command, {.output = ChildOutput::returned, .folder = folder.path()}).wait(limit_seconds);
    if (!end.not_started.empty()) throw MachineError(fmt::format("ffmpeg cannot be started: {}", end.not_started));
    if (end.too_long) throw MachineError(fmt::format("ffmpeg took longer than {:g} s and was ended", limit_seconds));
    if (end.exit_code < 0) throw MachineError(fmt::format("ffmpeg was ended by signal {}", end.signal));
    if (end.exit_code > 0) {
        const std::string printed = end.output.substr(0, end.output.find_last_not_of(" \n") + 1);
        throw MachineError(fmt::format("ffmpeg failed with exit code {}: {}", end.exit_code, printed));
    }
    std::ifstream movie(folder.path() / movie_name, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(movie), {}};
    if (bytes.empty()) throw MachineError("ffmpeg wrote no movie");
    return bytes;
}

}  // namespace workbench
