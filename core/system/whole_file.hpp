// Output files that are complete or absent.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace workbench {

/// A file that is written under a temporary name in the folder of `path`, and renamed when it is complete. Missing folders are
/// created, links are followed, and devices and pipes are written directly. Every failure is a MachineError with the path and
/// the reason. A file that is not finished is removed.
class WholeFile {
public:
    explicit WholeFile(const std::filesystem::path& path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    void write(std::string_view bytes);

    /// Renames the file. No other function may be called after this one.
    void finish();

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    [[noreturn]] void fail(int error) const;

    std::filesystem::path path_;
    std::filesystem::path target_;  // of a link; otherwise path_
    std::string written_to_;        // the temporary name, or the name of a device or pipe
    bool replaceable_ = true;
    std::FILE* file_ = nullptr;
};

/// Removes the temporary files of all unfinished WholeFiles. For a signal handler that ends the program.
void remove_partial_files() noexcept;

/// Throws like WholeFile if the file cannot be created, and leaves no file or folder. Devices and pipes are not opened, because
/// that would change them.
void check_writable(const std::filesystem::path& path);

/// Writes a WholeFile at once.
void write_whole_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace workbench
