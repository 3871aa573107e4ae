// Layout rows: the threads of a GPU that share a row. kernels_test.cpp checks what all layouts have in common, and
// csr16_test.cpp, ell_test.cpp, ellr_test.cpp and jds_test.cpp the arrays of its presets.
#include <doctest/doctest.h>

#include <map>
#include <string>

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
    for (const auto& [length, threads] : std::map<Index, Offset>{{9, 1}, {10, 4}, {24, 4}, {25, 8}, {400, 8}}) {
        CAPTURE(length);
        const auto reads = reads_of(*build(rows_entry(), stage_input(three_rows(length)), {{"rows", std::string("one")}}));
        CHECK(reads.rbegin()->first.first == 3 * threads - 1);
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

TEST_CASE("rows: threads share rows whose slots are neighbours, and are a power of two") {
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
    for (const std::string together : {"all", "slices", "jagged"}) {
        CHECK(
            refusal({{"rows", together}, {"threads_per_row", two}}).find("expected rows = \"one\" or order = \"row_major\"") !=
            std::string::npos);
    }
    CHECK(refusal({{"rows", std::string("one")}, {"threads_per_row", std::int64_t{6}}})
              .find("found 6; expected a power of two") != std::string::npos);
}

}  // namespace workbench
