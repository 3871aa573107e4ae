// Columns of text for a terminal.
#pragma once

#include <string>
#include <vector>

namespace workbench {

/// Rows of cells under a header; the first `left_columns` columns are flush left, the others flush right. Columns are as wide
/// as their widest cell and two spaces apart. Lines end without spaces.
struct TextTable {
    std::vector<std::string> header;
    std::size_t left_columns = 1;
    std::vector<std::vector<std::string>> rows;

    [[nodiscard]] std::string text() const;
};

/// 1234567 as "1,234,567".
[[nodiscard]] std::string with_commas(long long number);

/// The size of a matrix: "5,874 x 5,874, 158,356 nonzeros".
[[nodiscard]] std::string size_text(long long rows, long long columns, long long nonzeros);

/// Seconds with a fitting unit and three significant digits: "12.3 us", "4.56 ms", "7.89 s".
[[nodiscard]] std::string duration(double seconds);

/// Bytes with a fitting binary unit: "512 B", "1.50 MiB".
[[nodiscard]] std::string byte_count(double bytes);

/// Three significant digits without an exponent where the number allows it.
[[nodiscard]] std::string significant(double number);

/// A share as "12.3 %".
[[nodiscard]] std::string percent(double share);

/// "12.3 %"; "more than 100 x" for a spread above that, whose digits say nothing.
[[nodiscard]] std::string spread_text(double spread);

/// A ratio as "1.23 x".
[[nodiscard]] std::string factor(double ratio);

/// A name cut to at most this many characters, with "..." for the rest.
[[nodiscard]] std::string shortened(const std::string& name, std::size_t most);

/// The names of a table cut to at most this many characters each. Names that differ stay different: keys of a sweep are cut to
/// their initials in all of its points; if only the ends of other names differ, "..." replaces their middle.
[[nodiscard]] std::vector<std::string> shortened(const std::vector<std::string>& names, std::size_t most);

/// "heights: sh32 w256" of "heights: slice_height=32, window=256", the point of a sweep; if that has more than `most`
/// characters, "hei...: sh32 w256" or "sh32 w256". Empty if it is none, or if the values do not fit.
[[nodiscard]] std::string with_short_keys(const std::string& name, std::size_t most = std::string::npos);

/// The names of a table, cut to at most `most` characters each if short keys of sweeps suffice for that, otherwise to 44.
[[nodiscard]] std::vector<std::string> table_names(const std::vector<std::string>& names, std::size_t most);

/// Padded with trailing blanks to this width in characters.
[[nodiscard]] std::string padded(const std::string& name, std::size_t width);

/// Breaks lines at blanks, so that only single words exceed 80 columns.
[[nodiscard]] std::string wrapped(const std::string& text);

}  // namespace workbench
