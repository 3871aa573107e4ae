// What was chosen, and why: as text, as JSON, and as a recipe.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pipeline/bench/choose.hpp"
#include "pipeline/recipe/text.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t name_width = 28;

/// A number of products, whole and in nine characters at most.
std::string products_text(double products) {
    const double whole = std::ceil(products);
    return whole < 1e7 ? with_commas(std::llround(whole)) : fmt::format("{:.1e}", whole);
}

std::string counted_products(double products) {
    return products_text(products) + (std::ceil(products) == 1 ? " product" : " products");
}

std::string ratio(double number) {
    return number >= 99.95 ? fmt::format("{:.0f}", number) : fmt::format("{:.{}f}", number, number >= 9.995 ? 1 : 2);
}

std::string kernel_of(const Timed& one) { return fmt::format("{} ({})", one.recipe.name, one.record.kernel); }

std::string baseline_of(const Choice& choice) { return fmt::format("CSR ({})", choice.baseline_kernel); }

bool is_baseline(const Timed& one) { return one.record.verdict == "baseline"; }

std::string speedup_text(const Timed& one) {
    const Record& record = one.record;
    if (!record.speedup) return "-";
    if (is_baseline(one) || !record.interval) return ratio(*record.speedup);
    return fmt::format("{} ({}-{})", ratio(*record.speedup), ratio(record.interval->low), ratio(record.interval->high));
}

std::string pays_text(const Timed& one) {
    if (is_baseline(one)) return "baseline";
    if (one.faster()) return products_text(one.record.break_even.value_or(0));
    return one.record.verdict == "slower" ? "never" : "noise";
}

std::string row(const std::string& place, const std::string& name, const std::vector<std::string>& cells) {
    return fmt::format("{:>4} {} {:>8}  {:<17}{:>8}{:>11}\n", place, padded(name, name_width), cells[0], cells[1], cells[2],
                       cells[3]);
}

/// "REASON: NAMES" for each reason, in the order in which they came. What could be done about it stands in the JSON.
std::string not_timed_text(const Choice& choice) {
    std::vector<std::pair<std::string, std::string>> groups;
    for (const NotTimed& one : choice.not_timed) {
        const std::string reason = one.reason.substr(0, one.reason.find(';'));
        auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) { return known.first == reason; });
        if (group == groups.end()) group = groups.insert(groups.end(), {reason, ""});
        group->second += (group->second.empty() ? "" : "; ") + one.recipe;
    }
    std::string text;
    for (const auto& [reason, names] : groups) text += fmt::format("  {}: {}\n", printable(reason, 400), names);
    return text;
}

std::string warnings_text(const Timed& first) {
    const std::set<std::string> distinct(first.warnings.begin(), first.warnings.end());
    std::string text = distinct.empty() ? "" : "\n";
    for (const std::string& warning : distinct) text += fmt::format("  warning: {}\n", warning);
    return text;
}

template <typename Number>
Json optional(const std::optional<Number>& number) {
    return number ? Json(*number) : Json(nullptr);
}

Json json_of(const Timed& one) {
    const Record& record = one.record;
    const bool has_interval = record.interval && !is_baseline(one);
    return {{"recipe", one.recipe.name},
            {"layout", record.layout},
            {"kernel", record.kernel},
            {"backend", record.backend},
            {"median_seconds", record.seconds},
            {"bytes_to_move", one.bytes},
            {"speedup", optional(record.speedup)},
            {"speedup_interval", has_interval ? Json{record.interval->low, record.interval->high} : Json(nullptr)},
            {"verdict", record.verdict},
            {"tied", one.tied},
            {"confirmed", one.confirmed},
            {"price_seconds", one.price_seconds},
            {"break_even", optional(record.break_even)},
            {"resolved", resolved_recipe(one.recipe)}};
}

}  // namespace

