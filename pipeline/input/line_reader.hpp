// The lines of a text file, gzip-compressed or not, in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;

namespace workbench {

/// Streams a text file line by line. A gzip file may have several members; its check sums are checked.
/// Errors are InputErrors "FILE:LINE: what was found; what was expected".
class LineReader {
public:
    /// Lines longer than this are refused: no text that is a matrix has them.
    static constexpr std::size_t longest_line = std::size_t{1} << 20;

    explicit LineReader(const std::filesystem::path& path);

    /// Goes to the next line; false at the end of the file. The last line needs no newline.
    [[nodiscard]] bool next();

    /// The present line, without its newline; valid until next().
    [[nodiscard]] std::string_view line() const { return line_; }

    /// Throws InputError at the present line.
    [[noreturn]] void fail(const std::string& what) const;

private:
    struct Close {
        void operator()(gzFile_s* file) const;
    };
    void refill();

    std::string path_;
    std::unique_ptr<gzFile_s, Close> file_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // what is not yet given out is buffer_[begin_, end_)
    std::size_t end_ = 0;
    bool at_end_of_file_ = false;
    std::int64_t number_ = 0;
    std::string_view line_;
};

}  // namespace workbench
