// Layout sell with values in fewer bytes (kernels/common/storage/coded_values.hpp): arrays, choices by `auto`, refusals.
// kernels_test.cpp checks what all layouts have in common, with the recipes sell_coded_* of tests/layouts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/distinct_values.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using Notes = std::vector<std::pair<std::string, std::string>>;

Given coded(const std::string& values, const std::string& column_index, std::int64_t height = 2) {
    return {{"slice_height", height}, {"values", values}, {"column_index", column_index}};
}

/// The drawn matrix with these values instead of 1 to 13, in turn.
CsrMatrix drawn_with(const std::vector<double>& values) {
    CsrMatrix matrix = drawn();
    for (std::size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] = values[i % values.size()];
    return matrix;
}

/// A row of as many different values, which f32 represents exactly or not.
CsrMatrix row_of_values(Index count, double step) {
    std::vector<Entry> entries;
    for (Index i = 0; i < count; ++i) entries.push_back({0, i, 1 + i * step});
    return csr_from_entries(1, count, entries);
}

template <typename Sell>
const Sell& stored_as(const Layout<double>& layout) {
    const auto& stored = dynamic_cast<const AnyRowsLayout<double>&>(layout).stored;
    REQUIRE(std::holds_alternative<Sell>(stored));
    return std::get<Sell>(stored);
}

std::string refusal(const CsrMatrix& matrix, const Given& given) {
    return message_of<Unsuitable>([&] { (void)build(sell_entry(), stage_input(matrix), given); });
}

std::string contradiction(const Given& given) {
    const LayoutEntry entry = sell_entry();
    return message_of<ParameterError>([&] { (void)entry.needs(Parameters(entry.parameters, given)); });
}

/// What "auto" means for a matrix: "dictionary word".
std::string choice_for(const CsrMatrix& matrix, const std::string& column_index, Precision precision = Precision::f64) {
    const LayoutEntry entry = sell_entry();
    const Parameters settled = entry.settled(Parameters(entry.parameters, coded("auto", column_index)), matrix, precision, 1);
    return settled.text("values") + " " + settled.text("column_index");
}

}  // namespace

TEST_CASE("sell: words hold the column in their lower bits and the code of the value above") {
    const CsrMatrix matrix = drawn_with({-1, 4, 0.5});
    const auto layout = build(sell_entry(), stage_input(matrix), coded("dictionary", "word"));
    const auto& sell = stored_as<Sell<Coded<double, std::uint32_t>, InWords, HostArray>>(*layout);
    // Ascending by bits, behind the 0 of padding; the widest slice reaches over columns 0 to 5.
    CHECK(sell.values.dictionary == std::vector<double>{0, 0.5, 4, -1});
    CHECK(bytes_of_dictionary(sell.values) == 4 * sizeof(double));
    CHECK(sell.values.column_bits == 3);
    CHECK(sell.first_columns == std::vector<Index>{0, 2, 0});
    const auto word = [](std::uint32_t code, std::uint32_t column) { return code << 3 | column; };
    CHECK(sell.values.codes == std::vector<std::uint32_t>{word(3, 0), word(3, 1), word(2, 1), word(2, 2), word(1, 2),
                                                          word(1, 4), word(3, 0), word(2, 1), word(0, 0), word(1, 3),
                                                          word(3, 0), word(3, 5), word(2, 4), word(0, 5), word(1, 5),
                                                          word(0, 5)});
    CHECK(layout->bytes_to_move() == 4 * 8 + 3 * 4 + 16 * 4 + 4 * 8 + 8 * (6 + 6));
    CHECK(layout->notes() == Notes{{"values", "4 in the dictionary, in words with 3 bits for the column"}});
    CHECK_NOTHROW(check_layout(*layout, matrix));
}

TEST_CASE("sell: words without bits for the column, if each slice reads one") {
    const CsrMatrix matrix = csr_from_entries(4, 4, std::vector<Entry>{{0, 1, 5}, {1, 1, 6}, {2, 3, 5}, {3, 3, 5}});
    const auto layout = build(sell_entry(), stage_input(matrix), coded("dictionary", "word"));
    CHECK(layout->notes() == Notes{{"values", "2 in the dictionary, in words with 0 bits for the column"}});
    CHECK_NOTHROW(check_layout(*layout, matrix));
}

TEST_CASE("sell: codes of 8 bits beside columns of 16") {
    const CsrMatrix matrix = drawn_with({7, 0.0, -0.0});
    const auto layout = build(sell_entry(), stage_input(matrix), coded("dictionary", "u16"));
    const auto& sell = stored_as<Sell<Coded<double, std::uint8_t>, std::uint16_t, HostArray>>(*layout);
    REQUIRE(sell.values.dictionary.size() == 3);  // the stored 0 is that of padding
    CHECK(std::signbit(sell.values.dictionary[2]));
    CHECK(sell.values.codes == std::vector<std::uint8_t>{1, 1, 0, 0, 2, 2, 1, 0, 0, 2, 1, 1, 0, 0, 2, 0});
    CHECK(layout->bytes_to_move() == 4 * 8 + 3 * 4 + 16 * (1 + 2) + 3 * 8 + 8 * (6 + 6));
    CHECK(layout->notes().back() == Notes::value_type{"values", "3 in the dictionary, in codes of 8 bits"});
}

