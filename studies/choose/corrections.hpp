// Corrections of predicted times by measured ones.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// A stage or layout with its parameters, in one line. Equal texts are equal stages or layouts.
[[nodiscard]] std::string text_of(const std::string& name, const Parameters& parameters);
[[nodiscard]] std::string text_of_layouts(const Recipe& recipe);

/// A weighted mean of the logarithms of measured / predicted times, with a prior towards 1. Measurements of the same layouts
/// count, those with the same parameters and stages more than others. Other layouts count by their mean.
class Corrections {
public:
    /// The properties on which similarity depends, as numbers that are equal if the properties are.
    struct Subject {
        std::size_t layouts = 0;
        std::size_t parameters = 0;  // of the layouts
        std::size_t stages = 0;      // with their parameters
    };
    [[nodiscard]] Subject subject_of(const Recipe& recipe);

    /// Ratios that are expected before anything is measured, by name_of_layouts; others: 1.
    void expect(const std::map<std::string, double>& ratios);

    void note(const Subject& subject, double log_ratio);

    /// By which a predicted time is to be multiplied.
    [[nodiscard]] double factor(const Subject& subject) const;

private:
    struct Measured {
        Subject subject;
        double log_ratio = 0;
    };
    [[nodiscard]] std::size_t number_of(const std::string& text);

    [[nodiscard]] double expected(const Subject& subject) const;

    std::map<std::string, std::size_t> numbers_;
    std::map<std::size_t, double> expected_;  // logarithms, by Subject::layouts
    std::vector<Measured> measured_;
    double sum_ = 0;  // of their logarithms beyond what was expected
};

}  // namespace workbench
