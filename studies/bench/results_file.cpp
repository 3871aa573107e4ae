#include "studies/bench/results_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view beginning = "{\"key\":{";

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
    throw MachineError(fmt::format("{}: cannot be written ({})", path.string(), std::strerror(error)));
}

}  // namespace

ResultsFile::ResultsFile(std::filesystem::path path, bool retry_failed) : path_(std::move(path)), retry_failed_(retry_failed) {
    std::error_code ignored;
    if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), ignored);
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(path_, errno);
    try {
        // Some file systems of clusters have no locks; there the file is used without one.
        if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            throw MachineError(path_.string() +
                               ": another bench is writing to this file; wait for it or choose another file with --out");
        }
        const Content content = read_keys(path_, "choose another file with --out");
        truncated_ = content.truncated;
        if (truncated_ && ftruncate(descriptor_, static_cast<off_t>(content.whole)) != 0) fail(path_, errno);
    } catch (...) {
        close(descriptor_);
        throw;
    }
}

ResultsFile::~ResultsFile() { close(descriptor_); }

ResultsFile::Content ResultsFile::read_keys(const std::filesystem::path& file, const std::string& advice) {
    std::ifstream stream(file, std::ios::binary);
    Content content;
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        const auto refuse = [&] {
            throw RecipeError(fmt::format("{}:{}:1: not a line of a bench; expected {{\"key\":{{...}},...}}; {}{}",
                                          file.string(), number, advice, number > 1 ? ", or remove this line" : ""));
        };
        const bool incomplete = stream.eof();  // no newline
        if (incomplete) {
            if (!std::string_view(line).starts_with(beginning.substr(0, line.size()))) refuse();
            content.truncated = true;
            break;
        }
        const Json result = Json::parse(line, nullptr, false);
        if (!result.is_object() || !result.contains("key") || !result.contains("status")) refuse();
        if (!retry_failed_ || result["status"] != "failed") keys_.insert(result["key"].dump());
        content.whole += line.size() + 1;
    }
    return content;
}

void ResultsFile::count_lines_of(const std::filesystem::path& other) {
    std::error_code unknown;
    if (std::filesystem::equivalent(other, path_, unknown)) return;
    if (!std::filesystem::is_regular_file(other, unknown) || !std::ifstream(other)) {
        throw RecipeError(fmt::format(
            "--done {}: cannot be read; expected a file of a bench, or a folder of such files (.jsonl)", other.string()));
    }
    (void)read_keys(other, "choose other files with --done");
}

void ResultsFile::add(const std::string& key, const std::string& line) {
    const std::string text = line + '\n';
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t written = write(descriptor_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail(path_, errno);
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    (void)fsync(descriptor_);  // fails on a pipe, which does not matter
    keys_.insert(key);
}

}  // namespace workbench
