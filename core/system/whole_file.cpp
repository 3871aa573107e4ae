#include "core/system/whole_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

/// The temporary names of unfinished files; null: free.
std::array<std::atomic<const char*>, 64> partial_files{};

void remember(const char* name) {
    for (std::atomic<const char*>& place : partial_files) {
        const char* free = nullptr;
        if (place.compare_exchange_strong(free, name)) return;
    }
}

void forget(const char* name) {
    for (std::atomic<const char*>& place : partial_files) {
        const char* known = name;
        if (place.compare_exchange_strong(known, nullptr)) return;
    }
}

/// The file that a link names, through further links; it need not exist. Otherwise the path.
std::filesystem::path followed(std::filesystem::path path) {
    std::error_code failure;
    for (int links = 0; links < 40 && std::filesystem::is_symlink(path, failure); ++links) {  // as many as Linux follows
        const std::filesystem::path named = std::filesystem::read_symlink(path, failure);
        if (failure) break;
        path = path.parent_path() / named;
    }
    return path;
}

constexpr std::string_view partial_ending = ".partial-";

/// True if the file belongs to no process: none here has this number, and none, also on other machines that share the file
/// system, holds the lock of a WholeFile.
bool is_abandoned(const std::filesystem::path& file, pid_t process) {
    if (kill(process, 0) == 0 || errno != ESRCH) return false;
    const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return false;
    const bool unlocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    close(descriptor);
    return unlocked;
}

/// Removes what processes that were killed have left of this file.
void remove_abandoned(const std::filesystem::path& target) {
    const std::string beginning = target.filename().string() + std::string(partial_ending);
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    std::error_code failure;
    for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(beginning)) continue;
        pid_t process = 0;
        const char* const name_end = name.data() + name.size();
        const auto number = std::from_chars(name.data() + beginning.size(), name_end, process);
        if (number.ec != std::errc() || number.ptr != name_end || process < 1) continue;
        if (is_abandoned(at->path(), process)) (void)unlink(at->path().c_str());
    }
}

}  // namespace

void remove_partial_files() noexcept {
    for (const std::atomic<const char*>& place : partial_files) {
        if (const char* name = place.load(); name != nullptr) (void)unlink(name);
    }
}

WholeFile::WholeFile(const std::filesystem::path& path) : path_(path), target_(followed(path)) {
    const std::filesystem::path folder = target_.parent_path();
    std::error_code made;
    if (!folder.empty()) std::filesystem::create_directories(folder, made);
    if (made) {
        throw MachineError(path.string() + ": cannot be written: the folder " + folder.string() +
                           " cannot be created: " + made.message());
    }

    // A regular file must not replace a device, a pipe or a link. Some links of /proc name no path of what they lead to.
    std::error_code unknown;
    const std::filesystem::file_status status = std::filesystem::status(path, unknown);
    replaceable_ = std::filesystem::exists(status)
                       ? std::filesystem::is_regular_file(status) && std::filesystem::equivalent(path, target_, unknown)
                       : !std::filesystem::is_symlink(target_, unknown);
    written_to_ = replaceable_ ? target_.string() + std::string(partial_ending) + std::to_string(getpid()) : path.string();
    if (replaceable_) remove_abandoned(target_);
    file_ = std::fopen(written_to_.c_str(), "wbe");
    if (file_ == nullptr) fail(errno);
    if (!replaceable_) return;
    (void)flock(fileno(file_), LOCK_EX | LOCK_NB);  // see is_abandoned; some file systems have no locks
    remember(written_to_.c_str());
}

WholeFile::~WholeFile() {
    if (file_ != nullptr) {
        static_cast<void>(std::fclose(file_));
        if (replaceable_) static_cast<void>(std::remove(written_to_.c_str()));
    }
    forget(written_to_.c_str());
}

void WholeFile::write(std::string_view bytes) {
    if (bytes.empty()) return;  // its address may be null
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail(errno);
}

void WholeFile::finish() {
    // A full disk may be reported only when the buffer is flushed at close.
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (closed && (!replaceable_ || std::rename(written_to_.c_str(), target_.c_str()) == 0)) return;
    const int error = errno;
    if (replaceable_) static_cast<void>(std::remove(written_to_.c_str()));
    fail(error);
}

void WholeFile::fail(int error) const { throw MachineError(path_.string() + ": cannot be written: " + std::strerror(error)); }

void check_writable(const std::filesystem::path& path) {
    std::error_code unknown;
    const std::filesystem::file_status status = std::filesystem::status(path, unknown);
    if (std::filesystem::exists(status) && std::filesystem::is_other(status)) return;

    std::vector<std::filesystem::path> missing;  // the folders that WholeFile creates, innermost first
    for (std::filesystem::path folder = followed(path).parent_path();
         !folder.empty() && !std::filesystem::exists(folder, unknown); folder = folder.parent_path()) {
        missing.push_back(folder);
    }
    const auto remove_missing = [&] {
        for (const std::filesystem::path& folder : missing) std::filesystem::remove(folder, unknown);
    };
    try {
        const WholeFile file(path);
    } catch (...) {
        remove_missing();
        throw;
    }
    remove_missing();
}

void write_whole_file(const std::filesystem::path& path, std::string_view bytes) {
    WholeFile file(path);
    file.write(bytes);
    file.finish();
}

}  // namespace workbench
