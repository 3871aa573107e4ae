#include "studies/choose/search_page.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "viz/page_file.hpp"

namespace workbench {
namespace {

/// The correlation between the ranks of predicted and of measured times; none if fewer than three recipes have both.
std::optional<double> correlation_of(const Choice& choice) {
    std::vector<std::pair<double, double>> pairs;
    for (const Timed& one : choice.ranking) {
        if (one.predicted_seconds > 0) pairs.emplace_back(one.predicted_seconds, one.record.seconds);
    }
    return rank_correlation_of(pairs);
}

/// The mean ranks of values, from 1.
std::vector<double> mean_ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
        for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
        begin = end;
    }
    return ranks;
}

std::string title_of(const MatrixReport& matrix) { return fmt::format("The search for {}", matrix.source); }

}  // namespace

std::optional<double> rank_correlation_of(const std::vector<std::pair<double, double>>& pairs) {
    constexpr std::size_t fewest = 3;
    if (pairs.size() < fewest) return std::nullopt;
    std::vector<double> x;
    std::vector<double> y;
    for (const auto& [first, second] : pairs) {
        x.push_back(first);
        y.push_back(second);
    }
    x = mean_ranks(x);
    y = mean_ranks(y);
    const double mean = static_cast<double>(pairs.size() + 1) / 2;
    double both = 0;
    double of_x = 0;
    double of_y = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        both += (x[i] - mean) * (y[i] - mean);
        of_x += (x[i] - mean) * (x[i] - mean);
        of_y += (y[i] - mean) * (y[i] - mean);
    }
    if (of_x == 0 || of_y == 0) return std::nullopt;
    return both / std::sqrt(of_x * of_y);
}

std::string search_document(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                            const std::string& command) {
    nlohmann::json facts = json_of(choice, options, matrix, "");
    facts.erase("runs");
    const std::optional<double> correlation = correlation_of(choice);
    const nlohmann::json document{{"kind", "choose"},
                                  {"title", title_of(matrix)},
                                  {"command", command},
                                  {"runs", nlohmann::json::array()},
                                  {"choice", std::move(facts)},
                                  {"sentences", {answer_of(choice, options), search_text(choice, options)}},
                                  {"correlation", correlation ? nlohmann::json(*correlation) : nlohmann::json(nullptr)}};
    return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string search_page(const Choice& choice, const ChooseOptions& options, const MatrixReport& matrix,
                        const std::string& command) {
    return PageFile().html(title_of(matrix), search_document(choice, options, matrix, command));
}

}  // namespace workbench
