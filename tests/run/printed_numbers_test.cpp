// Numbers and tables as texts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/measure/timing.hpp"
#include "pipeline/report/figures.hpp"
#include "pipeline/report/row_statistics.hpp"

namespace workbench {

TEST_CASE("timing summaries") {
    const Timing timing = summarise({5, 1, 3, 2, 4});
    CHECK(timing.median == 3);
    CHECK(timing.spread == doctest::Approx((4.6 - 1.4) / 3));
    CHECK(timing.samples == std::vector<double>{5, 1, 3, 2, 4});
    CHECK(summarise({}).median == 0);
    CHECK(summarise({7}).spread == 0);
}

TEST_CASE("formatted numbers") {
    CHECK(with_commas(0) == "0");
    CHECK(with_commas(999) == "999");
    CHECK(with_commas(1000) == "1,000");
    CHECK(with_commas(-1234567) == "-1,234,567");
    CHECK(counted(1, "row") == "1 row");
    CHECK(counted(0, "row") == "0 rows");
    CHECK(counted(1234, "row") == "1234 rows");
    CHECK(counted(std::size_t{2}, "matrix") == "2 matrices");
    CHECK(counted(1, "matrix") == "1 matrix");
    CHECK(counted(0, "more entry") == "0 more entries");
    CHECK(counted(3, "column index") == "3 column indices");
    CHECK(counted_with_commas(1, "vertex") == "1 vertex");
    CHECK(counted_with_commas(-1234, "vertex") == "-1,234 vertices");
    CHECK(significant(-std::numeric_limits<double>::quiet_NaN()) == "nan");
    CHECK(percent(-std::numeric_limits<double>::quiet_NaN()) == "nan %");
    CHECK(printable("a\x1b[31m\r\x7f \t\n\xc3\xa9") == "a?[31m?? \t\n\xc3\xa9");
    CHECK(printable("\xc2\x9b"
                    "31m \xc2\x80\xc2\xa0\xc2") == "?31m ?\xc2\xa0?");
    CHECK(printable("a\tb\nc\xc2\x9b", 10) == "a?b?c?");
    CHECK(TextTable{{"name"}, 1, {{"a\x1b[2J"}}}.text() == "  name\n  a?[2J\n");
    CHECK(duration(0.0000123) == "12.3 us");
    CHECK(duration(0.5) == "500 ms");
    CHECK(duration(75) == "75.0 s");
    CHECK(byte_count(0) == "0 B");
    CHECK(byte_count(1536) == "1.50 KiB");
    CHECK(significant(1234.5) == "1,235");
    CHECK(significant(0.01234) == "0.0123");
    CHECK(significant(999.4) == "999");
    CHECK(significant(999.6) == "1,000");
    CHECK(duration(0.9996) == "1,000 ms");
    CHECK(duration(1) == "1.00 s");
}

TEST_CASE("numbers change their unit at its size, and not before") {
    const std::vector<std::pair<std::string, std::string>> texts{{byte_count(999), "999 B"},
                                                                 {byte_count(1000), "1,000 B"},
                                                                 {byte_count(1023), "1,023 B"},
                                                                 {byte_count(1024), "1.00 KiB"},
                                                                 {byte_count(1024.0 * 1023), "1,023 KiB"},
                                                                 {byte_count(1024.0 * 1024), "1.00 MiB"},
                                                                 {byte_count(1024.0 * 1024 * 1024), "1.00 GiB"},
                                                                 {byte_count(5 * std::pow(1024.0, 5)), "5,120 TiB"},
                                                                 {duration(0), "0 us"},
                                                                 {duration(0.000999), "999 us"},
                                                                 {duration(0.001), "1.00 ms"},
                                                                 {duration(0.999), "999 ms"},
                                                                 {duration(3600), "3,600 s"},
                                                                 {percent(0), "0.0 %"},
                                                                 {percent(0.12345), "12.3 %"},
                                                                 {percent(1), "100.0 %"},
                                                                 {spread_text(100), "10000.0 %"},
                                                                 {spread_text(100.1), "more than 100 x"},
                                                                 {factor(0.5), "0.500 x"},
                                                                 {factor(12.34), "12.3 x"},
                                                                 {significant(0), "0"},
                                                                 {significant(0.001), "0.00100"},
                                                                 {significant(0.000999), "9.99e-04"},
                                                                 {significant(9'999'999), "9,999,999"},
                                                                 {significant(1e7), "1.00e+07"},
                                                                 {significant(-0.5), "-0.500"},
                                                                 {with_commas(-999), "-999"},
                                                                 {with_commas(1'000'000), "1,000,000"},
                                                                 {size_text(1000, 2, 3456), "1,000 x 2, 3,456 nonzeros"}};
    for (const auto& [found, expected] : texts) CHECK(found == expected);
}

TEST_CASE("a table is wide enough for the names of its rows unless short keys of sweeps fit") {
    using Names = std::vector<std::string>;
    const Names threads{"CSR in Gorder: 1 thread", "CSR in Gorder: 16 threads", "CSR, natural order: 16 threads"};
    CHECK(table_names(threads, 20) == threads);
    CHECK(table_names(Names{"heights: slice_height=32, window=256", "sell"}, 20) == Names{"heights: sh32 w256", "sell"});
    CHECK(table_names(Names{std::string(50, 'a'), std::string(50, 'b')}, 20) ==
          Names{std::string(41, 'a') + "...", std::string(41, 'b') + "..."});
}

TEST_CASE("lines are wrapped behind 80 columns") {
    const std::string seventy(70, 'x');
    CHECK(wrapped(seventy + " 123456789\n") == seventy + " 123456789\n");  // 80
    CHECK(wrapped(seventy + " 1234567890\n") == seventy + "\n      1234567890\n");
    CHECK(wrapped("a\n\nb") == "a\n\nb\n");
}

TEST_CASE("a table of matrices has a row for each, with its own name") {
    Metrics metrics;
    metrics.rows = metrics.columns = 2;
    const std::string text = row_statistics_text({{{"a.mtx", 2, 2, 3, 0}, metrics}, {{"b.mtx", 2, 2, 3, 0}, metrics}});
    CHECK(text.find("\n  a.mtx ") != std::string::npos);
    CHECK(text.find("\n  b.mtx ") != std::string::npos);
    for (const auto& [rows, iterations] : {std::pair(Index{64}, "6"), {Index{65}, "9"}}) {
        metrics.rows = rows;  // 2 warps, 3 warps
        metrics.row_lengths.maximum = 3;
        for (const auto& cell : cells_of(metric_figures(), &Figure<Metrics>::rows)) {
            if (cell.shown().label == "ELL iterations") CHECK(cell.text(metrics) == iterations);
        }
    }
    CHECK(complete(FigureValue(0.99996)) == "99.9 %");
    CHECK(complete(FigureValue(0.5)) == "50.0 %");
    CHECK(complete(FigureValue(1.0)) == "100 %");
}

TEST_CASE("columns of a table are aligned by letters, not by bytes") {
    TextTable table{{"name", "kernel", "time"}, 2, {{"m\u00fcller", "\u00fc", "1 s"}, {"matrix", "rows", "12.5 ms"}}};
    std::istringstream lines(table.text());
    std::vector<std::size_t> letters;
    for (std::string line; std::getline(lines, line);) {
        letters.push_back(static_cast<std::size_t>(std::count_if(
            line.begin(), line.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; })));
    }
    REQUIRE(letters.size() == 3);
    CHECK(letters[1] == letters[0]);
    CHECK(letters[2] == letters[0]);
    table = {{"a", "b"}, 1, {{"x", "10"}, {"long", "2"}}};
    CHECK(table.text() == "  a      b\n  x     10\n  long   2\n");
    table.left_columns = 2;  // lines end without spaces
    CHECK(table.text() == "  a     b\n  x     10\n  long  2\n");
}
}  // namespace workbench
