#include "studies/bench/printed_table.hpp"

#include <fmt/format.h>

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

std::string tex_line(const std::vector<std::string>& cells) {
    std::vector<std::string> safe;
    for (std::string cell : cells) {
        std::string indentation;
        for (; cell.starts_with("  "); cell.erase(0, 2)) indentation += "\\quad ";
        safe.push_back(indentation + for_tex(cell));
    }
    return fmt::format("{} \\\\\n", fmt::join(safe, " & "));
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

std::string PrintedTable::tex() const {
    const std::string below = note.empty() ? "" : "; " + note;
    std::string text =
        fmt::format("\\begin{{table}}\n\\centering\n\\caption{{{}{}}}\n\\begin{{tabular}}{{{}{}}}\n\\toprule\n{}\\midrule\n",
                    for_tex(caption), for_tex(below), std::string(left_columns, 'l'),
                    std::string(header.size() - left_columns, 'r'), tex_line(header));
    for (const std::vector<std::string>& row : rows) text += tex_line(row);
    return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

std::string heading_of(const std::string& device, const std::string& precision, int matrices) {
    return fmt::format("{}, {}: {}", device == "gpu" ? "GPU" : "CPU", precision, counted_with_commas(matrices, "matrix"));
}

std::string for_csv(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    return quoted + '"';
}

}  // namespace workbench
