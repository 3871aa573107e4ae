#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "viz/chart.hpp"
#include "viz/palette.hpp"

namespace workbench {
namespace {

/// 1, 2 or 5 times a power of ten that gives about five marks.
double step_between(double low, double high) {
    const double rough = (high - low) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= 0.999 * rough) return factor * power;
    }
    return 10 * power;
}

/// Powers of ten from below low to above high; with 2 and 5 times these if the range is small.
std::vector<double> logarithmic_marks(double low, double high) {
    std::vector<double> marks;
    const bool few = high / low < 300;
    for (int power = static_cast<int>(std::floor(std::log10(low))) - 1; power < 300; ++power) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            if (factor == 1 || few) marks.push_back(factor * std::pow(10, power));
        }
        if (marks.back() > high * 1.0001 && marks.size() > 3) break;
    }
    return marks;
}

}  // namespace

Colour series_colour(std::size_t series) {
    static_assert(hues.size() + 1 == most_series);
    constexpr Colour grey{116, 116, 116};
    const std::size_t place = series % most_series;
    return place < hues.size() ? hues.at(place).colour : grey;
}

Marker series_marker(std::size_t series) {
    constexpr std::array shapes{Marker::circle, Marker::square, Marker::diamond, Marker::triangle};
    return shapes.at(series % shapes.size());
}

Scale::Scale(const Axis& axis, AxisRange values, AxisRange pixels)
    : logarithmic_(axis.logarithmic),
      low_(axis.low.value_or(values.from)),
      high_(axis.high.value_or(values.to)),
      pixels_(pixels) {
    if (logarithmic_) {
        if (low_ <= 0) low_ = high_ > 0 ? high_ / 10 : 0.1;
        if (high_ <= low_) high_ = low_ * 2;
        marks_ = logarithmic_marks(low_, high_);
        const auto below = [this](double mark) { return mark <= low_ * 1.0001; };
        const auto first_above = std::find_if(marks_.begin(), marks_.end(), [&](double mark) { return !below(mark); });
        if (!axis.low && first_above != marks_.begin()) low_ = *(first_above - 1);
        const auto end = std::find_if(marks_.begin(), marks_.end(), [this](double mark) { return mark >= high_ * 0.9999; });
        if (!axis.high && end != marks_.end()) high_ = *end;
    } else {
        if (high_ <= low_) high_ = low_ + 1;
        const double step = step_between(low_, high_);
        const auto first = static_cast<long long>(std::floor(low_ / step + 1e-9));
        const auto last = static_cast<long long>(std::ceil(high_ / step - 1e-9));
        for (long long i = first; i <= last; ++i) marks_.push_back(static_cast<double>(i) * step);
        if (!axis.low) low_ = marks_.front();
        if (!axis.high) high_ = marks_.back();
    }
    if (!axis.marks.empty()) marks_ = axis.marks;
    std::erase_if(marks_, [this](double mark) { return !shows(mark); });
}

bool Scale::shows(double value) const {
    const double slack = logarithmic_ ? 0 : 1e-9 * (high_ - low_);
    return value >= low_ * (logarithmic_ ? 0.9999 : 1) - slack && value <= high_ * (logarithmic_ ? 1.0001 : 1) + slack;
}

double Scale::at(double value) const {
    const double clamped = std::clamp(value, low_, high_);
    const double share = logarithmic_ ? std::log(clamped / low_) / std::log(high_ / low_) : (clamped - low_) / (high_ - low_);
    return pixels_.from + share * (pixels_.to - pixels_.from);
}

std::string mark_text(double value) {
    const double magnitude = std::abs(value);
    // A mark at a measured value has all its digits.
    if (magnitude >= 1000 && magnitude < 1e5 && std::fmod(magnitude, 100) != 0) return with_commas(std::llround(value));
    if (magnitude >= 1000 && magnitude < 1e12) return compact(std::llround(value));
    if (magnitude != 0 && (magnitude < 0.001 || magnitude >= 1e12)) return fmt::format("{:.0e}", value);
    return fmt::format("{:.4g}", value);
}

}  // namespace workbench
