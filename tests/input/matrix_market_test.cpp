// Matrix Market: accepted files, and the exact text of each refusal.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>

#include "core/contract/errors.hpp"
#include "core/input/inline_matrix.hpp"
#include "input/input_files.hpp"

namespace workbench {

TEST_CASE("Matrix Market: fields and symmetries") {
    CHECK(read_text(real_general("3 4 5\n1 1 1\n1 3 2\n3 1 3\n3 2 0\n3 4 4\n")) == csr_from_rows(example));
    CHECK(read_text("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 -7\n2 1 +3\n") ==
          csr_from_rows(Rows{". -7", "3 ."}));
    CHECK(read_text("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 2\n2 3\n") ==
          csr_from_rows(Rows{". 1 .", ". . 1"}));
    const CsrMatrix symmetric = csr_from_rows(Rows{"1 2 .", "2 . 3", ". 3 4"});
    CHECK(read_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 2\n3 2 3\n3 3 4\n") == symmetric);
    // Entries of the upper triangle imply their mirror images as well.
    CHECK(read_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n1 2 2\n2 3 3\n3 3 4\n") == symmetric);
    CHECK(read_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n1 2 2\n3 2 3\n3 3 4\n") == symmetric);
    CHECK(read_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n") == csr_from_rows(Rows{". 1", "1 ."}));
    CHECK(read_text("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 2\n3 1 -3\n") ==
          csr_from_rows(Rows{". -2 3", "2 . .", "-3 . ."}));
    CHECK(read_text("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 2\n1 2 5\n2 2 0\n") ==
          csr_from_rows(Rows{". 5", "-5 0"}));
    CHECK(read_text(real_general("0 0 0\n")) == CsrMatrix{});
    CHECK(read_text(real_general("2 3 0\n")) == csr_from_rows(Rows{". . .", ". . ."}));
}

TEST_CASE("integers: unsigned ones, and a note about those that f64 rounds") {
    const auto integers = [](const std::string& field, const std::string& value) {
        return fmt::format("%%MatrixMarket matrix coordinate {} general\n1 1 1\n1 1 {}\n", field, value);
    };
    CHECK(read_text(integers("unsigned-integer", "4294967295")).values[0] == 4294967295);
    CHECK(read_text("%%MatrixMarket matrix array Unsigned-Integer general\n2 2\n1\n2\n3\n4\n") ==
          csr_from_rows(Rows{"1 3", "2 4"}));
    for (const char* exact :
         {"9007199254740992", "-9007199254740994", "+009223372036854775808", "18446744073709551616", "-0"}) {
        CAPTURE(exact);
        CHECK(read_text(integers("integer", exact)).values[0] == std::stod(exact));
    }
    const auto note_of = [](const std::string& text) {
        std::string note = "none";
        (void)read_matrix(write("m.mtx", text), {.note = [&](const std::string& words) { note = words; }});
        return note == "none" ? note : note.substr(folder().string().size() + 1);
    };
    for (const char* rounded : {"-9007199254740993", "9223372036854775807", "18446744073709551615", "123456789012345678901"}) {
        CAPTURE(rounded);
        CHECK(read_text(integers("integer", rounded)).values[0] == std::stod(rounded));
        CHECK(note_of(integers("unsigned-integer", rounded)) ==
              "m.mtx:3: 1 integer above 2^53 that f64 does not contain is rounded, the first in this line");
        CHECK(note_of(integers("real", rounded)) == "none");
    }
    CHECK(note_of(integers("integer", "9007199254740994")) == "none");
    CHECK(
        note_of(
            "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 1\n\n1 2 9007199254740993\n2 2 9007199254740995\n") ==
        "m.mtx:5: 2 integers above 2^53 that f64 does not contain are rounded, the first in this line");
}

TEST_CASE("Matrix Market: variations between writers") {
    const CsrMatrix expected = csr_from_rows(Rows{"1 .", "3 4"});
    CHECK(read_text("%%matrixmarket MATRIX Coordinate\tREAL  General  \n2 2 3\n1 1 1\n2 1 3\n2 2 4\n") == expected);
    CHECK(read_text(real_general("% comment\n\n%\n  \t\n 2 2\t3 \n\n 1  1 1.0 \n% more\n\t2 1 3e0\n2 2 4\n\n% end\n")) ==
          expected);
    CHECK(read_text("%%MatrixMarket matrix coordinate real general\r\n% c\r\n2 2 3\r\n1 1 1\r\n2 1 3\r\n2 2 4\r\n") ==
          expected);
    CHECK(read_text(real_general("2 2 3\n2 2 4\n1 1 1\n2 1 3")) == expected);                      // unsorted, no last newline
    CHECK(read_text(real_general("2 2 5\n2 2 1.5\n1 1 1\n2 1 3\n2 2 1.5\n2 2 1\n")) == expected);  // duplicates
    CHECK(read_text(real_general("+2 +2 3\n+1 1 +1\n2 1 3\n2 2 4\n")) == expected);
    const CsrMatrix odd = read_text(real_general("1 3 3\n1 1 inf\n1 2 -0\n1 3 nan\n"));
    CHECK(std::isinf(odd.values[0]));
    CHECK(std::signbit(odd.values[1]));
    CHECK(std::isnan(odd.values[2]));
    // Duplicates are summed in the order of the file.
    CHECK(read_text(real_general("1 1 3\n1 1 1e16\n1 1 1\n1 1 -1e16\n")).values[0] == 0);
}

TEST_CASE("Matrix Market: every place of an array is an entry, even a zero") {
    const auto array = [](const std::string& kind, const std::string& rest) {
        return read_text("%%MatrixMarket matrix array " + kind + "\n" + rest);
    };
    CHECK(array("real general", "% c\n2 3\n1\n2.5\n\n0\n-4\n% d\n5\n6e0") == csr_from_rows(Rows{"1 0 5", "2.5 -4 6"}));
    CHECK(array("integer general", "1 2\n-7\n+8\n") == csr_from_rows(Rows{"-7 8"}));
    CHECK(array("real symmetric", "3 3\n1\n2\n3\n4\n5\n6\n") == csr_from_rows(Rows{"1 2 3", "2 4 5", "3 5 6"}));
    CHECK(array("real skew-symmetric", "3 3\n1\n2\n3\n") == csr_from_rows(Rows{". -1 -2", "1 . -3", "2 3 ."}));
    CHECK(array("real skew-symmetric", "1 1\n") == csr_from_rows(Rows{"."}));
    CHECK(array("real general", "0 0\n") == CsrMatrix{});
    CHECK(array("real general", "0 3\n").columns == 3);
    std::string column = "100000 1\n";
    for (int i = 0; i < 100000; ++i) column += fmt::format("{}\n", i + 0.5);  // several blocks
    const CsrMatrix long_column = array("real general", column);
    REQUIRE(long_column.nonzeros() == 100000);
    CHECK(long_column.values[99999] == 99999.5);
}

TEST_CASE("Matrix Market: line numbers count comments and blank lines in all blocks") {
    // Several megabytes of lines of all kinds; the entry on line i has column i.
    const int lines = 300000;
    const auto text_with = [lines](int bad_line, const std::string& bad) {
        int entries = 0;
        std::string body;
        for (int line = 3; line <= lines; ++line) {
            if (line == bad_line) {
                body += bad + "\n";
            } else if (line % 7 == 0) {
                body += line % 2 == 0 ? "\n" : "% a comment\n";
            } else {
                body += fmt::format("{} {} {}\r\n", line % 5 + 1, line, 1.0 / line);
                ++entries;
            }
        }
        return real_general(fmt::format("5 {} {}\n", lines, entries) + body);
    };
    const CsrMatrix matrix = read_text(text_with(0, ""));
    bool right = true;
    for (Index row = 0; row < 5; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Index line = matrix.column_indices[i] + 1;
            right = right && line % 7 != 0 && line % 5 == row && matrix.values[i] == 1.0 / line;
        }
    }
    CHECK(right);
    for (const int line : {3, 4, 20000, 60000, 150001, 299999, 300000}) {
        CAPTURE(line);
        CHECK(refusal_of_text(text_with(line, "1 1 x")) == fmt::format("m.mtx:{}: found 'x'; expected a number", line));
        // A surplus line is reported where the entries should have ended.
        const std::string surplus = refusal_of_text(text_with(line, "1 1 1"));
        CHECK(surplus.substr(0, surplus.find(';')) == "m.mtx:300000: found a further entry");
    }
    // The first of two errors is reported.
    std::string two = text_with(40000, "1 1 x");
    two.replace(two.rfind("1 "), 2, "y ");
    CHECK(refusal_of_text(two) == "m.mtx:40000: found 'x'; expected a number");
}

TEST_CASE("Matrix Market: every refusal says where, what was found and what was expected") {
    const std::string banner =
        "expected the banner '%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric'";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "m.mtx: is empty; " + kinds},
        {"\n", "m.mtx: starts with ''; " + kinds},
        {"%%Matrix\n", "m.mtx: starts with '%%Matrix'; " + kinds},
        {"%MatrixMarket matrix coordinate real general\n3 3 2\n",
         "m.mtx:1: found '%MatrixMarket matrix coordinate real gen...'; " + banner},
        {"\xef\xbb\xbf%%MatrixMarket matrix\n", "m.mtx:1: found '???%%MatrixMarket matrix'; " + banner},
        {"%%MatrixMarket vector coordinate real general\n",
         "m.mtx:1: found '%%MatrixMarket vector coordinate real ge...'; " + banner},
        {"%%MatrixMarket matrix array real general\n",
         "m.mtx:2: found the end of the file; expected the size line of an array: rows and columns"},
        {"%%MatrixMarket matrix array pattern general\n",
         "m.mtx:1: found an array of a pattern; expected an array of values, or coordinates of a pattern"},
        {"%%MatrixMarket matrix array complex general\n",
         "m.mtx:1: found a complex matrix, which is not supported; expected real, integer or pattern"},
        {"%%MatrixMarket matrix array real general\n2 2 4\n",
         "m.mtx:2: found '4' at the end of the line; expected the size line of an array: rows and columns"},
        {"%%MatrixMarket matrix array real general\n2 2\n1\n2 3\n",
         "m.mtx:4: found '3' at the end of the line; expected one value per line of an array"},
        {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
         "m.mtx:6: found the end of the file after 3 of 4 entries; expected as many as the size line says"},
        {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n\n4\n",
         "m.mtx:7: found a further entry; expected 3, as the size line says"},
        {"%%MatrixMarket matrix array integer general\n1 1\n1.5\n",
         "m.mtx:3: found the value '1.5'; expected an integer, because the banner says integer"},
        {"%%MatrixMarket matrix list real general\n", "m.mtx:1: found the format 'list'; expected coordinate or array"},
        {"%%MatrixMarket matrix coordinate complex hermitian\n",
         "m.mtx:1: found a complex matrix, which is not supported; expected real, integer or pattern"},
        {"%%MatrixMarket matrix coordinate real hermitian\n",
         "m.mtx:1: found a hermitian matrix, which is not supported; expected general, symmetric or skew-symmetric"},
        {"%%MatrixMarket matrix coordinate quaternion general\n",
         "m.mtx:1: found the field 'quaternion'; expected real, integer or pattern"},
        {"%%MatrixMarket matrix coordinate real\n3 3 1\n",
         "m.mtx:1: found the symmetry ''; expected general, symmetric or skew-symmetric"},
        {"%%MatrixMarket matrix coordinate real general more\n",
         "m.mtx:1: found 'more' at the end of the line; expected nothing after the symmetry"},
        {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
         "m.mtx:1: found a skew-symmetric pattern; expected values, because a pattern has no signs"},
        {real_general("% a\n"), "m.mtx:3: found the end of the file; expected the size line: rows, columns and entries"},
        {real_general("3 x 1\n"), "m.mtx:2: found the number of columns 'x'; expected an integer, 0 or greater"},
        {real_general("3 3 -1\n"), "m.mtx:2: found the number of entries '-1'; expected an integer, 0 or greater"},
        {real_general("3 3\n"), "m.mtx:2: found the end of the line; expected the number of entries"},
        {real_general("3 3 9223372036854775808\n"),
         "m.mtx:2: found the number of entries '9223372036854775808'; expected an integer, 0 or greater"},
        {real_general("3 3 1 1\n"),
         "m.mtx:2: found '1' at the end of the line; expected the size line: rows, columns and entries"},
        {real_general("2147483648 3 1\n1 1 1\n"),
         "m.mtx:2: found a matrix of 2147483648 x 3; expected at most 2147483647 rows and columns"},
        {real_general("0 3 1\n1 1 1\n"), "m.mtx:2: found a matrix of 0 x 3 with 1 entry; expected none"},
        {real_general("2147483647 3 1\n1 1 1\n"),
         "m.mtx:2: found 2147483647 rows and 3 columns with 1 entry: too empty to read; expected at least one entry per 64 "
         "rows and columns above 2^24 of them"},
        {"%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n1 1 1\n",
         "m.mtx:2: found 3 rows and 4 columns; expected a square matrix, because the banner says that it is symmetric"},
        {real_general("3 3 2\n0 1 1\n"), "m.mtx:3: found the row '0'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n4 1 1\n"), "m.mtx:3: found the row '4'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n-3 1 1\n"), "m.mtx:3: found the row '-3'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n1 1 1\n% c\n\n1 1.5 1\n"), "m.mtx:6: found the column '1.5'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n18446744073709551617 1 1\n"),
         "m.mtx:3: found the row '18446744073709551617'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n1\n"), "m.mtx:3: found the end of the line; expected the column"},
        {real_general("3 3 2\n1 1\n"), "m.mtx:3: found ''; expected a number"},
        {real_general("3 3 2\n1 1 4abc\n"), "m.mtx:3: found '4abc'; expected a number"},
        {real_general("3 3 2\n1 1 4 5\n"),
         "m.mtx:3: found '5' at the end of the line; expected only a row, a column and a value"},
        {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 5\n",
         "m.mtx:3: found '5' at the end of the line; expected only a row and a column, because the banner says pattern"},
        {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2.5\n",
         "m.mtx:3: found the value '2.5'; expected an integer, because the banner says integer"},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 3\n",
         "m.mtx:3: found a diagonal entry in a skew-symmetric matrix; expected entries off the diagonal"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 3\n1 2 1\n2 1 1\n",
         "m.mtx:6: found both triangles of a symmetric matrix; expected one triangle, or 'general' in the banner"},
        {real_general("3 3 2\n1 1 1\n"),
         "m.mtx:4: found the end of the file after 1 of 2 entries; expected as many as the size line says"},
        {real_general("3 3 1099511627776\n1 1 1\n"),
         "m.mtx:4: found the end of the file after 1 of 1099511627776 entries; expected as many as the size line says"},
        {real_general("3 3 1\n1 1 1\n\n1 2 9\n"), "m.mtx:5: found a further entry; expected 1, as the size line says"},
        {real_general("3 3 1\n" + std::string(3 << 20, '1')),
         "m.mtx:3: found a line of 1048576 characters or more; expected shorter ones"},
    };
    for (const auto& [text, expected] : cases) CHECK(refusal_of_text(text) == expected);
}

