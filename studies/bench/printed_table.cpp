#include "studies/bench/printed_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

std::string for_tex(const std::string& text) {
    std::string safe;
    for (const char letter : text) {
        if (letter == '\\') {
            safe += "\\textbackslash{}";
        } else if (letter == '~') {
            safe += "\\textasciitilde{}";
        } else if (letter == '^') {
            safe += "\\textasciicircum{}";
        } else if (letter == '<' || letter == '>') {
            safe += fmt::format("${}$", letter);
        } else {
            if (std::string("&%$#_{}").find(letter) != std::string::npos) safe += '\\';
            safe += letter;
        }
    }
    return safe;
}

std::string tex_line(const std::vector<std::string>& cells) { return fmt::format("{} \\\\\n", fmt::join(cells, " & ")); }

/// A cell with its indentation, and microseconds as they are written.
std::string tex_cell(std::string cell) {
    std::string indentation;
    for (; cell.starts_with("  "); cell.erase(0, 2)) indentation += "\\quad ";
    const bool is_microseconds = cell.ends_with(" us");
    if (is_microseconds) cell.erase(cell.size() - 2);
    return indentation + for_tex(cell) + (is_microseconds ? "$\\mu$s" : "");
}

/// A heading whose words are in lines of at most 14 letters, where they are so short, so that long names do not widen a table.
std::string stacked(std::string heading) {
    constexpr std::size_t most = 14;
    std::vector<std::string> lines;
    std::istringstream words(heading);
    for (std::string word; words >> word;) {
        if (!lines.empty() && lines.back().size() + word.size() < most) {
            lines.back() += ' ' + word;
        } else {
            lines.push_back(word);
        }
    }
    for (std::string& line : lines) line = for_tex(line);
    return lines.size() < 2 ? fmt::format("{}", fmt::join(lines, ""))
                            : fmt::format("\\shortstack[r]{{{}}}", fmt::join(lines, "\\\\"));
}

std::vector<std::string> all(const std::vector<std::string>& cells, std::string (*as_tex)(std::string)) {
    std::vector<std::string> texts;
    std::ranges::transform(cells, std::back_inserter(texts), as_tex);
    return texts;
}

}  // namespace

std::string PrintedTable::text() const {
    TextTable table{.header = header, .left_columns = left_columns, .rows = rows};
    const std::size_t of_names = left_columns - 1;
    std::vector<std::string> names;
    for (const std::vector<std::string>& row : rows) names.push_back(row[of_names]);
    names = table_names(names, name_width);
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i][of_names] = names[i];
    return caption + '\n' + table.text() + (note.empty() ? "" : wrapped(fmt::format("  {}{}\n", note, hint)));
}

std::string PrintedTable::tex(const std::string& name) const {
    const std::string below = note.empty() ? "" : "; " + note;
    std::string text = fmt::format(
                           "\\begin{{table*}}\n\\centering\n\\small\n\\setlength{{\\tabcolsep}}{{4pt}}\n\\caption{{{}{}}}"
                           "\n\\label{{tab:{}}}\n",
                           for_tex(caption), for_tex(below), name) +
                       fmt::format("\\begin{{tabular}}{{{}{}}}\n\\toprule\n{}\\midrule\n", std::string(left_columns, 'l'),
                                   std::string(header.size() - left_columns, 'r'), tex_line(all(header, stacked)));
    for (const std::vector<std::string>& row : rows) text += tex_line(all(row, tex_cell));
    return text + "\\bottomrule\n\\end{tabular}\n\\end{table*}\n";
}

std::string heading_of(const std::string& device, const std::string& precision, int matrices) {
    return fmt::format("{}, {}: {}", device == "gpu" ? "GPU" : "CPU", precision, counted_with_commas(matrices, "matrix"));
}

std::string table_name(const std::string& kind, const std::string& device, const std::string& precision) {
    return fmt::format("{}-{}-{}", kind, device == "gpu" ? "gpu" : "cpu", precision);
}

std::string for_csv(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    return quoted + '"';
}

}  // namespace workbench
