// Files in files: compressed, in archives, and damaged on the way.
#include <doctest/doctest.h>

#include "input/input_files.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/input/inline_matrix.hpp"

using namespace workbench;

TEST_CASE("files that are no files") {
    CHECK(refusal(folder() / "absent") == "absent: there is no such file; " + kinds);
    std::filesystem::create_directory(folder() / "sub");
    CHECK(refusal(folder() / "sub") == "sub: is a directory; " + kinds);
    CHECK(refusal("/dev/null") == "null: is not a regular file; " + kinds);
}

TEST_CASE("gzip: any number of members; cut short or damaged it is refused or read right") {
    const std::string text = real_general("3 4 5\n1 1 1\n1 3 2\n3 1 3\n3 2 0\n3 4 4\n");
    const CsrMatrix expected = csr_from_rows(example);
    const std::string whole = compressed(text);
    CHECK(read_matrix(write("named_otherwise.txt", whole)) == expected);
    CHECK(read_matrix(write("m.gz", compressed(text.substr(0, 60)) + compressed("") + compressed(text.substr(60)))) ==
          expected);

    CHECK(refusal(write("m.gz", whole.substr(0, 10))) == "m.gz:1: found a gzip stream that breaks off; expected a whole one");
    CHECK(refusal(write("m.gz", compressed(""))) == "m.gz: is empty; " + kinds);
    for (std::size_t length = 2; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK(refusal(write("m.gz", whole.substr(0, length))) != "read");
    }
    int refused = 0;
    for (std::size_t place = 2; place < whole.size(); ++place) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x11);
        const auto matrix = read_or_refuse(write("m.gz", damaged));
        CAPTURE(place);
        CHECK((!matrix || *matrix == expected));  // unharmed: the header's time and system
        if (!matrix) ++refused;
    }
    CHECK(refused >= static_cast<int>(whole.size()) - 12);
}
