// The chosen recipe as a file that explains itself.
#include <sstream>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "pipeline/recipe/text.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/choose/ablation.hpp"
#include "studies/choose/choose.hpp"

namespace workbench {
namespace {

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
