// A file of JSON lines that grows while it is measured, and is whole whenever the program stops.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace workbench {

/// Each line is one JSON object with "key", what was measured, and "status". While this lives, no other program that asks adds
/// to the file.
class ResultsFile {
public:
    /// Opens the file, or makes it, and learns what it holds. A last line that breaks off, as a killed program leaves it, is
    /// cut off. Lines whose status is "failed" do not count where `failed_again`. Throws RecipeError with file and line where
    /// there is something else in it, MachineError where it cannot be written or another program is adding to it.
    ResultsFile(std::filesystem::path path, bool failed_again);
    ~ResultsFile();
    ResultsFile(const ResultsFile&) = delete;
    ResultsFile& operator=(const ResultsFile&) = delete;

    /// `key` as JSON in one line.
    [[nodiscard]] bool has(const std::string& key) const { return keys_.contains(key); }
    [[nodiscard]] bool was_torn() const { return torn_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// Adds a line, which has no line end, and waits until the disk has it.
    void add(const std::string& key, const std::string& line);

private:
    void read();

    std::filesystem::path path_;
    std::set<std::string> keys_;
    int descriptor_ = -1;
    bool torn_ = false;
    bool failed_again_ = false;
};

}  // namespace workbench