TEST_CASE("sell: equal values take no memory, and columns mark padding") {
    const CsrMatrix matrix = drawn_with({2.5});
    const auto layout = build(sell_entry(), stage_input(matrix), coded("one", "u16"));
    const auto& sell = stored_as<Sell<Constant<double>, std::uint16_t, HostArray>>(*layout);
    CHECK(sell.values.value == 2.5);
    constexpr std::uint16_t none = padding_column;
    CHECK(sell.column_indices == std::vector<std::uint16_t>{0, 1, 1, 2, 2, 4, 0, 1, none, 3, 0, 5, 4, none, 5, none});
    CHECK(layout->bytes_to_move() == 4 * 8 + 3 * 4 + 16 * 2 + 8 * (6 + 6));
    CHECK(layout->notes().back() == Notes::value_type{"values", "all are 2.5; none is stored"});
    const auto wide = build(sell_entry(), stage_input(matrix), coded("one", "u32"));
    CHECK(stored_as<Sell<Constant<double>, Index, HostArray>>(*wide).column_indices[8] == -1);
    for (const auto* const one : {layout.get(), wide.get()}) CHECK_NOTHROW(check_layout(*one, matrix));
}

TEST_CASE(
    "sell: for equal values and values in full, auto takes columns of 32 bits if more than a quarter of the slices is wide") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 8; ++row) entries.push_back({row, row, 3});
    entries.push_back({0, 70000, 3});
    const auto index_of = [&](const char* values) {
        const CsrMatrix matrix = csr_from_entries(8, 80000, entries);
        const auto layout = build(sell_entry(), stage_input(matrix), coded(values, "auto"));
        CHECK_NOTHROW(check_layout(*layout, matrix));
        return dynamic_cast<const AnyRowsLayout<double>&>(*layout).stored.index();
    };
    CHECK(index_of("auto") == 3);  // one of four slices
    CHECK(index_of("full") == 1);
    entries.push_back({2, 70000, 3});
    CHECK(index_of("auto") == 2);
    CHECK(index_of("full") == 0);
}

TEST_CASE("sell: the last column that 16 bits count marks padding; a slice that reaches it has 32 bits") {
    // Two slices of 2 rows that reach over 65535 and 65536 columns, with a slot of padding each.
    const std::vector<Entry> entries{{0, 0, 3}, {0, 7, 3}, {1, 65534, 3}, {2, 0, 3}, {3, 9, 3}, {3, 65535, 3}};
    const CsrMatrix matrix = csr_from_entries(4, 70000, entries);
    const auto layout = build(sell_entry(), stage_input(matrix), coded("one", "u16"));
    const auto& sell = stored_as<Sell<Constant<double>, std::uint16_t, HostArray>>(*layout);
    CHECK(sell.first_columns == std::vector<Index>{0, -1});
    CHECK(sell.column_indices == std::vector<std::uint16_t>{0, 65534, 7, 65535, 0, 9, 65535, 65535});
    CHECK(sell.high_columns == std::vector<std::uint16_t>{0, 0, 65535, 0});
    CHECK_NOTHROW(check_layout(*layout, matrix));
    const auto host = make_host_device();
    std::vector<double> x(70000, std::numeric_limits<double>::quiet_NaN());  // padding reads no x
    for (const Index column : {0, 7, 9, 65534, 65535}) x[column] = column;
    std::vector<double> y(4, 5);
    sell_entry().kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
    CHECK(y == std::vector<double>{21, 3 * 65534., 0, 3 * (9 + 65535.)});
}

TEST_CASE("sell: f32 stores values of f64 that it represents exactly") {
    const CsrMatrix matrix = drawn_with({0.5, 3});
    const auto layout = build(sell_entry(), stage_input(matrix), coded("f32", "u16"));
    CHECK(stored_as<Sell<float, std::uint16_t, HostArray>>(*layout).values[0] == 0.5F);
    CHECK(layout->bytes_to_move() == 4 * 8 + 3 * 4 + 16 * (4 + 2) + 8 * (6 + 6));
    CHECK_NOTHROW(check_layout(*layout, matrix));
    CHECK(refusal(drawn_with({1, 0.1}), coded("f32", "u16")) ==
          "values = \"f32\" requires values that f32 represents exactly, but 0.1 would become 0.10000000149011612");
}

