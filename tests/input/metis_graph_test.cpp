// METIS graph files.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "core/input/inline_matrix.hpp"
#include "input/input_files.hpp"

namespace workbench {
namespace {

CsrMatrix read_graph(const std::string& text) { return read_matrix(write("m.graph", text)); }
std::string refusal_of_graph(const std::string& text) { return refusal(write("m.graph", text)); }

// A path of three vertices with a triangle at its end.
const Rows small{". 1 . . .", "1 . 1 . .", ". 1 . 1 1", ". . 1 . 1", ". . 1 1 ."};

}  // namespace

TEST_CASE("METIS graphs: every flag of the format") {
    const CsrMatrix expected = csr_from_rows(small);
    CHECK(read_graph("5 5\n2\n1 3\n2 4 5\n3 5\n3 4\n") == expected);
    CHECK(read_graph("% c\n% d\n 5  5 0\n2\n% e\n3 1\n5 4 2\n3 5\r\n\t3 4") ==
          expected);  // comments, unsorted, no last newline
    CHECK(read_graph("5 5 000 0\n2\n1 3\n2 4 5\n3 5\n3 4\n\n \n% end\n\n") == expected);
    CHECK(read_graph("5 5 10\n7 2\n0 1 3\n9 2 4 5\n1 3 5\n1 3 4\n") == expected);
    CHECK(read_graph("5 5 010 2\n7 8 2\n0 0 1 3\n9 1 2 4 5\n1 1 3 5\n1 1 3 4\n") == expected);
    CHECK(read_graph("5 5 100\n7 2\n0 1 3\n9 2 4 5\n1 3 5\n1 3 4\n") == expected);
    CHECK(read_graph("5 5 110 1\n1 7 2\n1 0 1 3\n1 9 2 4 5\n1 1 3 5\n1 1 3 4\n") == expected);
    const CsrMatrix weighted = csr_from_rows(Rows{". 4 .", "4 . 6", ". 6 ."});
    CHECK(read_graph("3 2 1\n2 4\n1 4 3 6\n2 6\n") == weighted);
    CHECK(read_graph("3 2 001\n2 4\n3 6 1 4\n2 6\n") == weighted);
    CHECK(read_graph("3 2 111 2\n1 2 3 2 4\n1 2 3 1 4 3 6\n1 2 3 2 6\n") == weighted);
    // Empty lines are vertices without neighbours.
    CHECK(read_graph("4 1\n\n4\n\n2\n") == csr_from_rows(Rows{". . . .", ". . . 1", ". . . .", ". 1 . ."}));
    CHECK(read_graph("3 0\n\n\n\n") == csr_from_rows(Rows{". . .", ". . .", ". . ."}));
    CHECK(read_graph("0 0\n") == CsrMatrix{});
}

TEST_CASE("METIS graphs: every refusal says where, what was found and what was expected") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"3 2 2\n2\n1 3\n2\n", "m.graph:1: found the format '2'; expected up to three digits, each 0 or 1"},
        {"3 2 0001\n2\n1 3\n2\n", "m.graph:1: found the format '0001'; expected up to three digits, each 0 or 1"},
        {"3 2 1 2\n2 1\n1 1 3 1\n2 1\n",
         "m.graph:1: found 2 weights per vertex and a format without any; expected 1 as its second digit"},
        {"2147483648 2\n", "m.graph:1: found the number of vertices '2147483648'; expected an integer from 0 to 2147483647"},
        {"3 9223372036854775807\n",
         "m.graph:1: found the number of edges '9223372036854775807'; expected an integer from 0 to 4611686018427387903"},
        {"2147483647 2\n2\n1 3\n2\n",
         "m.graph:1: found 2147483647 rows and 2147483647 columns with 4 entries: too empty to read; expected at least one "
         "entry "
         "per 64 rows and columns above 2^24 of them"},
        {"3 2\n2\n1 4\n2\n", "m.graph:3: found the neighbour '4'; expected an integer from 1 to 3"},
        {"3 2\n2\n1 0\n2\n", "m.graph:3: found the neighbour '0'; expected an integer from 1 to 3"},
        {"3 2\n2\n1 x\n2\n", "m.graph:3: found the neighbour 'x'; expected an integer from 1 to 3"},
        {"3 2\n2\n1 18446744073709551617\n2\n",
         "m.graph:3: found the neighbour '18446744073709551617'; expected an integer from 1 to 3"},
        {"3 2\n2\n1 3\n3\n", "m.graph:4: found vertex 3 as its own neighbour; expected edges between two vertices"},
        {"3 2\n% c\n2\n3\n% d\n2 1\n",
         "m.graph:3: found 2 among the neighbours of vertex 1, but not 1 among those of vertex 2; expected each edge at both "
         "ends"},
        {"3 2\n\n1 3\n2 1\n",
         "m.graph:3: found 1 among the neighbours of vertex 2, but not 2 among those of vertex 1; expected each edge at both "
         "ends"},
        {"3 2 1\n2 4\n1 5 3 6\n2 6\n",
         "m.graph:2: found the weight 4 for the edge from vertex 1 to 2, and 5 in the other direction; expected the same "
         "weight"},
        {"3 2\n2\n1 1 3\n2\n",
         "m.graph:4: found more than 4 neighbours; expected 4, two for each edge that the first line announces"},
        {"3 3\n2 2\n1 1 3\n2\n", "m.graph:2: found a neighbour of vertex 1 twice; expected once"},
        {"3 3\n2\n1 3\n2\n",
         "m.graph:5: found 4 neighbours in total; expected 6, two for each edge that the first line announces"},
        {"4 2\n2\n1 3\n2\n", "m.graph:5: found the end of the file after 3 of 4 vertices; expected a line for each"},
        {"3 2\n2\n1 3\n2\n\n% c\n1\n", "m.graph:7: found a line after the last vertex; expected 3 vertices"},
        {"3 2\n2\n1 3\n2\n1\n", "m.graph:5: found a line after the last vertex; expected 3 vertices"},
        {"3 2 1\n2 4\n1 4 3\n2 6\n", "m.graph:3: found the end of the line; expected the edge weight"},
        {"3 2 1\n2 4\n1 4 3 0\n2 6\n", "m.graph:3: found the edge weight '0'; expected an integer from 1 to 9007199254740992"},
        {"3 2 1\n2 4\n1 4 3 9007199254740993\n2 6\n",
         "m.graph:3: found the edge weight '9007199254740993'; expected an integer from 1 to 9007199254740992"},
        {"3 2 10\n1 2\n-1 1 3\n1 2\n", "m.graph:3: found the vertex weight '-1'; expected an integer, 0 or greater"},
        {"3 1 100\n1 2\n1 1\n\n\n", "m.graph:4: found an empty line; expected the size or weights of a vertex"},
    };
    for (const auto& [text, expected] : cases) CHECK(refusal_of_graph(text) == expected);
    // Empty lines behind the last vertex are none of its lines.
    CHECK(read_matrix(write("m.graph", "2 1 10\n1 2\n1 1\n\n\n")).nonzeros() == 2);
}

