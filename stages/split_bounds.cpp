#include "stages/split_bounds.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/contract/errors.hpp"
#include "stages/row_lengths.hpp"

namespace workbench {
namespace {

/// The first row or column that is not among a percentage of `count`.
std::int64_t place_of(const RelativeLength& bound, Index count) {
    if (bound.of == RelativeLength::Of::number) return static_cast<std::int64_t>(bound.factor);
    return static_cast<std::int64_t>(std::ceil(bound.percent / 100 * count * (1 - 1e-12)));
}

}  // namespace

std::vector<RelativeLength> split_bounds(const Parameters& parameters) {
    std::vector<RelativeLength> bounds;
    for (const std::string& item : items_of_list(parameters.text("bounds")))
        bounds.push_back(read_relative_length(item).value());
    return bounds;
}

void check_bounds(const Parameters& parameters) {
    const std::string& by = parameters.text("by");
    const std::vector<RelativeLength> bounds = split_bounds(parameters);
    if (bounds.size() >= most_share_bins) {
        throw ParameterError("bounds", "found " + std::to_string(bounds.size()) + " bounds, expected at most " +
                                           std::to_string(most_share_bins - 1));
    }
    double largest = -1;
    for (const RelativeLength& bound : bounds) {
        const bool is_percentage = bound.of == RelativeLength::Of::percentile && bound.factor == 1;
        if (bound.of == RelativeLength::Of::number) {
            if (bound.factor <= largest) throw ParameterError("bounds", "the bounds do not ascend");
            largest = bound.factor;
        } else if (by != "row_length" && !is_percentage) {
            throw ParameterError("bounds", "bounds of " + by + " are numbers or percentages, such as \"p50\"");
        }
    }
}

std::vector<std::int64_t> bounds_among(const Parameters& parameters, const SplitFacts& facts) {
    const std::string& by = parameters.text("by");
    std::vector<std::int64_t> bounds;
    for (const RelativeLength& bound : split_bounds(parameters)) {
        bounds.push_back(by == "row_length" ? threshold_among(bound, facts.view)
                                            : place_of(bound, by == "rows" ? facts.matrix.rows : facts.matrix.columns));
    }
    if (!std::is_sorted(bounds.begin(), bounds.end())) {
        throw Unsuitable("split: the bounds " + parameters.text("bounds") + " are " + text_of_bounds(bounds) +
                         " in this matrix, which do not ascend");
    }
    return bounds;
}

double fill_of_split(const Parameters& parameters) { return parameters.has("fill") ? parameters.real("fill") : 0.7; }

std::string text_of_bounds(std::span<const std::int64_t> bounds) {
    std::string text;
    for (const std::int64_t bound : bounds) text += (text.empty() ? "" : ", ") + std::to_string(bound);
    return text;
}

std::vector<bool> chosen_partitions(const Parameters& parameters, Index count) {
    std::vector<bool> is_chosen(count, false);
    for (const std::string& item : items_of_list(parameters.text("partitions"))) {
        Index partition = 0;
        std::from_chars(item.data(), item.data() + item.size(), partition);
        if (partition >= count) {
            throw Unsuitable("split: there is no partition " + item + " among " + std::to_string(count) +
                             " partitions, counted from 0");
        }
        is_chosen[partition] = true;
    }
    return is_chosen;
}

double commonest_value(const ShareView& view, std::span<const double> all) {
    std::vector<double> values;
    values.reserve(view.entry_count());
    for (Index stored = 0; stored < view.row_count(); ++stored) {
        for (Offset k = 0; k < view.length(stored); ++k) {
            if (const double value = all[view.entry(stored, k)]; !std::isnan(value)) values.push_back(value);
        }
    }
    std::sort(values.begin(), values.end());
    double commonest = 0;
    std::ptrdiff_t most = 0;
    for (auto first = values.begin(); first != values.end();) {
        const auto end = std::find_if(first, values.end(), [&](double value) { return value != *first; });
        if (end - first > most) {
            most = end - first;
            commonest = *first;
        }
        first = end;
    }
    return commonest;
}

}  // namespace workbench
