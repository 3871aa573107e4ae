// A choice as text, as JSON, and as a recipe.
#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/parameters.hpp"
#include "core/contract/rounding.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/recipe/control.hpp"
#include "pipeline/recipe/text.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/choose/ablation.hpp"
#include "studies/choose/choose.hpp"
#include "studies/choose/rank_choice.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

std::string counted_products(double products, const ChooseOptions& options) {
    const std::string counted = products_text(products) + (std::ceil(products) == 1 ? " product" : " products");
    return options.vectors == 1 ? counted : fmt::format("{} with {} vectors", counted, options.vectors);
}

/// "3 solves of 250 iterations", or "750 products".
std::string planned(const ChooseOptions& options) {
    const double products = options.products.value_or(0);
    if (!options.counts_solves) return counted_products(products, options);
    return fmt::format("{} solve{} of {} iterations", products_text(options.solves), options.solves == 1 ? "" : "s",
                       products_text(products / options.solves));
}

std::string kernel_of(const Timed& one) { return fmt::format("{} ({})", one.recipe.name, one.record.kernel); }

std::string baseline_of(const Choice& choice) { return fmt::format("CSR ({})", choice.baseline_kernel); }

bool is_baseline(const Timed& one) { return one.record.verdict == "baseline"; }

std::string speedup_text(const Timed& one) {
    const Record& record = one.record;
    if (!record.speedup) return "-";
    if (record.verdict == "busy machine") return record.verdict;
    if (is_baseline(one) || !record.interval) return ratio_text(*record.speedup);
    return fmt::format("{} ({}-{})", ratio_text(*record.speedup), ratio_text(record.interval->low),
                       ratio_text(record.interval->high));
}

/// The file of its recipe; recipes that are always candidates have none.
std::string file_name_of(const Timed& one) { return one.recipe.file.empty() ? "-" : one.recipe.file.filename().string(); }

std::string pays_text(const Timed& one) {
    if (is_baseline(one)) return "baseline";
    if (one.faster()) return products_text(one.record.break_even.value_or(0));
    return one.record.verdict == "slower" ? "never" : "noise";
}

/// "HALO (41.2 us)", with the predicted time.
std::string name_of(const NotTimed& one) {
    return one.predicted_seconds ? fmt::format("{} ({})", one.recipe, duration(*one.predicted_seconds)) : one.recipe;
}

/// "REASON: NAMES" for each distinct reason. Only the JSON contains the hints after a reason's semicolon.
std::string not_timed_text(const Choice& choice) {
    std::vector<std::pair<std::string, std::string>> groups;
    for (const NotTimed& one : choice.not_timed) {
        const std::string reason = one.reason.substr(0, one.reason.find(';'));
        auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) { return known.first == reason; });
        if (group == groups.end()) group = groups.insert(groups.end(), {reason, ""});
        group->second += (group->second.empty() ? "" : "; ") + name_of(one);
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

/// A line with the first recipes whose kernels have no loop for several vectors; empty: none.
std::string one_by_one_text(const Choice& choice, std::size_t shown) {
    std::string names;
    for (std::size_t i = 0; i < shown; ++i) {
        const Timed& one = choice.ranking[i];
        if (one.one_by_one) names += (names.empty() ? "" : "; ") + kernel_of(one);
    }
    return names.empty() ? "" : fmt::format("  Multiplying the vectors one after another: {}.\n", names);
}

template <typename Number>
Json optional(const std::optional<Number>& number) {
    return number ? Json(*number) : Json(nullptr);
}