TEST_CASE("METIS graphs: many lines, and a long one") {
    // A star: the line of its centre has megabytes, the lines of its rays fill many blocks.
    const int rays = 400000;
    std::string text = fmt::format("{} {}\n", rays + 1, rays);
    for (int ray = 2; ray <= rays + 1; ++ray) text += fmt::format("{} ", ray);
    text += "\n";
    for (int ray = 0; ray < rays; ++ray) text += ray % 1000 == 0 ? "% c\n1\n" : "1\n";
    const CsrMatrix star = read_graph(text);
    CHECK(star.rows == rays + 1);
    CHECK(star.row_length(0) == rays);
    CHECK(star.nonzeros() == 2 * rays);
    CHECK(star == transpose(star));

    std::string wrong = text;
    wrong.replace(wrong.size() - 2, 1, "2");  // the last ray
    CHECK(
        refusal_of_graph(wrong) ==
        fmt::format("m.graph:2: found {0} among the neighbours of vertex 1, but not 1 among those of vertex {0}; expected each "
                    "edge at both ends",
                    rays + 1));
}

TEST_CASE("METIS graphs: a damaged text is refused or is a symmetric matrix, byte by byte") {
    const std::string text = "% c\n5 5 011\n7 2 1\n7 1 1 3 2\n7 2 2 4 3 5 4\n7 3 3 5 5\n7 3 4 4 5\n";
    const CsrMatrix whole = read_graph(text);
    CHECK(whole.nonzeros() == 10);
    for (std::size_t place = 0; place < text.size(); ++place) {
        for (const char byte : {'\0', ' ', '\n', '9', '-', '%', '1', '\xff'}) {
            std::string damaged = text;
            damaged[place] = byte;
            const auto matrix = read_or_refuse(write("m.graph", damaged));
            if (!matrix) continue;
            CHECK_NOTHROW(check_csr(*matrix));
            CHECK(*matrix == transpose(*matrix));
        }
        if (place + 2 < text.size()) CHECK(refusal_of_graph(text.substr(0, place)) != "read");
    }
}

}  // namespace workbench
