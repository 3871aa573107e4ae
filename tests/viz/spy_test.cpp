// The pattern in a terminal.
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/matrix/battery.hpp"
#include "viz/spy.hpp"

namespace workbench {
namespace {

StagedMatrix diagonal(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) entries.push_back({i, i, 1});
    return stage_input(csr_from_entries(size, size, entries));
}

}  // namespace

TEST_CASE("spy: a small matrix entry by entry") {
    const StagedMatrix staged = stage_input(csr_from_entries(2, 3, std::vector<Entry>{{0, 0, 1}, {1, 2, 1}}));
    CHECK(spy_text(staged, {20, 10}) == "┌───────┐\n│ ● · · │\n│ · · ● │\n└───────┘\n");
    CHECK(spy_text(staged, {20, 10, false}) == "+-------+\n| # . . |\n| . . # |\n+-------+\n");
    CHECK(spy_text(staged, {20, 10, true, TerminalColours::few}) ==
          "┌───────┐\n│ \x1b[34m● · · \x1b[0m│\n│ · · \x1b[34m● \x1b[0m│\n└───────┘\n");
}

TEST_CASE("spy: dots of Braille") {
    // 16 dots both ways: 8 characters, 4 lines; the diagonal alternates between two characters.
    CHECK(spy_text(diagonal(16), {10, 6}) ==
          "┌────────┐\n│⠑⢄      │\n│  ⠑⢄    │\n│    ⠑⢄  │\n│      ⠑⢄│\n└────────┘\na dot: 1 row x 1 column with a nonzero\n");
    CHECK(spy_text(diagonal(1600), {10, 6}).find("a dot: 100 rows x 100 columns") != std::string::npos);
    CHECK(spy_text(diagonal(16), {10, 6, false}).find("|::      |") != std::string::npos);
}

TEST_CASE("spy: the picture never exceeds the limits") {
    for (const NamedMatrix& named : battery()) {
        for (const int columns : {10, 11, 31, 80, 200}) {
            for (const int lines : {6, 7, 24, 60}) {
                const std::string text = spy_text(stage_input(named.matrix), {columns, lines, false});
                std::size_t begin = 0;
                int count = 0;
                for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
                    const bool note = text.substr(begin).starts_with("a dot");
                    if (!note) {
                        CHECK(end - begin <= static_cast<std::size_t>(columns));
                        ++count;
                    }
                    begin = end + 1;
                }
                CHECK(count <= lines);
            }
        }
    }
    // Entry by entry, three columns take 9 characters with the frame, and four columns 11, which is one too many.
    CHECK(spy_text(diagonal(3), {10, 8, false}).find("+-------+\n") == 0);
    CHECK(spy_text(diagonal(4), {10, 8, false}).find('\n') <= 10);
    CHECK_THROWS_AS((void)spy_text(diagonal(4), {9, 20}), std::invalid_argument);
    CHECK_THROWS_AS((void)spy_text(diagonal(4), {20, 5}), std::invalid_argument);
}

}  // namespace workbench