Json json_of(const Timed& one) {
    const Record& record = one.record;
    const bool has_interval = record.interval && !is_baseline(one);
    Json stages = Json::array();
    for (const RecipeStage& stage : one.recipe.stages) stages.push_back(stage.entry->name);
    return {{"recipe", one.recipe.name},
            {"stages", std::move(stages)},
            {"file", one.recipe.file.empty() ? Json(nullptr) : Json(seen_from_here(one.recipe.file))},
            {"layout", record.layout},
            {"kernel", record.kernel},
            {"backend", record.backend},
            {"median_seconds", record.seconds},
            {"baseline_seconds", one.baseline_seconds()},
            {"predicted_seconds", one.predicted_seconds},
            {"bytes_to_move", one.bytes},
            {"speedup", optional(record.speedup)},
            {"speedup_interval", has_interval ? Json{record.interval->low, record.interval->high} : Json(nullptr)},
            {"verdict", record.verdict},
            {"one_by_one", one.one_by_one},
            {"tied", one.tied},
            {"confirmed", one.confirmed},
            {"logged", one.logged},
            {"price_seconds", one.price_seconds},
            {"permutation_seconds", one.permutation_seconds()},
            {"control", is_control(one.recipe)},
            {"break_even", optional(record.break_even)},
            {"resolved", resolved_recipe(one.recipe, FileNames::from_here)}};
}

Json json_of(const SearchCount& search) {
    return {{"points", search.points},        {"priced", search.priced},    {"pricing_seconds", search.pricing_seconds},
            {"tried", search.tried},          {"logged", search.logged},    {"timed_longer", search.narrowed},
            {"timed_again", search.repeated}, {"finished", search.finished}};
}

/// The answer if noise prevents a choice.
std::string undecided_text(const Choice& choice) {
    const Timed& one = *std::ranges::find_if(choice.ranking, is_undecided);  // the fastest: they are sorted by speed-up
    const std::optional<Interval>& interval = one.record.interval;
    const std::string why = interval ? fmt::format("its speed-up over {} is between {} and {}", baseline_of(choice),
                                                   ratio_text(interval->low), ratio_text(interval->high))
                                     : "the machine did other work while it was timed";
    return fmt::format(
        "Noise prevents a choice: it hides whether {} beats CSR ({}). Stay with CSR, or choose again on an idle "
        "machine or with a larger --budget.",
        kernel_of(one), why);
}

std::string compared(const Choice& choice, double seconds) {
    const double own = choice.ranking.front().record.seconds;
    return fmt::format("{} instead of {}, {} times as long", duration(seconds), duration(own), ratio_text(seconds / own));
}

/// A comment of one line.
std::string comment(const std::string& text) { return fmt::format("# {}\n", printable(text, 400)); }

std::string comment_of(const WithoutStage& stage, const Choice& choice) {
    if (stage.seconds) {
        const Timed& first = choice.ranking.front();
        const bool tied = stage.interval && first.record.interval && stage.interval->low <= first.record.interval->high &&
                          first.record.interval->low <= stage.interval->high;
        return comment(
            fmt::format("Without this stage: {}{}.", compared(choice, *stage.seconds), tied ? ", within noise" : ""));
    }
    // The hints after a reason's semicolon are for errors.
    const std::string reason = stage.reason.substr(0, stage.reason.find(';'));
    return comment(stage.legal ? fmt::format("Without this stage: not timed, because {}.", reason)
                               : fmt::format("This stage cannot be left out: {}.", reason));
}

std::string comment_of_layouts(const Choice& choice) {
    const Timed* const other = best_other_layout(choice);
    if (other == nullptr) return comment("No recipe with another layout was timed.");
    return comment(fmt::format("The fastest recipe with another layout, {} ({}), takes {}.", other->recipe.name,
                               name_of_layouts(other->recipe), compared(choice, other->record.seconds)));
}

std::string head_of(const Choice& choice, const ChooseOptions& options) {
    const Timed& first = choice.ranking.front();
    std::string text = comment(answer_of(choice, options));
    const std::string price = choice.stay ? "" : fmt::format("; preparing it takes {}", duration(first.price_seconds));
    const std::string vectors = options.vectors == 1 ? "" : fmt::format(" with {} vectors", options.vectors);
    text += comment(fmt::format("A product{} takes {}{}.", vectors, duration(first.record.seconds), price));
    text += comment(search_text(choice, options));
    text +=
        fmt::format("# Chosen by workbench choose for {} on {}.\n", name_of(options.precision), printable(choice.device, 200));
    if (options.vectors == 1) return text;
    return text + comment(fmt::format("`workbench run` multiplies as many vectors with --vectors {}.", options.vectors));
}

}  // namespace

std::string conditions_of(const ChooseOptions& options) {
    return options.vectors == 1 ? "cold cache" : fmt::format("cold cache, {} vectors", options.vectors);
}

