// An append-only file of JSON lines that stays valid whenever the program is stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace workbench {

/// Each line is a JSON object with "key", the results, and "status". The file is locked against other benches.
class ResultsFile {
public:
    /// Opens or creates the file, reads its keys, and truncates an incomplete last line left by a killed program. With
    /// `retry_failed`, lines with status "failed" do not count as present. Throws RecipeError with file and line if it contains
    /// anything else, MachineError if it cannot be written or another bench has locked it.
    ResultsFile(std::filesystem::path path, bool retry_failed);
    ~ResultsFile();
    ResultsFile(const ResultsFile&) = delete;
    ResultsFile& operator=(const ResultsFile&) = delete;

    /// Lines of this other file also count as present. An incomplete last line, which another bench may be writing, does not.
    /// Throws RecipeError with file and line if the file cannot be read or contains anything else.
    void count_lines_of(const std::filesystem::path& other);

    /// `key`: one line of JSON.
    [[nodiscard]] bool has(const std::string& key) const { return keys_.contains(key); }
    [[nodiscard]] bool was_truncated() const { return truncated_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// Appends a line (given without a newline) and syncs it to disk.
    void add(const std::string& key, const std::string& line);

private:
    struct Content {
        std::uintmax_t whole = 0;  // bytes in complete lines
        bool truncated = false;
    };

    /// Adds the keys of a file. `advice`: ends the message about a line that is none of a bench.
    Content read_keys(const std::filesystem::path& file, const std::string& advice);

    std::filesystem::path path_;
    std::set<std::string> keys_;
    int descriptor_ = -1;
    bool truncated_ = false;
    bool retry_failed_ = false;
};

}  // namespace workbench
