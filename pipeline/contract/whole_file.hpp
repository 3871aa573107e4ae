// Output files are written whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace workbench {

/// A file that is written piece by piece under a temporary name beside `path` and gets its name when it is complete, so that
/// nobody ever sees half a file. Folders above it are made. A link is followed, and a device or pipe is written
/// to as it is. Every failure is a MachineError that names the path and the reason. Nothing is left behind where the file is
/// not finished.
class WholeFile {
public:
    explicit WholeFile(const std::filesystem::path& path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    void write(std::string_view bytes);

    /// Gives the file its name. The last thing to be called.
    void finish();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    [[noreturn]] void fail(int error) const;

    std::filesystem::path path_;
    std::filesystem::path target_;  // where a link leads to, if it is one
    std::string written_to_;        // the temporary name; a device's own
    bool replaceable_ = true;
    std::FILE* file_ = nullptr;
};

/// Throws as WholeFile does where no such file can be begun. Leaves nothing behind, no folder either; a device or pipe, which
/// opening would change, is not tried.
void check_writable(const std::filesystem::path& path);

/// The same as WholeFile for a file whose bytes are all there.
void write_whole_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace workbench
