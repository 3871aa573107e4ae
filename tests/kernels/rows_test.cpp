// Layout rows: the threads of a GPU that share a row. kernels_test.cpp checks what all layouts have in common, and
// csr16_test.cpp, ell_test.cpp, ellr_test.cpp and jds_test.cpp the arrays of its presets.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/reads.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// Three rows of this length.
CsrMatrix three_rows(Index length) {
    std::vector<Entry> entries;
    for (Index row = 0; row < 3; ++row) {
        for (Index k = 0; k < length; ++k) entries.push_back({row, row + k, 1});
    }
    return csr_from_entries(3, length + 2, entries);
}

/// The slots that the CUDA kernel reads, by thread and step.
std::map<std::pair<Offset, std::int64_t>, Offset> reads_of(const Layout<double>& layout) {
    std::map<std::pair<Offset, std::int64_t>, Offset> reads;
    for_each_read_of<double>(rows_entry(), "rows", layout, [&](const Read& read) {
        CHECK(reads.try_emplace({read.warp * 32 + read.lane, read.step}, read.index).second);
    });
    return reads;
}

}  // namespace

TEST_CASE("rows: threads of a row take its entries in turn") {
    constexpr Index length = 37;
    const CsrMatrix matrix = three_rows(length);
    for (const std::string columns : {"u32", "u16"}) {
        for (const Given& arrays : {Given{{"rows", std::string("one")}}, Given{{"order", std::string("row_major")}}}) {
            for (const std::int64_t threads : {1, 2, 4, 8, 16, 32}) {
                CAPTURE(threads);
                Given given = arrays;
                given.emplace("column_index", columns);
                given.emplace("threads_per_row", threads);
                const auto reads = reads_of(*build(rows_entry(), stage_input(matrix), given));
                CHECK(reads.size() == 3 * length);
                for (const auto& [read, slot] : reads) {
                    const auto [thread, step] = read;
                    CHECK(slot == thread / threads * length + step * threads + thread % threads);
                }
            }
        }
    }
}

TEST_CASE("rows: without threads_per_row, rows one by one have one, four or eight threads by their mean length") {
    const std::map<Index, Offset> threads_of_length{{9, 1}, {10, 4}, {24, 4}, {25, 8}, {400, 8}};
    for (const auto& each : threads_of_length) {
        CAPTURE(each.first);
        const auto reads = reads_of(*build(rows_entry(), stage_input(three_rows(each.first)), {{"rows", std::string("one")}}));
        CHECK(reads.rbegin()->first.first == 3 * each.second - 1);
    }
}

TEST_CASE("rows: with columns of 16 bits a row reaches over one column less if padding is marked") {
    const auto reaches = [](const std::string& together, Index columns) {
        const CsrMatrix matrix = csr_from_entries(1, columns, std::vector<Entry>{{0, 0, 1}, {0, columns - 1, 1}});
        return message_of<Unsuitable>([&] {
                   (void)build(rows_entry(), stage_input(matrix), {{"rows", together}, {"column_index", std::string("u16")}});
               }) == "nothing was thrown";
    };
    CHECK(reaches("one", 65536));
    CHECK_FALSE(reaches("one", 65537));
    for (const std::string together : {"all", "slices"}) {
        CHECK(reaches(together, 65535));
        CHECK_FALSE(reaches(together, 65536));
    }
}

TEST_CASE("rows: in slices, threads of a row take its slots in turn, or its entries if the lengths are stored") {
    // Rows of 5, 2 and 0 entries in one slice of 4 rows, 4 threads a row, so that a warp has 8 rows.
    std::vector<Entry> entries{{1, 1, 6}, {1, 4, 7}};
    for (Index column = 0; column < 5; ++column) entries.push_back({0, column, 1.0 + column});
    const CsrMatrix matrix = csr_from_entries(3, 5, entries);
    for (const std::string columns : {"u32", "u16"}) {
        for (const bool lengths : {false, true}) {
            const auto reads = reads_of(*build(rows_entry(), stage_input(matrix),
                                               {{"rows", std::string("slices")},
                                                {"slice_height", std::int64_t{4}},
                                                {"column_index", columns},
                                                {"row_lengths", lengths},
                                                {"threads_per_row", std::int64_t{4}}}));
            CHECK(reads.size() == (lengths ? 7 : 15));
            for (const auto& [read, slot] : reads) {
                const auto [thread, step] = read;
                CHECK(slot == (step * 4 + thread / 8) * 4 + thread % 8);
            }
        }
    }
}

