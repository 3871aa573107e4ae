#include "stages/row_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

namespace workbench {
namespace {

/// Products such as 1.1 * 10 exceed their exact value by less than this fraction.
constexpr double rounding = 1e-12;

double percentile(const ShareView& view, double percent) {
    std::vector<Offset> lengths(view.row_count());
    for (Index row = 0; row < view.row_count(); ++row) lengths[row] = view.length(row);
    if (lengths.empty()) return 0;
    const double rank = std::ceil(percent / 100 * static_cast<double>(lengths.size()) * (1 - rounding));
    const auto at = lengths.begin() + std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(rank), 1) - 1;
    std::nth_element(lengths.begin(), at, lengths.end());
    return static_cast<double>(*at);
}

/// Limits a length to the numbers of an Index.
std::int64_t limited(double length) {
    return static_cast<std::int64_t>(std::min<double>(length, std::numeric_limits<Index>::max()));
}

}  // namespace

RelativeLength relative_length(const Parameters& parameters, std::string_view name) {
    const ParameterValue& value = parameters.values().find(name)->second;
    const auto* number = std::get_if<std::int64_t>(&value);
    return read_relative_length(number == nullptr ? std::get<std::string>(value) : std::to_string(*number)).value();
}

double length_among(const RelativeLength& length, const ShareView& view) {
    switch (length.of) {
        case RelativeLength::Of::number: return length.factor;
        case RelativeLength::Of::percentile: return length.factor * percentile(view, length.percent);
        case RelativeLength::Of::mean: break;
    }
    return view.row_count() == 0 ? 0 : length.factor * (static_cast<double>(view.entry_count()) / view.row_count());
}

std::int64_t threshold_among(const RelativeLength& length, const ShareView& view) {
    return limited(std::floor(length_among(length, view) * (1 + rounding)));
}

std::int64_t count_among(const RelativeLength& length, const ShareView& view) {
    return std::max<std::int64_t>(limited(std::ceil(length_among(length, view) * (1 - rounding))), 1);
}

}  // namespace workbench
