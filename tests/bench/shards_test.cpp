// The matrices of a shard, lines that other benches have written, and the points of a space.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "studies/bench/bench.hpp"
#include "studies/bench/matrices.hpp"
#include "studies/bench/results_file.hpp"
#include "support/golden.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of_shard(const std::vector<BenchMatrix>& all, const Shard& shard) {
    std::vector<std::string> names;
    for (const BenchMatrix& matrix : matrices_of_shard(all, shard)) names.push_back(matrix.name);
    return names;
}

std::uint64_t largest_gap(std::vector<std::uint64_t> numbers, std::uint64_t all) {
    std::sort(numbers.begin(), numbers.end());
    std::uint64_t gap = all - numbers.back();
    for (std::size_t i = 1; i < numbers.size(); ++i) gap = std::max(gap, numbers[i] - numbers[i - 1]);
    return gap;
}

}  // namespace

TEST_SUITE("shards of a bench") {
    TEST_CASE("each matrix belongs to exactly one shard, and shards differ by at most one matrix") {
        std::vector<BenchMatrix> all;
        for (int i = 0; i < 11; ++i) all.push_back({std::to_string(i), 0, {}});
        for (const std::size_t count : {1, 2, 3, 11, 16}) {
            std::multiset<std::string> seen;
            std::size_t least = all.size();
            std::size_t most = 0;
            for (std::size_t number = 1; number <= count; ++number) {
                const std::vector<std::string> part = names_of_shard(all, {number, count});
                seen.insert(part.begin(), part.end());
                least = std::min(least, part.size());
                most = std::max(most, part.size());
            }
            CHECK(seen.size() == all.size());
            CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == all.size());
            CHECK(most - least <= 1);
        }
        CHECK(names_of_shard(all, {3, 4}) == std::vector<std::string>{"2", "6", "10"});
    }

    TEST_CASE("shards are NUMBER/COUNT") {
        const std::optional<Shard> shard = read_shard("3/16");
        REQUIRE(shard.has_value());
        CHECK(shard->number == 3);
        CHECK(shard->count == 16);
        CHECK(read_shard("1/1").has_value());
        for (const char* text : {"", "3", "/", "3/", "/3", "0/4", "5/4", "-1/4", "1/0", "1 /4", "1/4 ", "1/4/2", "1.0/4", "a/b",
                                 "1/99999999999999999999"}) {
            CHECK_MESSAGE(!read_shard(text).has_value(), text);
        }
    }

    TEST_CASE("lines of other files count as present, but these files stay as they are") {
        const TemporaryFolder folder;
        const fs::path own = folder.path() / "own.jsonl";
        const fs::path other = folder.path() / "other.jsonl";
        const std::string content =
            "{\"key\":{\"a\":1},\"status\":\"measured\"}\n{\"key\":{\"a\":2},\"status\":\"failed\"}\n{\"key\":{\"a\":3},\"stat";
        std::ofstream(other, std::ios::binary) << content;
        for (const bool retry : {false, true}) {
            ResultsFile results(own, retry);
            results.count_lines_of(other);
            results.count_lines_of(own);
            CHECK(results.has(R"({"a":1})"));
            CHECK(results.has(R"({"a":2})") == !retry);
            CHECK(!results.has(R"({"a":3})"));
            CHECK(!results.was_truncated());
        }
        CHECK(file_text(other) == content);
        CHECK(file_text(own).empty());
        ResultsFile results(own, false);
        CHECK(message_of<RecipeError>([&] { results.count_lines_of(folder.path() / "none.jsonl"); }) ==
              "--done " + (folder.path() / "none.jsonl").string() +
                  ": cannot be read; expected a file of a bench, or a folder of such files (.jsonl)");
        std::ofstream(other, std::ios::binary) << "notes\n";
        CHECK(message_of<RecipeError>([&] { results.count_lines_of(other); }) ==
              other.string() + ":1:1: not a line of a bench; expected {\"key\":{...},...}; choose other files with --done");
    }

    TEST_CASE("points of a space are different and evenly spread, and more points contain fewer") {
        using Numbers = std::vector<std::uint64_t>;
        CHECK(spread_numbers(3, 20) == Numbers{0, 1, 2});
        CHECK(spread_numbers(5, 5) == Numbers{0, 1, 2, 3, 4});
        CHECK(spread_numbers(0, 20).empty());
        CHECK(spread_numbers(1000, 4) == Numbers{0, 618, 236, 854});
        for (const std::uint64_t all : {21ULL, 1000ULL, 1ULL << 40}) {
            const Numbers some = spread_numbers(all, 20);
            CHECK(std::set<std::uint64_t>(some.begin(), some.end()).size() == 20);
            CHECK(*std::max_element(some.begin(), some.end()) < all);
            CHECK(largest_gap(some, all) <= all / 8);
            const Numbers few = spread_numbers(all, 7);
            CHECK(std::equal(few.begin(), few.end(), some.begin()));
        }
        const Numbers nearly_all = spread_numbers(100, 99);
        CHECK(std::set<std::uint64_t>(nearly_all.begin(), nearly_all.end()).size() == 99);
        CHECK(spread_numbers(1ULL << 63, 3)[1] > 1ULL << 62);
    }
}

}  // namespace workbench
