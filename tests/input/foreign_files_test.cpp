// Files that are not read: the message names what they are.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/input/inline_matrix.hpp"
#include "input/input_files.hpp"
#include "input/npz_files.hpp"

namespace workbench {
namespace {

std::string found_in(const std::string& bytes) {
    const std::string message = refusal(write("m", bytes));
    const auto begin = message.find("found ");
    return begin == std::string::npos ? message : message.substr(begin, message.find("; expected") - begin);
}

const std::string first_line_missing = "found the size and the entries of a Matrix Market file, but no banner";
const std::string edges = "found an edge list, but no banner";

}  // namespace

TEST_CASE("archives, compressions, pointers and formats of other programs are named") {
    using namespace std::string_literals;
    CHECK(refusal(write("m", "BZh91AY&SY....")) ==
          "m: found a bzip2 file; expected the unpacked file, or one that gzip, xz or zstd has compressed");
    CHECK(found_in("\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff"s) == "found an lzma file");
    CHECK(found_in("7z\xbc\xaf\x27\x1c\0\4"s) == "found a 7z archive");
    CHECK(found_in("\x1f\x9d\x90..."s) == "found a file of the program compress (.Z)");
    CHECK(found_in("\x04\x22\x4d\x18..."s) == "found an lz4 file");
    CHECK(found_in("Rar!\x1a\x07\1\0"s) == "found a rar archive");
    CHECK(found_in(compressed("BZh91AY&SY....")) == "found a bzip2 file");
    CHECK(refusal(write_npz("m.zip", {{"west0067", "words"}})) ==
          "m.zip: found a zip archive without format.npy; expected what scipy.sparse.save_npz writes");
    CHECK(refusal(write("m", "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12345\n")) ==
          "m: found a pointer of Git LFS, not the file; expected the file itself: git lfs pull");
    for (const char* page : {"<!DOCTYPE html>\n<html>", "\n  <html lang='en'>", "<!doctype HTML>"}) {
        CHECK(found_in(page) == "found an HTML page");
    }
    CHECK(found_in("\0\x12\x7b\x50\0\0\0\3"s) == "found a binary matrix of PETSc");
    CHECK(found_in(npy<double>("<f8", {1, 2})) == "found a .npy with one array");
    CHECK(found_in("{\"rows\": 3}") == "found JSON");
    CHECK(refusal(write("m", "words")).starts_with("m: starts with 'words'; expected a Matrix Market file"));
}

TEST_CASE("MATLAB files of version 4 are named, in each byte order") {
    const auto header = [](std::uint32_t type, const std::string& name) {
        return bytes_of(type, 4) + bytes_of(4, 4) + bytes_of(3, 4) + bytes_of(0, 4) + bytes_of(name.size(), 4) + name;
    };
    std::string swapped = header(1002, std::string("A\0", 2));
    for (std::size_t word = 0; word < 20; word += 4) std::reverse(swapped.begin() + word, swapped.begin() + word + 4);
    for (const std::string& start : {header(2, std::string("A\0", 2)), header(0, std::string("Problem\0", 8)), swapped}) {
        CHECK(refusal(write("m.mat", start + std::string(96, '\0'))) ==
              "m.mat: found a MATLAB file of version 4; expected version 5 to 7.3 (in MATLAB: save -v7)");
    }
    CHECK(found_in(header(2, "AB") + std::string(96, '\1')).find("version 4") == std::string::npos);
}

TEST_CASE("Matrix Market files without a banner are not judged as graphs") {
    CHECK(refusal(write("m", "4 4 10\n1 1 1.5\n2 2 1.5\n3 3 1.5\n4 4 1.5\n1 2 1\n2 1 1\n2 3 1\n3 2 1\n3 4 1\n4 3 1\n")) ==
          "m: " + first_line_missing +
              "; expected '%%MatrixMarket matrix coordinate real general' as its first line (or integer or pattern; symmetric, "
              "if "
              "only one triangle is stored)");
    CHECK(found_in("% printf format used %.4e\n        4         4         2\n 2 1 1.0e+00\n 1 1 4.0e+00\n") ==
          first_line_missing);
    CHECK(found_in("3 3 2\n1 2\n3 3\n") == first_line_missing);
    CHECK(found_in("3 5 3\r\n1 5 1\r\n\r\n3 3 2\r\n2 1 7\r\n") == first_line_missing);
    CHECK(found_in("3 3 4\n0 0 1.5\n2 2 1.5\n") == first_line_missing);
    CHECK(found_in("# a comment\n3 3 2\n1 2 0.5\n3 3 4\n") == first_line_missing);
    std::string large = "1000 1000 100000\n";
    for (int i = 0; i < 100000; ++i) large += std::to_string(i % 1000 + 1) + " " + std::to_string(i / 1000 + 1) + " 1\n";
    CHECK(found_in(large) == first_line_missing);
    CHECK(found_in(compressed(large)) == first_line_missing);
    CHECK(refusal(write("m", "\n%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n"))
              .starts_with("m:1: found ''; expected the banner '%%MatrixMarket"));
}

TEST_CASE("edge lists, DIMACS graphs and tables with commas are named") {
    CHECK(refusal(write("m", "# FromNodeId\tToNodeId\n0\t1\n0\t2\n1\t2\n")) ==
          "m: " + edges +
              "; expected a Matrix Market file: '%%MatrixMarket matrix coordinate pattern general', a line 'ROWS COLUMNS "
              "ENTRIES', and then the edges, whose vertices count from 1");
    CHECK(found_in("0 1\n0 2\n1 2\n") == edges);
    CHECK(found_in("1 2\n1 7\n5 2\n") == edges);
    CHECK(found_in("5 1\n5 2\n4 1\n4 2\n3 1\n3 2\n2 1\n") == edges);
    CHECK(found_in("1 2 0.5\n2 3 0.25\n3 1 1\n") == edges);
    CHECK(found_in("c comment\np sp 3 4\na 1 2 5\na 2 1 5\n") == "found a DIMACS graph");
    CHECK(found_in("p edge 3 2\ne 1 2\n") == "found a DIMACS graph");
    CHECK(found_in("1,2,0.5\n2,3,0.25\n") == "found a table of numbers with commas (CSV)");
    CHECK(found_in("1;2;0.5\n") == "found a table of numbers with commas (CSV)");
    CHECK(found_in("source,target,weight\n1,2,0.5\n") == "found a table of numbers with commas (CSV)");
    CHECK(found_in("\"first node\";\"second\"\n-1;2\n") == "found a table of numbers with commas (CSV)");
    CHECK(found_in("a text, with a comma\nand 1, 2\n").starts_with("m: starts with 'a text, with a comma'; expected"));
    CHECK(found_in("<?xml version='1.0'?>\n<Error>") == "found an XML document, perhaps the error of a server");
    // Graphs stay graphs, whether they are right or wrong.
    CHECK(read_matrix(write("m", "3 3\n2 3\n1 3\n1 2\n")) == csr_from_rows(Rows{". 1 1", "1 . 1", "1 1 ."}));
    CHECK(found_in("3 3\n2 3\n1 3\n1 3\n") == "found vertex 3 as its own neighbour");
    CHECK(found_in("3 2\n2\n1 3\n1\n").starts_with("found 1 among the neighbours of vertex 3"));
}

}  // namespace workbench