TEST_CASE("sell: what does not fit a coding is refused with the figure") {
    CHECK(refusal(drawn(), coded("one", "u32")) == "values = \"one\" requires that all values are equal, but 1 and 2 differ");
    CHECK(refusal(row_of_values(256, 1), coded("dictionary", "u16")) ==
          "values = \"dictionary\" requires at most 255 distinct values here, and there are more");
    CHECK(refusal(row_of_values(255, 1), coded("dictionary", "u16")) == "nothing was thrown");
    // The choice of `auto` has the same limit; f32 represents few of these values.
    CHECK(choice_for(row_of_values(255, 0.1), "u16") == "dictionary u16");
    CHECK(choice_for(row_of_values(256, 0.1), "u16") == "full u16");
    CHECK(refusal(row_of_values(1024, 1), coded("dictionary", "word")) ==
          "values = \"dictionary\" requires at most 1023 distinct values here, and there are more");
    CHECK(refusal(csr_from_entries(3, 3, {}), coded("dictionary", "word")) == "nothing was thrown");
    std::vector<Entry> entries;
    for (Index i = 0; i < 40; ++i) entries.push_back({0, i, 1.0 + i});
    entries.push_back({0, (1 << 26) - 1, 41.0});
    CHECK(refusal(csr_from_entries(1, 1 << 26, entries), coded("dictionary", "word", 1)) == "nothing was thrown");
    entries.push_back({0, 1 << 26, 42.0});
    CHECK(refusal(csr_from_entries(1, (1 << 26) + 1, entries), coded("dictionary", "word", 1)) ==
          "column_index = \"word\" has 32 bits, but the widest slice needs 27 for its columns and 42 values of the dictionary "
          "need 6: an "
          "order of less bandwidth (cuthill_mckee) or u16");
}

TEST_CASE("sell: codings that contradict other parameters are refused") {
    CHECK(
        contradiction(coded("full", "word")) ==
        "\"word\" holds a column and the code of a value, but values = \"full\"; expected values = \"dictionary\" or \"auto\"");
    CHECK(contradiction(coded("dictionary", "u32")) == "values = \"dictionary\" takes \"u16\", \"word\" or \"auto\"");
    CHECK(contradiction(coded("f32", "u32")) == "values = \"f32\" takes \"u16\" or \"auto\"");
    // Columns that are not named suit the values.
    const auto columns_for = [&](const Given& given) {
        const Parameters parameters(sell_entry().parameters, given);
        CHECK_NOTHROW((void)sell_entry().needs(parameters));
        return parameters.text("column_index");
    };
    CHECK(columns_for({}) == "u32");
    for (const std::string values : {"full", "one", "auto"}) CHECK(columns_for({{"values", values}}) == "u32");
    for (const std::string values : {"dictionary", "f32", "rounded_f32", "rounded_bf16"}) {
        CHECK(columns_for({{"values", values}}) == "auto");
    }
}

TEST_CASE("sell: auto takes the coding of fewest bytes that fits") {
    CHECK(choice_for(drawn_with({3}), "auto") == "one auto");
    CHECK(choice_for(drawn_with({3}), "u32") == "one u32");
    CHECK(choice_for(drawn_with({3}), "word") == "one u16");
    CHECK(choice_for(row_of_values(8, 0.1), "auto") == "dictionary word");
    CHECK(choice_for(row_of_values(8, 0.1), "word") == "dictionary word");
    CHECK(choice_for(drawn_with({3, 4}), "u16") == "dictionary u16");
    CHECK(choice_for(drawn_with({3, 4}), "u32") == "full u32");
    CHECK(choice_for(row_of_values(256, 1), "u16") == "f32 u16");
    CHECK(choice_for(row_of_values(256, 0.1), "u16") == "full u16");
    CHECK(choice_for(row_of_values(256, 0.1), "auto") == "dictionary word");
    CHECK(choice_for(row_of_values(1024, 1), "auto") == "f32 u16");
    CHECK(choice_for(row_of_values(1024, 1), "auto", Precision::f32) == "full auto");
    CHECK(choice_for(row_of_values(1024, 1e-12), "auto", Precision::f32) == "one auto");  // equal in f32
    CHECK(choice_for(csr_from_entries(3, 3, {}), "auto") == "one auto");
}

TEST_CASE("distinct values are compared by their bits and counted up to a limit") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> values{1, -0.0, nan, 0, 1, nan};
    const auto distinct = distinct_values<double>(values, 4);
    REQUIRE(distinct);
    CHECK(distinct->size() == 4);
    CHECK_FALSE(distinct_values<double>(values, 3));
    // Pieces that are counted apart: each has one value, all together have one more than the limit.
    std::vector<double> pieces;
    for (int piece = 0; piece < 4; ++piece) pieces.insert(pieces.end(), 1 << 16, piece);
    CHECK(distinct_values<double>(pieces, 4)->size() == 4);
    CHECK_FALSE(distinct_values<double>(pieces, 3));
    CHECK(is_exact_in_f32(0.5));
    CHECK_FALSE(is_exact_in_f32(1e300));
}

}  // namespace workbench