std::string answer_of(const Choice& choice, const ChooseOptions& options) {
    const Timed& first = choice.ranking.front();
    if (!choice.stay) {
        std::string text = fmt::format("{} is {} x {}; it pays after {}", kernel_of(first), ratio(*first.record.speedup),
                                       baseline_of(choice), counted_products(first.record.break_even.value_or(0)));
        if (options.products) {
            text += fmt::format(", and {} of them save {}", products_text(*options.products),
                                duration(*first.saved_seconds(*options.products)));
        }
        return text + ".";
    }
    const auto earlier = [](const Timed& a, const Timed& b) {
        return a.faster() && (!b.faster() || a.record.break_even < b.record.break_even);
    };
    const Timed& best = *std::min_element(choice.ranking.begin(), choice.ranking.end(), earlier);
    if (!best.faster()) return "Stay with CSR: nothing measured beats it by more than the noise.";
    return fmt::format("Stay with CSR: nothing pays within {}; {} is {} x {} and pays after {}.",
                       counted_products(*options.products), kernel_of(best), ratio(*best.record.speedup), baseline_of(choice),
                       products_text(*best.record.break_even));
}

std::string choice_text(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix) {
    std::string text =
        fmt::format("{}: {} x {}, {} nonzeros\n{} on {}, cold cache\n\n", matrix.source, with_commas(matrix.rows),
                    with_commas(matrix.columns), with_commas(matrix.nonzeros), name_of(options.precision), choice.device);
    text += row("", "candidate", {"time", "speed-up", "price", "pays after"});
    bool tied = false;
    std::vector<std::string> names;
    for (const Timed& one : choice.ranking) names.push_back(one.recipe.name);
    names = shortened(names, name_width);
    for (std::size_t i = 0; i < choice.ranking.size(); ++i) {
        const Timed& one = choice.ranking[i];
        tied = tied || one.tied;
        text += row(fmt::format("{}{}", i + 1, one.tied ? "=" : " "), names[i],
                    {duration(one.record.seconds), speedup_text(one), is_baseline(one) ? "-" : duration(one.price_seconds),
                     pays_text(one)});
    }
    text += fmt::format(
        "\n  time: of the fastest kernel, the median. speed-up: over {} in the input's order, in turns with it; in brackets "
        "where "
        "it lies with 95 % confidence. noise: this is on both sides of 1. price: of reordering, building and copying; it pays "
        "after so many products.\n",
        baseline_of(choice));
    const bool by_price = !choice.stay && !options.products;
    if (tied) {
        text += fmt::format("  =: not told from the first by the noise{}.\n", by_price ? "; the first pays earliest" : "");
    }
    if (choice.ranking.front().confirmed) text += "  The first was timed twice; its figures are of the second time.\n";
    if (!choice.not_timed.empty()) text += "\nNot timed\n" + not_timed_text(choice);
    text += warnings_text(choice.ranking.front());
    return wrapped(text + fmt::format("\n{}\n", answer_of(choice, options)));
}

std::string choice_json(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                        const std::string& written) {
    Json ranking = Json::array();
    for (const Timed& one : choice.ranking) ranking.push_back(json_of(one));
    Json not_timed = Json::array();
    for (const NotTimed& one : choice.not_timed) {
        not_timed.push_back({{"recipe", one.recipe}, {"reason", one.reason}, {"bytes_to_move", optional(one.bytes)}});
    }
    const Json json{{"matrix",
                     {{"source", matrix.source},
                      {"rows", matrix.rows},
                      {"columns", matrix.columns},
                      {"nonzeros", matrix.nonzeros},
                      {"read_seconds", matrix.read_seconds}}},
                    {"precision", name_of(options.precision)},
                    {"device", choice.device},
                    {"bytes_per_second", choice.bandwidth},
                    {"budget_seconds", options.budget_seconds},
                    {"seconds", choice.seconds},
                    {"products", optional(options.products)},
                    {"baseline_kernel", choice.baseline_kernel},
                    {"answer", answer_of(choice, options)},
                    {"stay", choice.stay},
                    {"written", written},
                    {"ranking", ranking},
                    {"not_timed", not_timed},
                    {"runs", Json::parse(to_json(choice.reports))["runs"]}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string choice_recipe(const Choice& choice, const ChooseOptions& options) {
    return fmt::format("# {}\n# Chosen by workbench choose for {} on {}.\n{}", printable(answer_of(choice, options), 400),
                       name_of(options.precision), printable(choice.device, 200),
                       resolved_recipe(choice.ranking.front().recipe));
}

}  // namespace workbench
