// The lines of a text, one by one or in blocks that threads can parse at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/input/byte_source.hpp"

namespace workbench {

/// Goes through a text from its beginning to its end. A line ends with "\n"; the last one may lack it.
/// Errors are InputErrors "NAME:LINE: what was found; what was expected".
class LineReader {
public:
    /// Lines of so many characters or more are refused, where nothing else is said: few texts that are matrices have them.
    static constexpr std::size_t usual_longest_line = std::size_t{1} << 20;

    LineReader(std::string name, std::unique_ptr<ByteSource> bytes);

    void allow_lines_of(std::size_t characters) { longest_line_ = characters; }

    /// Goes to the next line; false at the end. Throws where the text cannot be read any further.
    [[nodiscard]] bool next();

    /// The present line, without its newline; valid until next().
    [[nodiscard]] std::string_view line() const { return line_; }

    /// Does it lack its newline? So it is with the last line of some files, and of all that were cut off.
    [[nodiscard]] bool open_end() const { return open_end_; }

    /// Its number, from 1; behind the last line at the end.
    [[nodiscard]] std::int64_t number() const { return number_; }

    [[nodiscard]] const std::string& name() const { return name_; }

    /// A bound on all the bytes of the text.
    [[nodiscard]] std::uintmax_t most_bytes() const { return bytes_->most_bytes(); }

    /// Throws InputError at the present line, or at another.
    [[noreturn]] void fail(const std::string& what) const { fail_at(number_, what); }
    [[noreturn]] void fail_at(std::int64_t line, const std::string& what) const;

    /// The next lines, about a megabyte of them, each with its newline; false where there are no more that are whole. They are
    /// not counted here. Where the text cannot be read to its end, the blocks end before that line, and next() throws there.
    [[nodiscard]] bool next_block(std::vector<char>& block);

    /// Counts lines that were taken in blocks.
    void count(std::int64_t lines) { number_ += lines; }

private:
    /// Reads into the buffer from `end` on; false at the end of what can be read.
    bool read_more(std::vector<char>& buffer, std::size_t& end);

    std::string name_;
    std::unique_ptr<ByteSource> bytes_;
    std::size_t longest_line_ = usual_longest_line;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // what is not yet given out is buffer_[begin_, end_)
    std::size_t end_ = 0;
    bool at_end_ = false;
    std::string broken_;  // why the text cannot be read any further, at its end
    std::int64_t number_ = 0;
    bool open_end_ = false;
    std::string_view line_;
};

}  // namespace workbench