std::string answer_of(const Choice& choice, const ChooseOptions& options) {
    const Timed& first = choice.ranking.front();
    if (!choice.stay) {
        std::string text =
            fmt::format("{} is {} x as fast as {}; it pays after {}", kernel_of(first), ratio_text(*first.record.speedup),
                        baseline_of(choice), counted_products(first.record.break_even.value_or(0), options));
        if (options.products) {
            text += fmt::format(", and {} save {}", planned(options),
                                duration(*first.saved_seconds(*options.products, options.solves)));
        }
        return text + ".";
    }
    const auto is_candidate = [](const Timed& one) { return one.faster() && !is_control(one.recipe); };
    const auto earlier = [&](const Timed& a, const Timed& b) {
        return is_candidate(a) && (!is_candidate(b) || a.record.break_even < b.record.break_even);
    };
    const Timed& best = *std::min_element(choice.ranking.begin(), choice.ranking.end(), earlier);
    if (choice.undecided) return undecided_text(choice);
    if (!is_candidate(best)) return "Stay with CSR: no measured recipe beats it by more than the noise.";
    return fmt::format("Stay with CSR: no recipe pays within {}; {} is {} x as fast as {} and pays after {}.", planned(options),
                       kernel_of(best), ratio_text(*best.record.speedup), baseline_of(choice),
                       products_text(*best.record.break_even));
}

std::string search_text(const Choice& choice, const ChooseOptions& options) {
    const SearchCount& search = choice.search;
    const auto number = [](std::uint64_t count) { return with_commas(static_cast<long long>(count)); };
    std::string text;
    if (search.points > 0) {
        text = search.priced == search.points
                   ? fmt::format("The model priced all {} of the space in {}. ", counted_with_commas(search.points, "point"),
                                 duration(search.pricing_seconds))
                   : fmt::format("The model priced {} of the {} of the space, spread evenly, in {}. ", number(search.priced),
                                 counted_with_commas(search.points, "point"), duration(search.pricing_seconds));
    }
    text += fmt::format("{} recipe{} tried", search.tried, search.tried == 1 ? " was" : "s were");
    if (search.logged > 0) text += fmt::format(", {} of them in earlier runs", search.logged);
    text += fmt::format(", {} timed", choice.ranking.size());
    if (choice.stopped) return text + "; the search was stopped.";
    text += search.finished ? "; nothing promising is left."
                            : fmt::format("; the budget of {:g} s is spent.", options.budget_seconds);
    if (search.repeated > 0) {
        text += fmt::format(" Because of noise, recipes were timed again {} time{}.", search.repeated,
                            search.repeated == 1 ? "" : "s");
    }
    return text;
}

std::string choice_text(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix) {
    constexpr std::size_t most_rows = 20;  // of the points of a space
    TextTable table{{"", "candidate", "file", "time", "CSR", "speed-up", "price", "pays after"}, 3, {}};
    bool tied = false;
    const std::size_t shown = choice.search.points > 0 ? std::min(most_rows, choice.ranking.size()) : choice.ranking.size();
    for (std::size_t i = 0; i < shown; ++i) {
        const Timed& one = choice.ranking[i];
        tied = tied || one.tied;
        table.rows.push_back({fmt::format("{}{}", i + 1, one.tied ? "=" : ""), one.recipe.name, file_name_of(one),
                              duration(one.record.seconds), one.record.speedup ? duration(one.baseline_seconds()) : "-",
                              speedup_text(one), is_baseline(one) ? "-" : duration(one.price_seconds), pays_text(one)});
    }
    const std::string head =
        fmt::format("{}: {}\n{} on {}, {}\n\n", matrix.source, size_text(matrix.rows, matrix.columns, matrix.nonzeros),
                    name_of(options.precision), choice.device, conditions_of(options));
    std::string text;
    if (const std::size_t others = choice.ranking.size() - shown; others > 0) {
        text += fmt::format("  and {}, which --json and --log contain\n", counted_with_commas(others, "other"));
    }
    text += fmt::format(
        "\n  time: the median of the fastest kernel. CSR: the time of the baseline in the same turns. speed-up: over {} in the "
        "input's order, timed in turns with it, with its "
        "95 % confidence interval; noise: the interval contains 1. price: reordering, building and copying. pays after: "
        "products until the price is recovered.\n",
        baseline_of(choice));
    const bool by_price = !choice.stay && !options.products;
    if (tied) {
        text += fmt::format("  =: tied with the first, as their intervals overlap{}.\n",
                            by_price ? "; the first pays earliest" : "");
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < shown; ++i) names.push_back(choice.ranking[i].recipe.name);
    if (const std::string legend = legend_of_marks(names); !legend.empty()) text += fmt::format("  {}.\n", legend);
    text += one_by_one_text(choice, shown);
    if (choice.ranking.front().confirmed) text += "  The first was timed twice; the table shows the second time.\n";
    if (!choice.not_timed.empty()) {
        const bool predicted = std::any_of(choice.not_timed.begin(), choice.not_timed.end(),
                                           [](const NotTimed& one) { return one.predicted_seconds.has_value(); });
        text += fmt::format("\nNot timed{}\n{}", predicted ? "; in brackets: the predicted time" : "", not_timed_text(choice));
    }
    text += warnings_text(choice.ranking.front());
    const SearchCount& search = choice.search;
    if (search.points > 0 || search.logged > 0 || search.repeated > 0)
        text += fmt::format("\n{}\n", search_text(choice, options));
    // Lines of the table are as long as the names of the recipes need.
    return wrapped(head) + table.text() + wrapped(text + fmt::format("\n{}\n", answer_of(choice, options)));
}

