// Tables of recipes as text and LaTeX, and cells of CSV.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace workbench {

/// How `summary` prints tables.
enum class TableFormat { text, csv, tex };

/// A table whose first columns are flush left, the last of these being the names of recipes; the others are flush right.
struct PrintedTable {
    std::string caption;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows = {};
    std::size_t left_columns = 1;
    std::size_t name_width = 24;  // in text: table_names()
    std::string note = {};        // a sentence about the table; empty: none
    std::string hint = {};        // its end in text alone

    [[nodiscard]] std::string text() const;
    /// A table for the package booktabs, which \ref{tab:NAME} cites; the note is the end of its caption. Two blanks at the
    /// beginning of a cell become a \quad.
    [[nodiscard]] std::string tex(const std::string& name) const;
};

/// "CPU, f64: 3 matrices".
[[nodiscard]] std::string heading_of(const std::string& device, const std::string& precision, int matrices);

/// What distinguishes a table of LaTeX from the others of a document: "ranking-cpu-f64".
[[nodiscard]] std::string table_name(const std::string& kind, const std::string& device, const std::string& precision);

/// Quoted if necessary.
[[nodiscard]] std::string for_csv(const std::string& text);

}  // namespace workbench
