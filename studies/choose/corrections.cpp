#include "studies/choose/corrections.hpp"

#include <cmath>

namespace workbench {
namespace {

// Chosen with the times in tests/choose/h200_times.tsv, which hardly depend on them; see docs/choosing.md.
constexpr double other_parameters = 0.5;
constexpr double other_stages = 0.7;
constexpr double weight_of_mean = 0.25;   // the mean of all recipes, as if it were a measurement of the same layouts
constexpr double weight_of_one = 0.5;     // the prior, as if it were a measurement with ratio 1
constexpr double fraction_of_mean = 0.5;  // of its logarithm, for layouts that were not measured

/// 0 for other layouts, 1 for the same recipe.
double similarity(const Corrections::Subject& a, const Corrections::Subject& b) {
    if (a.layouts != b.layouts) return 0;
    return (a.parameters == b.parameters ? 1 : other_parameters) * (a.stages == b.stages ? 1 : other_stages);
}

}  // namespace

std::string text_of(const std::string& name, const Parameters& parameters) {
    std::string text = name;
    for (const auto& [key, value] : parameters.values()) {
        text += ' ';
        text += key;
        text += '=';
        text += to_text(value);
    }
    return text;
}

std::string text_of_layouts(const Recipe& recipe) {
    std::string text;
    for (const RecipeLayout& layout : recipe.layouts) {
        if (layout.share) text += '[' + name_of(*layout.share) + "] ";
        text += text_of(layout.entry->name, layout.parameters) + '\n';
    }
    return text;
}

std::size_t Corrections::number_of(const std::string& text) {
    return numbers_.try_emplace(text, numbers_.size()).first->second;
}

Corrections::Subject Corrections::subject_of(const Recipe& recipe) {
    std::string stages;
    for (const RecipeStage& stage : recipe.stages) stages += text_of(stage.entry->name, stage.parameters) + '\n';
    return {.layouts = number_of(name_of_layouts(recipe)),
            .parameters = number_of(text_of_layouts(recipe)),
            .stages = number_of(stages)};
}

void Corrections::expect(const std::map<std::string, double>& ratios) {
    for (const auto& [layouts, ratio] : ratios) expected_[number_of(layouts)] = std::log(ratio);
}

double Corrections::expected(const Subject& subject) const {
    const auto found = expected_.find(subject.layouts);
    return found == expected_.end() ? 0 : found->second;
}

void Corrections::note(const Subject& subject, double log_ratio) {
    measured_.push_back({subject, log_ratio - expected(subject)});
    sum_ += measured_.back().log_ratio;
}

double Corrections::factor(const Subject& subject) const {
    const double mean = fraction_of_mean * sum_ / (static_cast<double>(measured_.size()) + weight_of_one);
    double weights = weight_of_mean;
    double sum = weight_of_mean * mean;
    for (const Measured& one : measured_) {
        const double weight = similarity(one.subject, subject);
        weights += weight;
        sum += weight * one.log_ratio;
    }
    return std::exp(expected(subject) + sum / weights);
}

}  // namespace workbench