TEST_CASE("Matrix Market: indices that are beginnings of others, repeat, or have eight digits") {
    CHECK(read_text(real_general("12 120 7\n1 1 1\n1 12 2\n12 1 3\n12 12 4\n12 120 5\n1 120 6\n1\t1 7\n")) ==
          csr_from_entries(12, 120,
                           std::vector<Entry>{{0, 0, 8}, {0, 11, 2}, {0, 119, 6}, {11, 0, 3}, {11, 11, 4}, {11, 119, 5}}));
    CHECK(read_text("%%MatrixMarket matrix coordinate pattern general\n3 12345678 4\n2 1234567\n2 12345678\n3 12345678\n"
                    "3 1234567\n") ==
          csr_from_entries(3, 12345678,
                           std::vector<Entry>{{1, 1234566, 1}, {1, 12345677, 1}, {2, 1234566, 1}, {2, 12345677, 1}}));
}

TEST_CASE("long files are read correctly across buffers") {
    std::string text = real_general("% " + std::string(1000000, 'c') + "\n200000 1 200000\n");
    for (int i = 1; i <= 200000; ++i) text += fmt::format("{} 1 {}\n", i, i * 0.25);
    const CsrMatrix matrix = read_text(text);
    REQUIRE(matrix.nonzeros() == 200000);
    bool right = true;
    for (Index i = 0; i < 200000; ++i) right = right && matrix.values[i] == (i + 1) * 0.25 && matrix.row_length(i) == 1;
    CHECK(right);
    CHECK(read_matrix(write("long.mtx.gz", compressed(text))) == matrix);
}

TEST_CASE("Matrix Market: a damaged text is refused or is a matrix, byte by byte") {
    const std::string text =
        "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 5\n1 1 1.5\n2 1 -2\n3 3 4e1\n4 2 7\n4 4 1\n";
    for (std::size_t place = 0; place < text.size(); ++place) {
        for (const char byte : {'\0', ' ', '\n', '9', '-', '%', 'e', '\xff'}) {
            std::string damaged = text;
            damaged[place] = byte;
            const auto matrix = read_or_refuse(write("m.mtx", damaged));
            if (matrix) CHECK_NOTHROW(check_csr(*matrix));
        }
        CHECK((place + 2 > text.size() || refusal_of_text(text.substr(0, place)) != "read"));
    }
}

TEST_CASE("an index of eight digits is not taken for that of the line before") {
    const CsrMatrix matrix =
        read_matrix(write("m.mtx", real_general("1 12345678 3\n1 11111111 1\n1 11111112 2\n1 12111111 3\n")));
    CHECK(matrix.column_indices == std::vector<Index>{11111110, 11111111, 12111110});
}

}  // namespace workbench
