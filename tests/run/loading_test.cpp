// Loading what recipes need on a GPU, before they are prepared.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "run/scripted_runs.hpp"

namespace workbench {
namespace {

CsrMatrix diagonal(Index rows, Index columns) {
    std::vector<Entry> entries;
    for (Index i = 0; i < std::min(rows, columns); ++i) entries.push_back({i, i, 2.0 + i});
    return csr_from_entries(rows, columns, entries);
}

double load(const CsrMatrix& matrix, const std::vector<Recipe>& recipes) {
    Machine machine;
    return load_kernels(matrix, scripted_catalogue(), {machine.host, &machine.gpu}, options_of(), recipes);
}

}  // namespace

TEST_SUITE("loading kernels") {
    TEST_CASE("a part of the matrix is multiplied on the GPU alone, and the seconds are those of all that") {
        const Recipe plain = scripted_recipe("[layout]\nuse = 'plain'\n");
        const Recipe refused = scripted_recipe("[layout]\nuse = 'refusing'\n");
        for (const auto& [rows, columns] : {std::pair<Index, Index>{5000, 5000}, {5000, 3}, {2, 9000}}) {
            price_everything();
            script().seconds["prepare gpu"] = {50};
            const double seconds = load(diagonal(rows, columns), {refused, plain});
            CHECK(script().count("run gpu") > 0);  // although another recipe does not suit the matrix
            CHECK(script().count("run fast") == 0);
            CHECK(seconds >= 50);
            CHECK(seconds == script().now - 1000);
        }
    }

    TEST_CASE("recipes that bring code are left out") {
        Recipe plain = scripted_recipe("[layout]\nuse = 'plain'\n");
        plain.code.push_back({"layout 'mine': source mine.hpp", {}});
        price_everything();
        (void)load(diagonal(50, 50), {plain});
        CHECK(script().count("run gpu") == 0);
    }

    TEST_CASE("a report says how long it took") {
        RunReport report;
        CHECK(to_text(report).find("loading kernels") == std::string::npos);
        report.process_seconds = 0.25;
        CHECK(to_text(report).find("  note: loading kernels took 250 ms once for this process, beside the times above\n") !=
              std::string::npos);
    }

    TEST_CASE("a recipe that the GPU is to prepare says why the host did") {
        price_everything();
        Machine machine;
        Runner runner(example(), scripted_catalogue(), {machine.host, &machine.gpu}, options_of());
        Recipe recipe = scripted_recipe("[layout]\nuse = 'plain'\n");
        const auto notes = [&] {
            RunReport report;
            runner.run(recipe, {}, report);
            return report.notes;
        };
        const auto is_reason = [](const std::string& note) { return note.starts_with("f64: prepared on the host: "); };
        CHECK(std::ranges::count_if(notes(), is_reason) == 0);
        recipe.prepare = "gpu";
        CHECK(std::ranges::count_if(notes(), is_reason) == 1);
    }
}

}  // namespace workbench
