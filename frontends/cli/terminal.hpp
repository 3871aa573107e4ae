// Standard output and standard error: progress, messages, and the output of others.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/text/words.hpp"

namespace workbench {

/// One line of progress that the next step replaces and the destructor erases. Silent unless standard error is a terminal.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(const std::string& step) const;

private:
    bool on_terminal_;
};

/// While it lives, what kernel sources and libraries print to standard output goes to standard error.
class StdoutToStderr {
public:
    StdoutToStderr();
    ~StdoutToStderr();
    StdoutToStderr(const StdoutToStderr&) = delete;
    StdoutToStderr& operator=(const StdoutToStderr&) = delete;

private:
    int output_;  // a copy of standard output; negative if it is closed
};

/// Prints to standard output, with '?' for control characters, such as those of names of files. Names in JSON are escaped, and
/// pictures of a terminal have escape sequences: these are printed with fmt::print.
template <typename... Values>
void print_text(fmt::format_string<Values...> text, Values&&... values) {
    fmt::print("{}", printable(fmt::format(text, std::forward<Values>(values)...)));
}

/// Puts "error: " in front, unless the text begins with it, as a list of errors in a recipe does.
[[nodiscard]] std::string as_error(const std::string& what);

/// Prints a line to standard error, in order with standard output if both are the same file. Never throws.
void print_error(const std::string& line);

}  // namespace workbench
