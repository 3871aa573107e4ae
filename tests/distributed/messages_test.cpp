// Messages between ranks, failures on which they agree, and the pieces of rows that they have.
#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "studies/distributed/collective.hpp"
#include "studies/distributed/messages.hpp"
#include "studies/distributed/rank_rows.hpp"
#include "support/rank_fibers.hpp"

namespace workbench {
namespace {

/// The failure that all of `size` ranks report when the ranks with a failure in the list fail with it.
RanksFailed agreed(const std::vector<std::optional<Failure>>& failures) {
    std::vector<RanksFailed> all;
    on_rank_fibers(static_cast<int>(failures.size()), [&](Ranks& ranks) {
        try {
            agree(ranks, failures[ranks.rank()]);
        } catch (const RanksFailed& failure) {
            all.push_back(failure);
        }
    });
    REQUIRE(all.size() == failures.size());
    for (const RanksFailed& failure : all) {
        CHECK(failure.exit_code == all.front().exit_code);
        CHECK(std::string(failure.what()) == all.front().what());
    }
    return all.front();
}

}  // namespace

TEST_CASE("distributed: ranks that fail differently end with the exit code of the first") {
    const Failure bad_input{ExitCode::bad_input, "a bad row"};
    const Failure bad_recipe{ExitCode::bad_recipe, "no such stage"};
    const RanksFailed failure = agreed({std::nullopt, bad_input, bad_recipe, bad_input, bad_input});
    CHECK(failure.exit_code == ExitCode::bad_input);
    CHECK(std::string(failure.what()) == "ranks 1, 3 to 4 of 5: a bad row\nrank 2 of 5: no such stage");
    CHECK(agreed({bad_recipe, bad_input}).exit_code == ExitCode::bad_recipe);
    CHECK(std::string(agreed({bad_input, bad_input}).what()) == "a bad row");
    on_rank_fibers(3, [](Ranks& ranks) { CHECK_NOTHROW(agree(ranks, std::nullopt)); });
}

TEST_CASE("distributed: the sizes of equal pieces differ by at most one") {
    CHECK(equal_pieces(10, 4) == std::vector<Index>{0, 2, 5, 7, 10});
    CHECK(equal_pieces(2, 3) == std::vector<Index>{0, 0, 1, 2});
    CHECK(equal_pieces(0, 2) == std::vector<Index>{0, 0, 0});
    CHECK(equal_piece(2'000'000'000, 3, 2).end == 2'000'000'000);
}

TEST_CASE("distributed: a message is read as it was written, and no further") {
    MessageWriter writer;
    writer.put(7);
    writer.put_all(std::span<const double>(std::vector<double>{1.5, -2}));
    MessageReader reader(writer.bytes());
    CHECK(reader.get<int>() == 7);
    CHECK(reader.get_all<double>() == std::vector<double>{1.5, -2});
    CHECK_THROWS_AS((void)reader.get<char>(), std::logic_error);
    MessageReader cut(std::span(writer.bytes()).first(writer.bytes().size() - 1));
    CHECK(cut.get<int>() == 7);
    CHECK_THROWS_AS((void)cut.get_all<double>(), std::logic_error);
}

}  // namespace workbench
