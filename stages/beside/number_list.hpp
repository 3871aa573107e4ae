// Lists of integers from files: orders, partitions and labels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace workbench {

/// The integers of a file, and where they are, for messages.
class NumberList {
public:
    NumberList(std::string file, std::vector<std::int64_t> numbers) : file_(std::move(file)), numbers_(std::move(numbers)) {}

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::size_t size() const { return numbers_.size(); }
    [[nodiscard]] std::int64_t operator[](std::size_t i) const { return numbers_[i]; }

    /// "order.txt:7" for a text, and "order.npy: entry 4" otherwise, counted from 0.
    [[nodiscard]] std::string where(std::size_t i) const;

    /// Entry i is on this line. Called for ascending i; lines in between follow each other.
    void note_line(std::size_t i, std::int64_t line);

private:
    struct EntryLine {
        std::size_t entry = 0;
        std::int64_t line = 0;
    };
    std::string file_;
    std::vector<std::int64_t> numbers_;
    std::vector<EntryLine> lines_;  // of entries whose line does not follow that of the entry before; empty: not a text
};

/// Reads a .npy file of integers, a Matrix Market array of one column, or a text with one number a line and comments that begin
/// with # or %. Texts may be compressed, and may write integers as 3.0e+00. `name` is the file for messages. Throws Unsuitable:
/// place, what was found, what was expected.
[[nodiscard]] NumberList read_numbers(const std::filesystem::path& path, const std::string& name);

}  // namespace workbench
