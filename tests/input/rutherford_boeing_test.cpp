// Rutherford-Boeing files and Fortran formats.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/input/inline_matrix.hpp"
#include "core/input/texts/fortran_format.hpp"
#include "input/input_files.hpp"

namespace workbench {
namespace {

struct Parts {
    std::string type = "rua";
    std::string size = "3 3 4 0";
    std::string formats = "(4I4)           (5I4)           (4E12.4)";
    std::string pointers = "   1   3   4   5\n";
    std::string indices = "   1   3   2   3\n";
    std::string values = "  1.0000E+00 -2.5000E+00  0.0000E+00  4.0000E+01\n";
    std::string counts = "3 1 1 1";
};

std::string text_of(const Parts& parts) {
    return "A title, with % and numbers 1 2 3                                       key\n" + parts.counts + "\n" + parts.type +
           "           " + parts.size + "\n" + parts.formats + "\n" + parts.pointers + parts.indices + parts.values;
}

CsrMatrix read_parts(const Parts& parts) { return read_matrix(write("m.rb", text_of(parts))); }
std::string refusal_of(const Parts& parts) { return refusal(write("m.rb", text_of(parts))); }

}  // namespace

TEST_CASE("Fortran formats") {
    const auto shown = [](std::string_view text) -> std::string {
        const auto format = parse_fortran_format(text);
        if (!format) return "none";
        const FortranField& field = format->first[0];
        return fmt::format("{} {} {} {} {}", field.kind, format->first.size(), field.width, field.decimals, field.scale);
    };
    CHECK(shown("(26I3)") == "i 26 3 0 0");
    CHECK(shown("(I14)") == "i 1 14 0 0");
    CHECK(shown("( 8 i 10.10 )") == "i 8 10 0 0");
    CHECK(shown("(5E16.8)") == "f 5 16 8 0");
    CHECK(shown("(1P,5D16.8)") == "f 5 16 8 1");
    CHECK(shown("(1P5E16.8E3)") == "f 5 16 8 1");
    CHECK(shown("(1P,3(E25.16))") == "f 3 25 16 1");
    CHECK(shown("(4(1PE20.13))") == "f 4 20 13 1");
    CHECK(shown("(-2P,F8.3)") == "f 1 8 3 -2");
    CHECK(shown("(8F10.3)") == "f 8 10 3 0");
    CHECK(shown("(2G25.17)") == "f 2 25 17 0");
    CHECK(shown("(2ES25.17)") == "f 2 25 17 0");
    CHECK(shown("(3EN25.17)") == "f 3 25 17 0");
    CHECK(shown("(8F10)") == "f 8 10 0 0");
    for (const char* text : {"",
                             "(",
                             "()",
                             "8I10",
                             "(8I10",
                             "(8I10))",
                             "(8X)",
                             "(0I8)",
                             "(8I0)",
                             "(I8,)",
                             "(I,I8)",
                             "(99999I8)",
                             "(-8I8)",
                             "(E16.)",
                             "(E16.8E)",
                             "(((((((((I8)))))))))",
                             "(8I10)x",
                             "(999(999(99I9)))",
                             "(1P)",
                             "(PI8)",
                             "(X9999(9999(9999X)))",
                             "(8I10,(1X))",
                             "(I8/I8)",
                             "(5A8)"}) {
        CAPTURE(text);
        CHECK(shown(text) == "none");
    }
}

TEST_CASE("Fortran formats: skipped characters, scale factors, several items and nested groups") {
    const auto shown = [](std::string_view text) {
        const auto format = parse_fortran_format(text);
        REQUIRE(format);
        std::string list;
        for (const auto* line : {&format->first, &format->later}) {
            for (const auto& [kind, begin, width, decimals, scale] : *line) {
                list += fmt::format("{}{} at {}{} ", kind, width, begin, scale == 0 ? "" : fmt::format(" scale {}", scale));
            }
            if (line == &format->first) list += "| ";
        }
        return list;
    };
    const auto twice = [](const std::string& line) { return line + " | " + line + " "; };
    CHECK(shown("(1X,2I9)") == twice("i9 at 1 i9 at 10"));
    CHECK(shown("(2(1X,I8))") == twice("i8 at 1 i8 at 10"));
    CHECK(shown("(XI3,2X,I4,1X)") == twice("i3 at 1 i4 at 6"));
    CHECK(shown("(I9,2I5)") == twice("i9 at 0 i5 at 9 i5 at 14"));
    CHECK(shown("(2(I2,2(1X,I1)))") == twice("i2 at 0 i1 at 3 i1 at 5 i2 at 6 i1 at 9 i1 at 11"));
    CHECK(shown("(1P,2(1X,E23.15))") == twice("f23 at 1 scale 1 f23 at 25 scale 1"));
    CHECK(shown("(1P,E9.2,0P,F8.2)") == twice("f9 at 0 scale 1 f8 at 9"));
    CHECK(shown("(F8.2,1P,F9.2)") == "f8 at 0 f9 at 8 scale 1 | f8 at 0 scale 1 f9 at 8 scale 1 ");
    CHECK(shown("(2I)") == twice("i0 at 0 i0 at 0"));
    // Later lines begin with the last group.
    CHECK(shown("(1X,2(I9))") == "i9 at 1 i9 at 10 | i9 at 0 i9 at 9 ");
    CHECK(shown("(I3,(I4),2(I5,1X),I6)") == "i3 at 0 i4 at 3 i5 at 7 i5 at 13 i6 at 19 | i5 at 0 i5 at 6 i6 at 12 ");
}

TEST_CASE("numbers in Fortran's fields") {
    const FortranField plain{'f', 0, 12, 0, 0};
    const auto read = [](std::string_view text, const FortranField& field) { return parse_fortran_real(text, field); };
    CHECK(read("  1.5", plain) == 1.5);
    CHECK(read("-.5E+02 ", plain) == -50);
    CHECK(read("+1.D-3", plain) == 1e-3);
    CHECK(read("1.5d2", plain) == 150);
    CHECK(read("1.25Q+1", plain) == 12.5);
    CHECK(read("1.5+3", plain) == 1500);  // Fortran omits the letter before an exponent of three digits
    CHECK(read("-1.5-100", plain) == -1.5e-100);
    CHECK(read("17", plain) == 17);
    CHECK(read("0.1", plain) == 0.1);
    CHECK(read("0.30000000000000004", plain) == 0.30000000000000004);
    CHECK(std::isnan(*read(" NaN", plain)));
    CHECK(std::isinf(*read("-Infinity", plain)));
    // A field without a decimal point has implied decimals.
    CHECK(read("12345", {'f', 0, 8, 3, 0}) == 12.345);
    CHECK(read("12345E2", {'f', 0, 8, 3, 0}) == 1234.5);
    CHECK(read("1.5", {'f', 0, 8, 3, 0}) == 1.5);
    // A scale factor applies to fields without an exponent.
    CHECK(read("12.5", {'f', 0, 8, 3, 1}) == 1.25);
    CHECK(read("12.5E0", {'f', 0, 8, 3, 1}) == 12.5);
    CHECK(read("12.5", {'f', 0, 8, 3, -2}) == 1250);
    for (const char* field : {"", "   ", "1 2", "1.5.", "1.5E", "E5", "-", ".", "***", "1.5E+400", "1,5", "0x1", "1.5F3",
                              "1-2-3", "1E99999999999999999999", "--1", "1.5D+", "1.2.3"}) {
        CAPTURE(field);
        CHECK_FALSE(read(field, plain));
    }
}

TEST_CASE("Rutherford-Boeing: types of matrices") {
    // By columns: (1, 1), (3, -2.5) | (2, 0) | (3, 40).
    CHECK(read_parts({}) == csr_from_rows(Rows{"1 . .", ". 0 .", "-2.5 . 40"}));
    CHECK(read_parts({.type = "RSA"}) == csr_from_rows(Rows{"1 . -2.5", ". 0 .", "-2.5 . 40"}));
    CHECK(read_parts({.type = "rra", .size = "4 3 4 0"}) == csr_from_rows(Rows{"1 . .", ". 0 .", "-2.5 . 40", ". . ."}));
    CHECK(read_parts({.type = "psa", .formats = "(4I4)           (5I4)", .values = "", .counts = "2 1 1 0"}) ==
          csr_from_rows(Rows{"1 . 1", ". 1 .", "1 . 1"}));
    CHECK(read_parts({.type = "rza",
                      .size = "3 3 2 0",
                      .pointers = "   1   3   3   3\n",
                      .indices = "   2   3\n",
                      .values = "  1.0000E+00 -2.5000E+00\n"}) == csr_from_rows(Rows{". -1 2.5", "1 . .", "-2.5 . ."}));
    CHECK(read_parts({.type = "iua", .formats = "(4I4) (5I4) (4I5)", .values = "    1   -2    0   40\n"}) ==
          csr_from_rows(Rows{"1 . .", ". 0 .", "-2 . 40"}));
    // Several lines per list, Windows line ends, fields without blanks between them, duplicates.
    CHECK(read_parts({.formats = "(2I1)           (3I1)           (3F3.1)",
                      .pointers = "13\r\n45\r\n",
                      .indices = "132\r\n3\r\n",
                      .values = "1.0-2500\r\n400\r\n",
                      .counts = "6 2 2 2"}) == csr_from_rows(Rows{"1 . .", ". 0 .", "-2.5 . 40"}));
    CHECK(read_parts({.indices = "   1   1   2   3\n"}) == csr_from_rows(Rows{"-1.5 . .", ". 0 .", ". . 40"}));
    CHECK(read_parts({.size = "0 0 0 0", .pointers = "   1\n", .indices = "", .values = "", .counts = "1 1 0 0"}) ==
          CsrMatrix{});
    // Harwell-Boeing: a fifth count on the second line, and right-hand sides after the matrix.
    CHECK(read_parts({.counts = "3 1 1 1 0"}) == csr_from_rows(Rows{"1 . .", ". 0 .", "-2.5 . 40"}));
    CHECK(read_parts({.formats = "(4I4)           (5I4)           (4E12.4)            (3F4.1)\nF             1             0",
                      .values = "  1.0000E+00 -2.5000E+00  0.0000E+00  4.0000E+01\n 1.0 2.0 3.0\n",
                      .counts = "4 1 1 1 1"}) == csr_from_rows(Rows{"1 . .", ". 0 .", "-2.5 . 40"}));
}

TEST_CASE("Harwell-Boeing: skipped characters, groups, several items and words") {
    const CsrMatrix expected = csr_from_rows(Rows{"1 . .", ". 0 .", "-2.5 . 40"});
    const std::string values = "  1.0000E+00 -2.5000E+00  0.0000E+00  4.0000E+01\n";
    const auto read = [](const std::string& formats, const std::string& pointers, const std::string& indices,
                         const std::string& numbers) {
        return read_parts({.formats = formats, .pointers = pointers, .indices = indices, .values = numbers});
    };
    CHECK(read("(1X,4I4) (1X,5I4) (4E12.4)", "    1   3   4   5\n", "    1   3   2   3\n", values) == expected);
    CHECK(read("(4(1X,I3)) (4(1X,I3)) (1P,4(1X,E11.4))", "   1   3   4   5\n", "   1   3   2   3\n", values) == expected);
    CHECK(read("(I4,3I4) (2I4,2I4) (1P,E12.4,3E12.4)", "   1   3   4   5\n", "   1   3   2   3\n", values) == expected);
    CHECK(read("(8I) (8I) (8E)", "1 3 4 5 \n", " 1 3 2 3\r\n", "1 -2.5 0 4e1\n") == expected);
    CHECK(read("(3I) (2I) (3E)", "1 3 4\n5\n", "1 3\n2 3\n", "1 -2.5 0\n40") == expected);
    // Skipped characters may be anything; lines after the first begin with the last group.
    CHECK(read("(2X,2(I4)) (1X,(I4)) (1X,F4.1,2(2X,F4.1))", "x:   1   3\n   4   5\n", "*   1\n   3\n   2\n   3\n",
               "! 1.0  -2.5   0.0\n  40.0\n") == expected);
    // Fields of different widths, and fields behind which a line is too long or too short.
    CHECK(read("(I2,I3,2I4) (I1,3I2) (4F6.1)", " 1  3   4   5\n", "1 3 2 3\n", "   1.0  -2.5   0.0  40.0\n") == expected);
    const auto refused = [](const std::string& pointers) {
        return refusal_of({.formats = "(1X,2I4) (5I4) (4E12.4)", .pointers = pointers, .counts = "4 2 1 1"});
    };
    CHECK(refused("    1   3\n    4\n") == "m.rb:6: found no field 2; expected 4 pointers, 2 per line");
    CHECK(refused("    1   3   4\n    4   5\n") == "m.rb:5: found '4' at the end of the line; expected 4 pointers, 2 per line");
    CHECK(refusal_of({.formats = "(8I) (5I4) (4E12.4)", .pointers = "1 3 4\n"}) ==
          "m.rb:5: found no field 4; expected 4 pointers, 8 per line");
}

TEST_CASE("Rutherford-Boeing: each field with each symmetry") {
    // One list of places below the diagonal, read with each type.
    struct Field {
        char letter;
        std::string format;
        std::string values;
        std::array<std::string, 4> shown;  // of (2, 1), (3, 1), (3, 2), (4, 3)
    };
    const std::vector<Field> fields{{'r', "(2F8.2)", "    0.50   -1.25\n    3.00 1.0E+02\n", {"0.5", "-1.25", "3", "100"}},
                                    {'i', "(3I6)", "     7    -8     9\n  1000\n", {"7", "-8", "9", "1000"}},
                                    {'p', "", "", {"1", "1", "1", "1"}}};
    const auto negated = [](const std::string& number) { return number[0] == '-' ? number.substr(1) : "-" + number; };
    for (const Field& field : fields) {
        const auto& [letter, format, values, v] = field;
        const auto read = [&, &format = format, &values = values, letter = letter](char symmetry, const std::string& size) {
            return read_parts({.type = std::string{letter, symmetry, 'a'},
                               .size = size,
                               .formats = "(3I5) (4I3) " + format,
                               .pointers = "    1    3    4\n    5    5\n",
                               .indices = "  2  3  3  4\n",
                               .values = values,
                               .counts = values.empty() ? "3 2 1 0" : "5 2 1 2"});
        };
        CAPTURE(field.letter);
        CHECK(read('u', "4 4 4 0") ==
              csr_from_rows(Rows{". . . .", v[0] + " . . .", v[1] + " " + v[2] + " . .", ". . " + v[3] + " ."}));
        CHECK(read('r', "6 4 4 0") == csr_from_rows(Rows{". . . .", v[0] + " . . .", v[1] + " " + v[2] + " . .",
                                                         ". . " + v[3] + " .", ". . . .", ". . . ."}));
        CHECK(read('s', "4 4 4 0") == csr_from_rows(Rows{". " + v[0] + " " + v[1] + " .", v[0] + " . " + v[2] + " .",
                                                         v[1] + " " + v[2] + " . " + v[3], ". . " + v[3] + " ."}));
        if (letter == 'p') continue;  // a pattern has no signs
        CHECK(read('z', "4 4 4 0") ==
              csr_from_rows(Rows{". " + negated(v[0]) + " " + negated(v[1]) + " .", v[0] + " . " + negated(v[2]) + " .",
                                 v[1] + " " + v[2] + " . " + negated(v[3]), ". . " + v[3] + " ."}));
    }
    // More columns than rows; columns 4 and 6 are empty.
    CHECK(read_parts({.type = "pra",
                      .size = "2 6 4 0",
                      .formats = "(7I2) (4I2)",
                      .pointers = " 1 2 3 4 4 5 5\n",
                      .indices = " 1 2 1 2\n",
                      .values = "",
                      .counts = "2 1 1 0"}) == csr_from_rows(Rows{"1 . 1 . . .", ". 1 . . 1 ."}));
}

TEST_CASE("Rutherford-Boeing: every refusal says where, what was found and what was expected") {
    const std::string types = "which is not supported; expected R, I or P, then S, Z, U or R, then A";
    const std::vector<std::pair<Parts, std::string>> cases{
        {{.type = "cua"}, "m.rb:3: found 'cua', a complex matrix, " + types},
        {{.type = "rha"}, "m.rb:3: found 'rha', a Hermitian matrix, " + types},
        {{.type = "rse"}, "m.rb:3: found 'rse', an elemental matrix, " + types},
        {{.type = "qsa"}, "m.rb:3: found 'qsa', an auxiliary matrix, " + types},
        {{.type = "pza"}, "m.rb:3: found a skew-symmetric pattern; expected values, because a pattern has no signs"},
        {{.size = "3 x 4 0"}, "m.rb:3: found the number of columns 'x'; expected an integer, 0 or greater"},
        {{.size = "3 -3 4 0"}, "m.rb:3: found the number of columns '-3'; expected an integer, 0 or greater"},
        {{.counts = "3 1 1"}, "m.rb:2: found the end of the line; expected the number of lines of values"},
        {{.counts = "3 1 1 0"}, "m.rb:3: found no lines of values; expected some, or the type P for a pattern"},
        {{.size = "2147483648 3 4 0"},
         "m.rb:3: found a matrix of 2147483648 x 3; expected at most 2147483647 rows and columns"},
        {{.size = "2147483647 3 4 0"},
         "m.rb:3: found 2147483647 rows and 3 columns with 4 entries: too empty to read; expected at least one entry per 64 "
         "rows and columns above 2^24 of them"},
        {{.type = "rsa", .size = "4 3 4 0"},
         "m.rb:3: found 4 rows and 3 columns; expected a square matrix, because its type is symmetric"},
        {{.formats = "(4E4.1) (5I4) (4E12.4)"},
         "m.rb:4: found '(4E4.1)' as the format of the pointers; expected one such as (8I10)"},
        {{.formats = "(4I4) (5I4) (4A12)"},
         "m.rb:4: found '(4A12)' as the format of the values; expected one such as (1P,4E20.12)"},
        {{.formats = "(4I4) (5I4"}, "m.rb:4: found '(5I4' as the format of the indices; expected one such as (8I10)"},
        {{.pointers = "   2   3   4   5\n"}, "m.rb:5: found the pointer '2'; expected an integer from 1 to 1"},
        {{.pointers = "   1   3   2   5\n"}, "m.rb:5: found the pointer '2'; expected an integer from 3 to 5"},
        {{.pointers = "   1   3   4   6\n"}, "m.rb:5: found the pointer '6'; expected an integer from 4 to 5"},
        {{.pointers = "   1   3   4   4\n"},
         "m.rb:5: found 4 as the last pointer; expected 5, one more than the number of entries"},
        {{.pointers = "   1   3   4\n"}, "m.rb:5: found no field 4; expected 4 pointers, 4 per line"},
        {{.pointers = "   1   3   4   5   6\n"}, "m.rb:5: found '6' at the end of the line; expected 4 pointers, 4 per line"},
        {{.indices = "   1   4   2   3\n"}, "m.rb:6: found the row index '4'; expected an integer from 1 to 3"},
        {{.indices = "   1   0   2   3\n"}, "m.rb:6: found the row index '0'; expected an integer from 1 to 3"},
        {{.indices = "   1 3 1   2   3\n"}, "m.rb:6: found '1' at the end of the line; expected one number per field"},
        {{.type = "rsa", .pointers = "   1   2   4   5\n", .indices = "   1   1   2   3\n"},
         "m.rb:6: found row 1 in column 2 of a symmetric matrix; expected rows below the diagonal or on it"},
        {{.type = "rza"}, "m.rb:6: found row 1 in column 1 of a skew-symmetric matrix; expected rows below the diagonal"},
        {{.values = "  1.0000E+00 -2.5000E+00  ********** 4.0000E+01\n"}, "m.rb:7: found '**********'; expected a number"},
        {{.values = "  1.0000E+00\n"}, "m.rb:7: found no field 2; expected 4 values, 4 per line"},
        {{.values = ""}, "m.rb:7: found the end of the file after 0 of 4 values; expected them all"},
        {{.values = "  1.0000E+00 -2.5000E+00  0.0000E+00  4.0000E+01\n\nmore\n"},
         "m.rb:9: found 'more' after the matrix; expected the end of the file"},
    };
    for (const auto& [parts, expected] : cases) CHECK(refusal_of(parts) == expected);
}

TEST_CASE("Rutherford-Boeing: a damaged text is refused or is a matrix, byte by byte") {
    const std::string text = text_of({});
    for (std::size_t place = text.find('\n'); place < text.size(); ++place) {
        for (const char byte : {'\0', ' ', '\n', '9', '-', '(', 'e', '\xff'}) {
            std::string damaged = text;
            damaged[place] = byte;
            const auto matrix = read_or_refuse(write("m.rb", damaged));
            if (matrix) CHECK_NOTHROW(check_csr(*matrix));
        }
        if (place + 2 < text.size()) CHECK(refusal(write("m.rb", text.substr(0, place))) != "read");
    }
}

TEST_CASE("Rutherford-Boeing: lists that fill several blocks of the text, on any number of threads") {
    constexpr int columns = 70000;  // column j has rows j and j / 2
    std::string pointers;
    std::string indices;
    std::string values;
    std::vector<Entry> entries;
    const auto add = [](std::string& list, const std::string& field, std::size_t number, std::size_t per_line) {
        list += field;
        if (number % per_line == 0) list += "\n";
    };
    for (Index column = 0; column < columns; ++column) {
        add(pointers, fmt::format("{:9}", entries.size() + 1), column + 1, 7);
        const std::vector<Index> rows = column == 0 ? std::vector<Index>{0} : std::vector<Index>{column / 2, column};
        for (const Index row : rows) {
            const double value = (1 + column % 9) * 0.25;
            entries.push_back({row, column, value});
            add(indices, fmt::format("{:9}", row + 1), entries.size(), 8);
            // Fortran's exponents, and others, which std::from_chars reads.
            add(values, column % 5 == 0 ? fmt::format("{:12.4f}D-1", 10 * value) : fmt::format("{:13.3f}E0", value),
                entries.size(), 4);
        }
    }
    pointers += fmt::format("{:9}\n", entries.size() + 1);
    for (std::string* list : {&indices, &values}) {
        if (!list->ends_with('\n')) *list += "\n";
    }
    Parts parts{.size = fmt::format("{0} {0} {1} 0", columns, entries.size()),
                .formats = "(7I9) (8I9) (4E15.3)",
                .pointers = pointers,
                .indices = indices,
                .values = values};
    const std::int64_t lines_before = 4 + std::count(pointers.begin(), pointers.end(), '\n');
    const std::int64_t index_lines = std::count(indices.begin(), indices.end(), '\n');
    CHECK(read_parts(parts) == csr_from_entries(columns, columns, entries));

    parts.values.replace(15 * 3 + 60 * 20000 + 20000, 1, "x");  // in line 20001 of the values
    CHECK(refusal_of(parts).starts_with(fmt::format("m.rb:{}: found '", lines_before + index_lines + 20001)));
    parts.indices.replace(73 * 10000 + 8, 1, "x");  // an earlier line, in another block
    CHECK(refusal_of(parts).starts_with(fmt::format("m.rb:{}: found the row index '", lines_before + 10001)));

    parts.indices = indices;
    parts.values = values.substr(0, 61 * 30000);
    CHECK(refusal_of(parts) == fmt::format("m.rb:{}: found the end of the file after 120000 of {} values; expected them all",
                                           lines_before + index_lines + 30001, entries.size()));
    parts.values = values.substr(0, 61 * 30000 + 28);
    CHECK(refusal_of(parts).starts_with(
        fmt::format("m.rb:{}: found the end of the file in '", lines_before + index_lines + 30001)));
}

}  // namespace workbench
