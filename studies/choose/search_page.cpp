#include "studies/choose/search_page.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/recipe/text.hpp"
#include "studies/bench/ranking.hpp"
#include "viz/encode.hpp"
#include "viz/palette.hpp"

namespace workbench {
namespace {

constexpr double to_microseconds = 1e6;
constexpr double to_milliseconds = 1e3;

constexpr std::string_view style_sheet = R"(
body { font: 15px/1.5 "DejaVu Sans", sans-serif; color: #1c2430; max-width: 1000px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 22px; } h2 { font-size: 18px; margin-top: 2em; }
p.muted, .muted { color: #667080; } code { font-size: 13px; }
details { margin: 2px 0 2px 1.2em; } summary { cursor: pointer; }
summary b { font-weight: 600; } .best > summary { background: #e8f0fb; }
.bar { display: inline-block; height: 9px; background: oklch(0.52 0.13 var(--hue-value)); vertical-align: middle; }
.scale { display: inline-block; width: 120px; margin-right: 8px; }
table { border-collapse: collapse; margin: 4px 0 8px 1.2em; font-size: 13px; }
td, th { padding: 1px 10px; text-align: right; border-bottom: 1px solid #e3e7ec; } td:first-child, th:first-child { text-align: left; }
svg { max-width: 100%; height: auto; }
)";

std::string chain_of(const Timed& one) {
    std::string text;
    for (const RecipeStage& stage : one.recipe.stages) text += (text.empty() ? "" : " → ") + stage.entry->name;
    return text.empty() ? "order of the input" : text;
}

/// Recipes that share a beginning, the fastest first.
using Branch = std::vector<const Timed*>;

/// The branches by a name, the one with the fastest recipe first.
template <typename NameOf>
std::vector<std::pair<std::string, Branch>> branches_of(const Branch& all, NameOf name_of) {
    std::vector<std::pair<std::string, Branch>> branches;
    for (const Timed* one : all) {
        const std::string name = name_of(*one);
        auto known = std::find_if(branches.begin(), branches.end(), [&](const auto& branch) { return branch.first == name; });
        if (known == branches.end()) known = branches.insert(branches.end(), {name, {}});
        known->second.push_back(one);
    }
    return branches;
}

class Tree {
public:
    explicit Tree(const Choice& choice) : first_(choice.ranking.front()) {
        for (const Timed& one : choice.ranking) all_.push_back(&one);
        std::stable_sort(all_.begin(), all_.end(),
                         [](const Timed* a, const Timed* b) { return a->record.seconds < b->record.seconds; });
        best_ = all_.front()->record.seconds;
    }

    [[nodiscard]] std::string html() const {
        std::string text;
        for (const auto& [chain, of_chain] : branches_of(all_, chain_of)) {
            text += opened(chain, of_chain);
            for (const auto& [layouts, points] :
                 branches_of(of_chain, [](const Timed& one) { return name_of_layouts(one.recipe); })) {
                text += opened(layouts, points) + table_of(points) + "</details>\n";
            }
            text += "</details>\n";
        }
        return text;
    }

private:
    [[nodiscard]] bool leads_to_choice(const Branch& branch) const {
        return std::find(branch.begin(), branch.end(), &first_) != branch.end();
    }

    [[nodiscard]] std::string opened(const std::string& name, const Branch& branch) const {
        const bool chosen = leads_to_choice(branch);
        const double best = branch.front()->record.seconds;
        return fmt::format(
            "<details{}><summary><span class=\"scale\"><span class=\"bar\" style=\"width:{:.0f}px\"></span></span><b>{}</b> "
            "{} <span class=\"muted\">{} timed</span></summary>\n",
            chosen ? " open class=\"best\"" : "", 120 * best_ / best, escaped(name), duration(best), branch.size());
    }

    [[nodiscard]] std::string table_of(const Branch& points) const {
        std::string text =
            "<table><tr><th>recipe</th><th>time</th><th>predicted</th><th>speed-up</th><th>price</th><th>pays "
            "after</th></tr>\n";
        for (const Timed* one : points) {
            const Record& record = one->record;
            const bool is_baseline = record.verdict == "baseline";
            text += fmt::format(
                "<tr><td>{}{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                one == &first_ ? "<b>" : "", escaped(one->recipe.name), one == &first_ ? "</b>" : "", duration(record.seconds),
                one->predicted_seconds > 0 ? duration(one->predicted_seconds) : std::string("-"),
                record.speedup ? ratio_text(*record.speedup) : "-", is_baseline ? "-" : duration(one->price_seconds),
                record.break_even && one->faster() ? products_text(*record.break_even) : "-");
        }
        return text + "</table>\n";
    }

    const Timed& first_;
    Branch all_;
    double best_ = 0;
};

XyChart frontier_chart(const Choice& choice) {
    XyChart chart{
        .title = "Time against preparation",
        .subtitle = "Each marker is a recipe. No recipe is both faster and cheaper to prepare than one on the frontier.",
        .x = {.label = "preparation, ms", .logarithmic = true},
        .y = {.label = "time of a product, us", .logarithmic = true},
        .series = {}};
    Series timed{.name = "timed", .points = {}};
    for (const Timed& one : choice.ranking) {
        timed.points.emplace_back(to_milliseconds * one.price_seconds, to_microseconds * one.record.seconds);
    }
    const Timed& first = choice.ranking.front();
    chart.series.push_back(timed);
    chart.series.push_back({.name = "Pareto frontier", .points = pareto_frontier(timed.points), .drawn = Drawn::steps});
    chart.series.push_back(
        {.name = "the choice", .points = {{to_milliseconds * first.price_seconds, to_microseconds * first.record.seconds}}});
    return chart;
}

std::vector<std::pair<double, double>> predictions_of(const Branch& recipes) {
    std::vector<std::pair<double, double>> points;
    for (const Timed* one : recipes) {
        if (one->predicted_seconds <= 0) continue;
        points.emplace_back(to_microseconds * one->predicted_seconds, to_microseconds * one->record.seconds);
    }
    return points;
}

/// Without a series if nothing was predicted.
XyChart model_chart(const Choice& choice) {
    Branch all;
    for (const Timed& one : choice.ranking) all.push_back(&one);
    const auto points = predictions_of(all);
    const std::optional<double> correlation = rank_correlation_of(points);
    XyChart chart{.title = "Model against measurement",
                  .subtitle = fmt::format("Predicted when the recipe was chosen to be tried. {}{}.",
                                          counted_with_commas(points.size(), "recipe"),
                                          correlation ? fmt::format(", rank correlation {:.2f}", *correlation) : ""),
                  .x = {.label = "predicted, us", .logarithmic = true},
                  .y = {.label = "measured, us", .logarithmic = true},
                  .series = {}};
    auto branches = branches_of(all, [](const Timed& one) { return name_of_layouts(one.recipe); });
    std::stable_sort(branches.begin(), branches.end(),
                     [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    Branch others;
    for (const auto& [layouts, recipes] : branches) {
        const bool has_series = branches.size() <= most_series || chart.series.size() + 1 < most_series;
        if (!has_series) {
            others.insert(others.end(), recipes.begin(), recipes.end());
        } else if (auto predicted = predictions_of(recipes); !predicted.empty()) {
            chart.series.push_back({.name = layouts, .points = std::move(predicted)});
        }
    }
    if (auto predicted = predictions_of(others); !predicted.empty()) {
        chart.series.push_back({.name = "other layouts", .points = std::move(predicted)});
    }
    if (!points.empty()) {
        double low = points.front().first;
        double high = low;
        for (const auto& [predicted, measured] : points) {
            low = std::min({low, predicted, measured});
            high = std::max({high, predicted, measured});
        }
        chart.guides.push_back({.name = "measured = predicted", .points = {{low, low}, {high, high}}, .drawn = Drawn::lines});
    }
    return chart;
}

std::string ablation_html(const Choice& choice) {
    if (choice.without.empty()) return "";
    std::string text =
        "<h2>What each stage is worth</h2>\n<table><tr><th>left out</th><th>time</th><th>times as long</th></tr>\n";
    for (const WithoutStage& one : choice.without) {
        const double ratio = one.seconds.value_or(0) / choice.ranking.front().record.seconds;
        text += one.seconds
                    ? fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(one.stage), duration(*one.seconds),
                                  ratio_text(ratio))
                    : fmt::format("<tr><td>{}</td><td colspan=\"2\">{}</td></tr>\n", escaped(one.stage), escaped(one.reason));
    }
    return text + "</table>\n";
}

std::string not_timed_html(const Choice& choice) {
    if (choice.not_timed.empty()) return "";
    const std::size_t count = choice.not_timed.size();
    std::string text =
        fmt::format("<details><summary>{} recipe{} not timed</summary>\n<table>\n", count, count == 1 ? " was" : "s were");
    for (const NotTimed& one : choice.not_timed) {
        text += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(one.recipe), escaped(printable(one.reason, 400)));
    }
    return text + "</table></details>\n";
}

/// The mean ranks of values, from 1.
std::vector<double> mean_ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
        for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
        begin = end;
    }
    return ranks;
}

}  // namespace

std::vector<std::pair<double, double>> pareto_frontier(std::vector<std::pair<double, double>> points) {
    std::sort(points.begin(), points.end());
    std::vector<std::pair<double, double>> frontier;
    for (const auto& point : points) {
        if (frontier.empty() || point.second < frontier.back().second) frontier.push_back(point);
    }
    return frontier;
}

std::optional<double> rank_correlation_of(const std::vector<std::pair<double, double>>& pairs) {
    constexpr std::size_t fewest = 3;
    if (pairs.size() < fewest) return std::nullopt;
    std::vector<double> x;
    std::vector<double> y;
    for (const auto& [first, second] : pairs) {
        x.push_back(first);
        y.push_back(second);
    }
    x = mean_ranks(x);
    y = mean_ranks(y);
    const double mean = static_cast<double>(pairs.size() + 1) / 2;
    double both = 0;
    double of_x = 0;
    double of_y = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        both += (x[i] - mean) * (y[i] - mean);
        of_x += (x[i] - mean) * (x[i] - mean);
        of_y += (y[i] - mean) * (y[i] - mean);
    }
    if (of_x == 0 || of_y == 0) return std::nullopt;
    return both / std::sqrt(of_x * of_y);
}

std::string search_page(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                        const std::string& command) {
    const std::string title = fmt::format("The search for {}", matrix.source);
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>{1}{2}</style></head>\n"
        "<body><h1>{0}</h1>\n",
        escaped(title), palette_css(), style_sheet);
    text += fmt::format("<p>{}</p>\n", escaped(answer_of(choice, options)));
    text += fmt::format("<p class=\"muted\">{}, {} on {}. {}</p>\n",
                        escaped(size_text(matrix.rows, matrix.columns, matrix.nonzeros)), name_of(options.precision),
                        escaped(choice.device), escaped(search_text(choice, options)));
    if (!command.empty()) text += fmt::format("<p><code>{}</code></p>\n", escaped(command));
    text +=
        "<h2>The tree of the search</h2>\n<p class=\"muted\">The stages, the layouts after them, and the recipes with both. "
        "Each branch has the time of its fastest recipe; the bar is its speed relative to the fastest recipe.</p>\n" +
        Tree(choice).html() + not_timed_html(choice) + ablation_html(choice);
    text += "<h2>Time and price</h2>\n" + svg_of(frontier_chart(choice));
    const XyChart model = model_chart(choice);
    if (!model.series.empty()) text += "<h2>The model</h2>\n" + svg_of(model);
    return text + "</body></html>\n";
}

}  // namespace workbench
