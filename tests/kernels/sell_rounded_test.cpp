// Layout sell with values that are rounded because the recipe asks for it: arrays, products, refusals, and what a run compares
// with and reports.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/rounding.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/measure/measure.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

Given rounded_to(const std::string& type, std::int64_t height = 2) {
    return {{"slice_height", height}, {"values", "rounded_" + type}, {"column_index", std::string("u16")}};
}

/// The drawn matrix with tenths, which no binary format represents.
CsrMatrix tenths() {
    CsrMatrix matrix = drawn();
    for (double& value : matrix.values) value /= 10;
    return matrix;
}

CsrMatrix with_rounded_values(CsrMatrix matrix, Rounding rounding) {
    for (double& value : matrix.values) value = rounded(value, rounding);
    return matrix;
}

std::string refusal(double value, const std::string& type) {
    CsrMatrix matrix = drawn();
    matrix.values.front() = value;
    return message_of<Unsuitable>([&] { (void)build(sell_entry(), stage_input(matrix), rounded_to(type)); });
}

Recipe recipe_with(const std::string& layouts) {
    return parse_recipe("[recipe]\nname = 'R'\n[[stage]]\nuse = 'cuthill_mckee'\n" + layouts, "t.toml", catalogue());
}

}  // namespace

TEST_CASE("sell: rounded values are stored in two or four bytes, and multiplied in f64") {
    const CsrMatrix matrix = tenths();
    for (const Rounding rounding : {Rounding::f32, Rounding::bf16}) {
        for (const std::int64_t height : {2, 32}) {
            CAPTURE(name_of(rounding));
            const auto layout = build(sell_entry(), stage_input(matrix), rounded_to(std::string(name_of(rounding)), height));
            const CsrMatrix other = with_rounded_values(matrix, rounding);
            CHECK_NOTHROW(check_layout(*layout, other));
            if (height == 2) {
                const int bytes = rounding == Rounding::f32 ? 4 : 2;
                CHECK(layout->bytes_to_move() == 4 * 8 + 3 * 4 + 16 * (bytes + 2) + 8 * (6 + 6));
            }
            const std::vector<double> x{1, 3, 5, 7, 11, 13};
            std::vector<double> y(6, 5);
            const auto host = make_host_device();
            sell_entry().kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
            for (Index row = 0; row < 6; ++row) {
                double sum = 0;
                for (Offset k = other.row_offsets[row]; k < other.row_offsets[row + 1]; ++k) {
                    sum += other.values[k] * x[other.column_indices[k]];
                }
                CHECK(y[row] == sum);
            }
        }
    }
}

TEST_CASE("sell: rounding is refused where it makes infinities, for f32 and with columns of 32 bits") {
    CHECK(refusal(1e300, "f32") ==
          "values = \"rounded_f32\" requires values in the range of f32, but 1e+300 would become infinite");
    CHECK(refusal(3.4e38, "bf16") ==
          "values = \"rounded_bf16\" requires values in the range of bf16, but 3.4e+38 would become infinite");
    CHECK(refusal(1e-300, "bf16") == "nothing was thrown");
    const CsrMatrix matrix = drawn();
    CHECK(message_of<Unsuitable>([&] { (void)build<float>(sell_entry(), stage_input(matrix), rounded_to("bf16")); }) ==
          "values = \"rounded_bf16\" is for values of f64");
    CHECK_NOTHROW((void)build<float>(sell_entry(), stage_input(matrix), rounded_to("f32")));
    Given wide = rounded_to("bf16");
    wide["column_index"] = std::string("u32");
    const LayoutEntry entry = sell_entry();
    CHECK(message_of<ParameterError>([&] { (void)entry.needs(Parameters(entry.parameters, wide)); }) ==
          "values = \"rounded_bf16\" takes \"u16\" or \"auto\"");
}

