// The lines of a text, one by one or in blocks that several threads parse.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/input/bytes/byte_source.hpp"
#include "core/text/words.hpp"

namespace workbench {

/// Reads a text from beginning to end. A line ends with "\n"; the last line may lack it.
/// Errors are InputErrors "NAME:LINE: what was found; what was expected".
class LineReader {
public:
    /// Default limit of a line's length, in characters.
    static constexpr std::size_t usual_longest_line = std::size_t{1} << 20;

    /// A sentence for the user about a text that is read.
    using Note = std::function<void(const std::string&)>;

    LineReader(std::string name, std::unique_ptr<ByteSource> bytes, Note note = {});

    void allow_lines_of(std::size_t characters) { longest_line_ = characters; }

    /// Advances to the next line; false at the end. Throws InputError if the text cannot be read any further.
    [[nodiscard]] bool next();

    /// The current line without its newline; valid until next().
    [[nodiscard]] std::string_view line() const { return line_; }

    /// True if the current line, or the last one of the current block, lacks its newline in the text, as in a file that was cut
    /// off.
    [[nodiscard]] bool open_end() const { return open_end_; }

    /// Number of the current line, from 1; at the end, one more than the number of lines.
    [[nodiscard]] std::int64_t number() const { return number_; }

    [[nodiscard]] const std::string& name() const { return name_; }

    /// Upper bound of the size of the text in bytes.
    [[nodiscard]] std::uintmax_t most_bytes() const { return bytes_->most_bytes(); }

    /// Throws InputError at the current line.
    template <typename... Values>
    [[noreturn]] void fail(fmt::format_string<Values...> text, Values&&... values) const {
        fail_at(number_, fmt::format(text, std::forward<Values>(values)...));
    }
    [[noreturn]] void fail_at(std::int64_t line, const std::string& what) const;

    /// Passes "NAME:LINE: what" to the receiver of notes, if there is one.
    void note(std::int64_t line, const std::string& what) const;

    /// Calls parse() and turns a LineError into an InputError at the current line.
    template <typename Parse>
    auto with_place(const Parse& parse) const {
        try {
            return parse();
        } catch (const LineError& error) {
            fail_at(number_, error.what);
        }
    }

    /// Stores the next whole lines, about a megabyte of them with their newlines; false at the end. Does not count them: see
    /// count(). If the text cannot be read to its end, the blocks end before the damaged line, and next() throws there.
    [[nodiscard]] bool next_block(std::vector<char>& block);

    /// Adds lines that were taken in blocks to number().
    void count(std::int64_t lines) { number_ += lines; }

private:
    /// Appends to the buffer at `end`; false at the end of what can be read.
    bool read_more(std::vector<char>& buffer, std::size_t& end);

    std::string name_;
    std::unique_ptr<ByteSource> bytes_;
    Note note_;
    std::size_t longest_line_ = usual_longest_line;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // buffer_[begin_, end_) is not yet returned
    std::size_t end_ = 0;
    bool at_end_ = false;
    std::string broken_;  // why the text cannot be read any further
    std::int64_t number_ = 0;
    bool open_end_ = false;
    std::string_view line_;
};

}  // namespace workbench
