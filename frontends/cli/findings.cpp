#include "frontends/cli/findings.hpp"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace workbench {
namespace {

/// A text in a workflow command; a property may contain neither ',' nor ':'.
std::string for_github(std::string_view text, bool is_property) {
    std::string result;
    for (const char letter : text) {
        const bool reserved =
            letter == '%' || letter == '\r' || letter == '\n' || (is_property && (letter == ':' || letter == ','));
        result += reserved ? fmt::format("%{:02X}", static_cast<unsigned char>(letter)) : std::string(1, letter);
    }
    return result;
}

}  // namespace

std::vector<Finding> findings_of(const RecipeError& error, const std::string& file) {
    std::vector<Finding> findings;
    if (const auto* all = dynamic_cast<const RecipeErrors*>(&error)) {
        for (const LocatedProblem& problem : all->problems) findings.push_back({true, problem});
        return findings;
    }
    std::string message = error.what();
    for (const std::string& start : {std::string("error: "), file + ": "}) {
        if (message.starts_with(start)) message.erase(0, start.size());
    }
    return {{true, {file, 0, 0, message}}};
}

std::string json_line(const std::vector<Finding>& findings) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [is_error, problem] : findings) {
        list.push_back({{"file", problem.file},
                        {"line", problem.line},
                        {"column", problem.column},
                        {"severity", is_error ? "error" : "note"},
                        {"message", problem.message}});
    }
    return list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string github_lines(const std::vector<Finding>& findings) {
    std::string lines;
    for (const auto& [is_error, problem] : findings) {
        lines += fmt::format("::{} file={}", is_error ? "error" : "notice", for_github(problem.file, true));
        if (problem.line > 0) lines += fmt::format(",line={},col={}", problem.line, problem.column);
        lines += fmt::format("::{}\n", for_github(problem.message, false));
    }
    return lines;
}

}  // namespace workbench
