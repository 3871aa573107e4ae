// What the library does inside, with planted kernels and layouts that no recipe of its callers can have.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/errors.hpp"
#include "frontends/library/applied_recipe.hpp"
#include "support/layouts/wrong_vectors.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

constexpr std::string_view csr = "csr";
constexpr std::string_view sell = "sell";

int builds = 0;  // of the layouts of counting_catalogue()

template <ValueType Value, const std::string_view& name>
std::unique_ptr<Layout<Value>> build_and_count(const StagedMatrix& staged, const Parameters& parameters) {
    ++builds;
    return catalogue().find_layout(name)->build.get<Value>()(staged, parameters);
}

/// The catalogue, in which csr and sell count how often they are built.
Catalogue counting_catalogue() {
    Catalogue all = catalogue();
    for (LayoutEntry& layout : all.layouts) {
        if (layout.name == csr) layout.build = {build_and_count<float, csr>, build_and_count<double, csr>};
        if (layout.name == sell) layout.build = {build_and_count<float, sell>, build_and_count<double, sell>};
    }
    return all;
}

}  // namespace

TEST_CASE_TEMPLATE("an operator refuses a kernel that is wrong for several vectors alone", Value, float, double) {
    const GeneratorEntry& laplace = *catalogue().find_generator("laplace2d");
    const CsrMatrix matrix = laplace.generate(Parameters(laplace.parameters, {{"nx", std::int64_t{8}}}));
    for (const WrongVectors fault : all_wrong_vectors) {
        const Catalogue faulty = catalogue_with(fault);
        const Recipe recipe = parse_recipe("[layout]\nuse = \"sell\"\n", "sell.toml", faulty);
        for (const bool verify : {true, false}) {
            const KokkosTurn turn;
            const spmv_workbench::Options options{.device = spmv_workbench::Device::host, .verify = verify};
            AppliedRecipe<Value> applied(recipe, matrix, options, {});  // one vector, which is right
            for (const int vectors : {2, 7}) {
                if (!verify) {
                    CHECK_NOTHROW((void)applied.several(vectors));
                    continue;
                }
                const int wrong = fault == WrongVectors::neighbour ? vectors - 1 : vectors;
                const std::string row = fault == WrongVectors::last_element ? ": row 63 " : ": row 0";
                const std::string found = message_of<BrokenKernel>([&] { (void)applied.several(vectors); });
                CHECK_MESSAGE(found.find(": vector " + std::to_string(wrong) + " of " + std::to_string(vectors) + row) !=
                                  std::string::npos,
                              found);
                CHECK_THROWS_AS((void)applied.several(vectors), BrokenKernel);  // again: it is not kept
            }
        }
    }
}

TEST_CASE("a recipe and a pattern are verified exactly once in a process") {
    const Catalogue counting = counting_catalogue();
    // Two layouts, of which one has integers for the exact verification, or one.
    const auto builds_of = [&]<ValueType Value>(const std::string& text, const CsrMatrix& matrix, const std::string& kernel,
                                                Value) {
        const Recipe recipe = parse_recipe(text, "counted.toml", counting);
        const KokkosTurn turn;
        builds = 0;
        const AppliedRecipe<Value> applied(recipe, matrix, {.device = spmv_workbench::Device::host, .kernel = kernel}, {});
        return builds;
    };
    const auto matrix = [](double first, Index columns = 5, Index last = 2) {
        return csr_from_entries(3, columns, std::vector<Entry>{{0, 0, first}, {0, 1, 3}, {1, last, 5}});
    };
    const auto for_csr = [&](const CsrMatrix& of, const std::string& kernel = "rows", const std::string& stages = "") {
        return builds_of(stages + "[layout]\nuse = 'csr'\n", of, kernel, 1.0);
    };
    CHECK(for_csr(matrix(2)) == 2);
    CHECK(for_csr(matrix(2)) == 1);
    CHECK(for_csr(matrix(7)) == 1);
    CHECK(for_csr(matrix(2, 6)) == 2);
    CHECK(for_csr(matrix(2, 5, 3)) == 2);
    CHECK(for_csr(matrix(2), "eigen") == 2);
    CHECK(for_csr(matrix(2), "rows", "[[stage]]\nuse = 'row_sort'\napply = 'rows'\n") == 2);
    CHECK(builds_of("[layout]\nuse = 'csr'\n", matrix(2), "rows", 1.0F) == 2);
    CHECK(for_csr(matrix(2)) == 1);

    const auto for_sell = [&](const std::string& values, double first) {
        return builds_of("[layout]\nuse = 'sell'\nvalues = '" + values + "'\n", matrix(first), "", 1.0);
    };
    CHECK(for_sell("auto", 2) == 2);
    CHECK(for_sell("auto", 2) == 1);
    CHECK(for_sell("auto", 7) == 2);  // the layout may depend on the values
    CHECK(for_sell("rounded_bf16", 2) == 2);
    CHECK(for_sell("rounded_bf16", 2) == 2);

    const auto for_shares = [&](double first) {
        return builds_of(
            "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 1\n[[layout]]\nuse = 'csr'\nshare = 'long'\n"
            "[[layout]]\nuse = 'sell'\nshare = 'short'\n",
            matrix(first), "", 1.0);
    };
    CHECK(for_shares(2) == 2 + 2);
    CHECK(for_shares(2) == 2);
    CHECK(for_shares(7) == 2 + 2);  // the shares may depend on the values
}

TEST_CASE("what a process pays once is part of the time of an operator") {
    const Recipe recipe = parse_recipe("[layout]\nuse = 'csr'\n", "csr.toml", catalogue());
    const KokkosTurn turn;
    AppliedRecipe<double> applied(recipe, csr_from_entries(2, 2, {}), {.device = spmv_workbench::Device::host}, {});
    const double alone = applied.facts().seconds;
    CHECK(applied.facts().process_seconds == 0);
    applied.add_process_seconds(2.5);
    CHECK(applied.facts().process_seconds == 2.5);
    CHECK(applied.facts().seconds == alone + 2.5);
}

}  // namespace workbench
