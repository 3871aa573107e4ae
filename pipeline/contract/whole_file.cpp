#include "pipeline/contract/whole_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "pipeline/contract/errors.hpp"

namespace workbench {

void write_whole_file(const std::filesystem::path& path, std::string_view bytes) {
    const auto fail = [&path](const std::string& reason) {
        throw MachineError(path.string() + ": cannot be written: " + reason);
    };
    std::error_code made;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), made);
    if (made) fail(made.message());

    // A device or a pipe is written to, a link is followed: a file must not take their place.
    std::error_code unknown;
    const std::filesystem::file_status status = std::filesystem::status(path, unknown);
    const bool replaceable = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    const std::filesystem::path target =
        std::filesystem::is_symlink(path, unknown) ? std::filesystem::weakly_canonical(path) : path;
    const std::string temporary = !replaceable ? path.string() : target.string() + ".partial-" + std::to_string(getpid());
    std::FILE* file = std::fopen(temporary.c_str(), "wb");
    if (file == nullptr) fail(std::strerror(errno));
    // A full disk may show only when the last bytes leave the buffer, at close.
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const int write_error = errno;
    const bool closed = std::fclose(file) == 0;
    const int error = written ? errno : write_error;
    if (!written || !closed || (replaceable && std::rename(temporary.c_str(), target.c_str()) != 0)) {
        const std::string reason = std::strerror(written && closed ? errno : error);
        if (replaceable) std::remove(temporary.c_str());
        fail(reason);
    }
}

}  // namespace workbench