Json json_of(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix, const std::string& written) {
    Json runs = Json::array();
    for (const RunReport& report : choice.reports) runs.push_back(json_of(report));
    Json ranking = Json::array();
    for (const Timed& one : choice.ranking) ranking.push_back(json_of(one));
    Json not_timed = Json::array();
    for (const NotTimed& one : choice.not_timed) {
        not_timed.push_back({{"recipe", one.recipe},
                             {"reason", one.reason},
                             {"bytes_to_move", optional(one.bytes)},
                             {"predicted_seconds", optional(one.predicted_seconds)}});
    }
    Json without = Json::array();
    for (const WithoutStage& one : choice.without) {
        without.push_back({{"stage", one.stage},
                           {"median_seconds", optional(one.seconds)},
                           {"legal", one.legal},
                           {"reason", one.reason.empty() ? Json(nullptr) : Json(one.reason)}});
    }
    return {{"matrix",
             {{"source", matrix.source},
              {"rows", matrix.rows},
              {"columns", matrix.columns},
              {"nonzeros", matrix.nonzeros},
              {"read_seconds", matrix.read_seconds}}},
            {"precision", name_of(options.precision)},
            {"vectors", options.vectors},
            {"device", choice.device},
            {"bytes_per_second", choice.bandwidth},
            {"budget_seconds", options.budget_seconds},
            {"seconds", choice.seconds},
            {"products", optional(options.products)},
            {"solves", options.counts_solves ? Json(options.solves) : Json(nullptr)},
            {"baseline_kernel", choice.baseline_kernel},
            {"answer", answer_of(choice, options)},
            {"stay", choice.stay},
            {"undecided", choice.undecided},
            {"warnings", choice.ranking.front().warnings},
            {"written", written},
            {"search", json_of(choice.search)},
            {"without_stage", without},
            {"ranking", ranking},
            {"not_timed", not_timed},
            {"runs", runs}};
}

std::string choice_json(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                        const std::string& written) {
    return json_of(choice, options, matrix, written).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string choice_recipe(const Choice& choice, const ChooseOptions& options) {
    std::string text = head_of(choice, options);
    std::size_t stage = 0;
    bool layouts_are_explained = choice.stay;
    std::istringstream lines(resolved_recipe(choice.ranking.front().recipe));
    for (std::string line; std::getline(lines, line);) {
        if (line == "[[stage]]" && stage < choice.without.size()) text += comment_of(choice.without[stage++], choice);
        if ((line == "[layout]" || line == "[[layout]]") && !layouts_are_explained) {
            text += comment_of_layouts(choice);
            layouts_are_explained = true;
        }
        text += line + '\n';
    }
    return text;
}

}  // namespace workbench
