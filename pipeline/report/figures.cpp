#include "pipeline/report/figures.hpp"

#include <fmt/format.h>

#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

double number(const FigureValue& value) { return std::get<double>(value); }

}  // namespace

std::string counted(const FigureValue& value) { return with_commas(std::get<std::int64_t>(value)); }

std::string plain(const FigureValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : std::to_string(std::get<std::int64_t>(value));
}

std::string rounded(const FigureValue& value) { return significant(number(value)); }

std::string thousandths(const FigureValue& value) { return fmt::format("{:.3f}", number(value)); }

std::string percent(const FigureValue& value) { return fmt::format("{:.1f} %", 100 * number(value)); }

std::string complete(const FigureValue& value) { return number(value) < 1 ? percent(std::min(number(value), 0.999)) : "100 %"; }

std::string seconds(const FigureValue& value) { return duration(number(value)); }

std::string factor(const FigureValue& value) { return rounded(value) + " x"; }

}  // namespace workbench
