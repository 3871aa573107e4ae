// Every view of a choice in which every figure is another number: a space on a GPU in f32, and recipes on the host in f64.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "studies/choose/choose.hpp"
#include "support/golden.hpp"
#include "support/layouts/counted_report.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {
namespace {

Timed counted_timed(Counted& next, const std::string& name, const std::string& layout, const std::string& stage = {}) {
    const std::string text = fmt::format("[recipe]\nname = '{}'\n{}[layout]\nuse = '{}'\n", name,
                                         stage.empty() ? "" : fmt::format("[[stage]]\nuse = '{}'\n", stage), layout);
    Timed one;
    one.recipe = parse_recipe(text, fmt::format("folder/{}.toml", name), scripted_catalogue());
    Record& record = one.record;
    record.recipe = name;
    record.status = "measured";
    record.layout = layout;
    record.kernel = fmt::format("kernel{}", next.count());
    record.backend = "cuda";
    record.seconds = next.milliseconds();
    record.speedup = next.number();
    record.interval = Interval{next.number() - 2, next.number() + 2};
    record.verdict = "faster";
    record.break_even = next.number();
    one.bytes = next.count();
    one.price_seconds = next.seconds();
    one.predicted_seconds = next.milliseconds();
    one.warnings = {fmt::format("warning {}", next.count())};
    return one;
}

Choice counted_choice(bool gpu) {
    Counted next(gpu ? 101 : 501);
    Choice choice;
    choice.ranking = {counted_timed(next, "best", "plain", "reverse"), counted_timed(next, "second", "bad"),
                      counted_timed(next, "base", "csr"), counted_timed(next, "noise", "plain", "rotate"),
                      counted_timed(next, "slow", "bad", "rotate")};
    choice.stay = false;
    choice.ranking[0].confirmed = true;
    choice.ranking[1].tied = true;
    choice.ranking[1].logged = true;
    Timed& base = choice.ranking[2];
    base.is_baseline = true;
    base.recipe.file.clear();
    base.record.verdict = "baseline";
    base.record.speedup = 1;
    base.record.interval = Interval{1, 1};
    base.record.break_even.reset();
    choice.ranking[3].record.interval = Interval{0.5, 1.5};
    choice.ranking[3].record.verdict = "within noise";
    choice.ranking[4].record.interval = Interval{0.25, 0.75};
    choice.ranking[4].record.verdict = "slower";
    for (const std::size_t i : {3, 4}) choice.ranking[i].record.break_even.reset();
    choice.not_timed = {{"left out", "it moves too much; a hint", next.count(), next.milliseconds()},
                        {"also left out", "it moves too much", {}, next.milliseconds()},
                        {"refused", "it does not suit", {}, {}}};
    choice.baseline_kernel = "usual";
    choice.device = gpu ? "a GPU" : "a host";
    choice.bandwidth = next.number();
    choice.seconds = next.seconds();
    choice.reports = {counted_report(1001)};
    if (gpu) {
        choice.search = {.points = 1000U + static_cast<unsigned>(next.count()),
                         .priced = static_cast<std::uint64_t>(next.count()),
                         .pricing_seconds = next.seconds(),
                         .tried = static_cast<std::size_t>(next.count()),
                         .logged = static_cast<std::size_t>(next.count()),
                         .narrowed = static_cast<std::size_t>(next.count()),
                         .finished = false};
        choice.without = {{.stage = "reverse", .seconds = next.milliseconds(), .interval = Interval{1, 1000}}};
    } else {
        choice.search.tried = 1;
        choice.search.finished = true;
        choice.without = {
            {.stage = "reverse", .seconds = {}, .interval = {}, .legal = false, .reason = "it is needed; a hint"}};
    }
    return choice;
}

}  // namespace

TEST_CASE("counted figures of a choice in all its views") {
    for (const bool gpu : {true, false}) {
        Choice choice = counted_choice(gpu);
        Counted next(901);
        ChooseOptions options;
        options.precision = gpu ? Precision::f32 : Precision::f64;
        options.budget_seconds = next.seconds();
        if (!gpu) options.products = 1e6 * next.count();
        const MatrixReport matrix{"m.mtx", next.count(), next.count(), next.count(), next.milliseconds()};
        const auto compare = [&](const std::string& view, const std::string& text) {
            compare_with_golden(
                fmt::format("{}/tests/golden/counted/choose_{}_{}", WORKBENCH_SOURCE_DIR, gpu ? "gpu" : "host", view), text);
        };
        compare("text.txt", choice_text(choice, options, matrix));
        compare("recipe.toml", choice_recipe(choice, options));
        choice.reports.clear();
        compare("report.json", choice_json(choice, options, matrix, "winner.toml"));
        // The same if no recipe pays.
        choice.stay = true;
        std::swap(choice.ranking[0], choice.ranking[2]);
        choice.without.clear();
        choice.search.finished = gpu;
        choice.search.priced = choice.search.points;
        if (!gpu) choice.stopped = true;
        if (gpu) options.products = next.count();
        std::string text;
        if (!gpu) {
            for (std::size_t i : {1, 2}) choice.ranking[i].record.interval = Interval{0.5, 2};
        }
        compare("stay.txt",
                choice_text(choice, options, matrix) + choice_recipe(choice, options) + search_text(choice, options) + '\n');
    }
}

}  // namespace workbench