TEST_CASE("rows: in slices, each thread of a block takes every 256th entry of a long row, and no thread reads padding") {
    constexpr Index length = 600;
    std::vector<Entry> entries{{1, 0, 1}, {2, 3, 1}};
    for (Index column = 0; column < length; ++column) entries.push_back({0, column, 1});
    const CsrMatrix matrix = csr_from_entries(3, length, entries);
    for (const std::string columns : {"u32", "u16"}) {
        for (const bool lengths : {false, true}) {
            const auto layout = build(rows_entry(), stage_input(matrix),
                                      {{"rows", std::string("slices")}, {"column_index", columns}, {"row_lengths", lengths}});
            std::map<std::pair<Offset, std::int64_t>, Offset> expected{{{256 + 1, 0}, 1}, {{256 + 2, 0}, 2}};
            for (Index k = 0; k < length; ++k) expected[{k % 256, k / 256}] = Offset{k} * 32;
            CHECK(reads_of(*layout) == expected);
        }
    }
}

TEST_CASE("rows: slices whose columns count from the first of their slice are those of sell") {
    std::vector<Entry> entries{{40, 7, 3}};
    for (Index row = 0; row < 40; ++row) {
        for (Index k = 0; k <= row % 5; ++k) entries.push_back({row, 300 + row + 2 * k, k < 2 ? 1.5 : 2.0 + k % 2});
    }
    for (const Index last : {400, 140000}) {
        entries.push_back({39, last, 1.5});
        const StagedMatrix staged = stage_input(csr_from_entries(41, 140001, entries));
        const std::vector<std::pair<std::string, std::string>> arrays{{"u32", "full"},  {"u16", "full"},  {"u16", "dictionary"},
                                                                      {"word", "auto"}, {"auto", "auto"}, {"auto", "full"}};
        for (const auto& each : arrays) {
            const std::string& columns = each.first;
            const std::string& values = each.second;
            CAPTURE(columns);
            CAPTURE(values);
            const Given given{{"column_index", columns}, {"values", values}, {"slice_height", std::string("auto")}};
            Given of_rows = given;
            of_rows.insert({{"rows", std::string("slices")}, {"columns_from", std::string("slice")}});
            const auto sell = build(sell_entry(), staged, given);
            const auto rows = build(rows_entry(), staged, of_rows);
            CHECK(rows->notes() == sell->notes());
            CHECK(rows->bytes_to_move() == sell->bytes_to_move());
            const std::vector<LayoutField> expected = sell->fields();
            const std::vector<LayoutField> found = rows->fields();
            REQUIRE(found.size() == expected.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                CHECK(found[i].name == expected[i].name);
                if (!found[i].is_array()) continue;
                REQUIRE(found[i].bytes() == expected[i].bytes());
                CHECK(std::memcmp(found[i].data, expected[i].data, found[i].bytes()) == 0);
            }
        }
    }
}

TEST_CASE("rows: columns count from the first of a slice in slices alone") {
    const auto refusal = [](const Given& given) {
        return message_of<ParameterError>([&] { (void)rows_entry().needs(Parameters(rows_entry().parameters, given)); });
    };
    const Given slices{{"rows", std::string("slices")}, {"columns_from", std::string("slice")}};
    CHECK(refusal(slices) == "nothing was thrown");
    CHECK(refusal({{"columns_from", std::string("slice")}}).find("has no slices; expected rows = \"slices\"") !=
          std::string::npos);
    for (const std::string columns : {"word", "auto"}) {
        CHECK(refusal({{"rows", std::string("slices")}, {"column_index", columns}, {"values", std::string("auto")}})
                  .find("expected columns_from = \"slice\"") != std::string::npos);
    }
    Given words = slices;
    words["column_index"] = std::string("word");
    CHECK(refusal(words).find("expected values = \"dictionary\" or \"auto\"") != std::string::npos);
}

TEST_CASE("rows: threads share rows of slices or whose slots are neighbours, and are a power of two") {
    const LayoutEntry entry = rows_entry();
    const auto refusal = [&](const Given& given) -> std::string {
        try {
            (void)entry.needs(Parameters(entry.parameters, given));
            return "";
        } catch (const ParameterError& error) {
            return error.what();
        }
    };
    const std::int64_t two = 2;
    CHECK(refusal({{"rows", std::string("one")}, {"threads_per_row", two}}).empty());
    CHECK(refusal({{"order", std::string("row_major")}, {"threads_per_row", two}}).empty());
    CHECK(refusal({{"threads_per_row", std::int64_t{1}}}).empty());
    CHECK(refusal({{"rows", std::string("slices")}, {"threads_per_row", two}}).empty());
    for (const std::string together : {"all", "jagged"}) {
        CHECK(refusal({{"rows", together}, {"threads_per_row", two}})
                  .find("expected rows = \"slices\", rows = \"one\" or order = \"row_major\"") != std::string::npos);
    }
    CHECK(refusal({{"rows", std::string("one")}, {"threads_per_row", std::int64_t{6}}})
              .find("found 6; expected a power of two") != std::string::npos);
}

}  // namespace workbench
