#include "pipeline/report/figures.hpp"

#include <fmt/format.h>

#include "core/text/text_table.hpp"

namespace workbench {

std::string spread(const FigureValue& value) { return spread_text(std::get<double>(value)); }

std::string thousandths(const FigureValue& value) { return fmt::format("{:.3f}", std::get<double>(value)); }

std::string complete(const FigureValue& value) {
    const double share = std::get<double>(value);
    return share < 1 ? percent(std::min(share, 0.999)) : "100 %";
}

std::string text_of(const FigureValue& value, const Shown& shown, std::string_view unit) {
    if (shown.text != nullptr) return shown.text(value);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* count = std::get_if<std::int64_t>(&value)) return with_commas(*count);
    const double number = std::get<double>(value);
    if (unit == "s") return duration(number);
    return unit == "share" ? percent(number) : significant(number);
}

}  // namespace workbench