TEST_CASE("auto never rounds") {
    const LayoutEntry entry = sell_entry();
    for (const char* index : {"u16", "u32", "auto"}) {
        const Parameters automatic(entry.parameters, {{"values", std::string("auto")}, {"column_index", std::string(index)}});
        CHECK(rounding_of(entry.settled(automatic, tenths(), Precision::f64, 1)) == Rounding::none);
    }
    const Parameters asked(entry.parameters, {{"values", std::string("rounded_bf16")}, {"column_index", std::string("auto")}});
    const Parameters settled = entry.settled(asked, tenths(), Precision::f64, 1);
    CHECK(rounding_of(settled) == Rounding::bf16);
    CHECK(settled.is_word("column_index", "u16"));
    CHECK(bytes_of_values(settled, Precision::f64) == 2);
    CHECK(rounding_of(Parameters(entry.parameters, rounded_to("f32")), Precision::f32) == Rounding::none);
}

TEST_CASE("rounded values are verified against the rounded matrix, and reported with the difference") {
    const auto host = make_host_device();
    const std::string plain = "[layout]\nuse = 'sell'\ncolumn_index = 'u16'\nvalues = 'rounded_bf16'\n";
    const std::string hybrid =
        "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 2\n"
        "[[layout]]\nshare = 'long'\nuse = 'sell'\ncolumn_index = 'u16'\nvalues = 'rounded_f32'\n"
        "[[layout]]\nshare = 'short'\nuse = 'sell'\ncolumn_index = 'auto'\nvalues = 'auto'\n";
    for (const std::string& layouts : {plain, hybrid}) {
        const Recipe recipe = recipe_with(layouts);
        const bool is_hybrid = recipe.is_hybrid();
        CHECK(recipe.name == (is_hybrid ? "~f32 R" : "~bf16 R"));
        CHECK(name_of_layouts(recipe) == (is_hybrid ? "~f32 sell + sell" : "~bf16 sell"));
        CHECK(resolved_recipe(recipe).find("name = \"R\"") != std::string::npos);
        const CsrMatrix matrix = tenths();
        StagedMatrix staged = stage_input(matrix);
        const Permutation order = Permutation::from_old_of_new({3, 1, 0, 5, 4, 2});
        staged.matrix = permute(matrix, order, order);
        staged.row_order = staged.column_order = order;
        if (is_hybrid)
            (void)pass(staged, *catalogue().find_stage("split"), {{"by", std::string("row_length")}, {"longer_than", 2_i}});
        const Oracle<double> oracle(matrix);
        const BuiltLayouts<double> built = build_layouts<double>(recipe, staged, {.exact = oracle.exact_problems()});
        REQUIRE(built.outcome.unsuitable == "");
        REQUIRE(built.outcome.rounding);
        CHECK(built.outcome.rounding->to == (is_hybrid ? Rounding::f32 : Rounding::bf16));
        CHECK(built.outcome.rounding->norm > (is_hybrid ? 1e-9 : 1e-4));
        CHECK(built.outcome.rounding->norm < (is_hybrid ? 1e-7 : 4e-3));
        const std::vector<const KernelEntry*> kernels(recipe.layouts.size(), &catalogue().find_layout("sell")->kernels.front());
        const auto space = std::make_shared<const ProductSpace>(staged.row_order, staged.column_order);
        Candidate<double> candidate = built.candidate(kernels, space, false);
        const Verifier<double> verifier{*host, &oracle};
        CHECK(verifier.verify(candidate).outcome.verified());
        candidate.rounded = nullptr;  // the verification then compares with the matrix itself
        CHECK(verifier.verify(candidate).outcome.reason.find("exceeds the bound") != std::string::npos);
        if (!is_hybrid) continue;
        REQUIRE(built.shares[0].outcome.rounding);
        CHECK_FALSE(built.shares[1].outcome.rounding);
        const CsrMatrix share = share_of_input(staged, *built.shares[0].share);
        const Oracle<double> of_share(oracle, share, built.exact_values, Rounding::f32);
        CHECK(Verifier<double>{*host, &of_share}.verify(built.candidate_of_share(0, kernels, space)).outcome.verified());
    }
}

}  // namespace workbench
