// Expressions for the number of threads of a kernel beside a recipe.
#include <doctest/doctest.h>

#include <string>

#include "core/contract/errors.hpp"
#include "core/contract/kernel_source.hpp"

namespace workbench {
namespace {

const std::map<std::string, Offset> some_names{{"rows", 10}, {"slots", 7}, {"group_rows_size", 4}};

Offset count(const std::string& expression) { return thread_count(expression, some_names); }

std::string refusal(const std::string& expression) {
    try {
        return std::to_string(count(expression));
    } catch (const Unsuitable& reason) {
        return reason.what();
    }
}

TEST_CASE("thread_count evaluates expressions") {
    CHECK(count("rows") == 10);
    CHECK(count("512") == 512);
    CHECK(count("rows + slots * 2") == 24);
    CHECK(count("(rows + slots) * 2") == 34);
    CHECK(count("rows - slots - 1") == 2);
    CHECK(count("rows / slots * 100") == 100);
    CHECK(count("(rows + 31) / 32 * 32") == 32);
    CHECK(count("(rows - 11) / 2 + 1") == 0);  // / also rounds down for negative values
    CHECK(count(" group_rows_size-1 ") == 3);
    CHECK(count("4611686018427387904") == Offset{1} << 62);
}

TEST_CASE("errors in expressions are reported with their position") {
    CHECK(refusal("") == "'', character 1: the expression ends, expected a name or a number");
    CHECK(refusal("rows +") == "'rows +', character 7: the expression ends, expected a name or a number");
    CHECK(refusal("rows rows") == "'rows rows', character 6: found 'rows', expected an operator or the end");
    CHECK(refusal("(rows") == "'(rows', character 6: the expression ends, expected ')'");
    CHECK(refusal("rows % 2") == "'rows % 2', character 6: found '% 2', expected an operator or the end");
    CHECK(refusal("2x") == "'2x', character 1: found '2x', expected an integer");
    CHECK(refusal("row") == "unknown name 'row'; did you mean 'rows'? Expected one of group_rows_size, rows, slots");
    CHECK(refusal("rows / (slots - 7)") == "'rows / (slots - 7)' divides by zero");
    CHECK(refusal("slots - rows") == "'slots - rows' is negative: -3");
    CHECK(refusal("4611686018427387904 + 1") == "'4611686018427387904 + 1' exceeds 2^62");
    CHECK(refusal("4611686018427387904 * 4") == "'4611686018427387904 * 4' exceeds 2^62");
    CHECK(refusal("99999999999999999999999") == "'99999999999999999999999' exceeds 2^62");
    CHECK(refusal(std::string(100000, '(')).find("expected a name or a number") != std::string::npos);
}

TEST_CASE("launch_names lists the fields of a layout") {
    const std::int32_t height = 32;
    const std::vector<LayoutField> fields{
        {.name = "slice_height", .role = ArrayRole::number, .type = ElementType::i32, .data = &height},
        {.name = "slice_offsets", .type = ElementType::i64, .count = 5},
        {.name = "columns", .role = ArrayRole::column, .type = ElementType::u16, .count = 20},
        {.name = "values", .role = ArrayRole::value, .type = ElementType::f64, .count = 20},
        {.name = "more_values", .role = ArrayRole::value, .type = ElementType::f64, .count = 3}};
    CHECK(launch_names(fields, 6, 8) == std::map<std::string, Offset>{{"slice_height", 32},
                                                                      {"slice_offsets_size", 5},
                                                                      {"columns_size", 20},
                                                                      {"values_size", 20},
                                                                      {"more_values_size", 3},
                                                                      {"slices", 4},
                                                                      {"slots", 23},
                                                                      {"rows", 6},
                                                                      {"columns", 8}});
}

}  // namespace
}  // namespace workbench
