#include "core/contract/rounding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/matrix/bf16.hpp"

namespace workbench {
namespace {

constexpr std::array roundings{Rounding::f32, Rounding::bf16};

std::string mark(Rounding rounding) { return "~" + std::string(name_of(rounding)); }

/// "2.9e-08"
std::string two_digits(double value) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.1e", value);
    return text.data();
}

}  // namespace

std::string_view name_of(Rounding rounding) {
    switch (rounding) {
        case Rounding::none: return "none";
        case Rounding::f32: return "f32";
        case Rounding::bf16: return "bf16";
    }
    return "";
}

Rounding rounding_of(const Parameters& parameters) {
    if (!parameters.has("values")) return Rounding::none;
    if (parameters.is_word("values", "rounded_f32")) return Rounding::f32;
    return parameters.is_word("values", "rounded_bf16") ? Rounding::bf16 : Rounding::none;
}

Rounding rounding_of(const Parameters& parameters, Precision precision) {
    const Rounding rounding = rounding_of(parameters);
    return precision == Precision::f32 && rounding == Rounding::f32 ? Rounding::none : rounding;
}

double rounded(double value, Rounding rounding) {
    switch (rounding) {
        case Rounding::none: return value;
        case Rounding::f32: return static_cast<double>(static_cast<float>(value));
        case Rounding::bf16: return static_cast<double>(static_cast<float>(bf16_of(value)));
    }
    return value;
}

std::string marked(const std::string& name, Rounding rounding) {
    return rounding == Rounding::none ? name : mark(rounding) + " " + unmarked(name);
}

std::string unmarked(const std::string& name) {
    const Rounding rounding = mark_of(name);
    return rounding == Rounding::none ? name : name.substr(mark(rounding).size() + 1);
}

Rounding mark_of(std::string_view name) {
    for (const Rounding rounding : roundings) {
        if (name.starts_with(mark(rounding) + " ")) return rounding;
    }
    return Rounding::none;
}

std::string legend_of_marks(const std::vector<std::string>& names) {
    std::string marks;
    for (const Rounding rounding : roundings) {
        const bool is_there =
            std::any_of(names.begin(), names.end(), [&](const std::string& name) { return mark_of(name) == rounding; });
        if (is_there) marks += (marks.empty() ? "" : ", ") + mark(rounding);
    }
    return marks.empty() ? marks : marks + ": the values are rounded, so that the product is that of another matrix";
}

std::string RoundingError::text() const {
    return "rounded to " + std::string(name_of(to)) + ": |A - R|_F / |A|_F = " + two_digits(norm) +
           ", an entry changes by at most " + two_digits(largest) + " of itself";
}

RoundingError error_of_rounding(std::span<const double> values, std::span<const double> rounded_values, Rounding to) {
    RoundingError error{.to = to};
    double scale = 0;  // keeps squares in range
    for (const double value : values) {
        if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
    }
    if (scale == 0) return error;
    double of_matrix = 0;
    double of_difference = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i]) || values[i] == 0) continue;
        const double difference = std::abs(values[i] - rounded_values[i]);
        error.largest = std::max(error.largest, difference / std::abs(values[i]));
        of_matrix += values[i] / scale * (values[i] / scale);
        of_difference += difference / scale * (difference / scale);
    }
    error.norm = std::sqrt(of_difference / of_matrix);
    return error;
}

}  // namespace workbench
