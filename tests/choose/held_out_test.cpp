// The error of the cost model on matrices to which it was not fitted: bandwidth, sector, launch and step, and a factor of each
// layout, are fitted to the times of nine patterns on an H200 and predict those of the tenth.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "choose/h200_tables.hpp"
#include "studies/choose/calibration.hpp"

namespace workbench {
namespace {

/// The lines of all matrices but one. The numbers by which layouts state their bandwidth, which were fitted to all of them, are
/// left out.
std::vector<CalibrationLine> lines_without(const std::string& left_out, const Table<Measured>& measured,
                                           const Table<Predicted>& predicted) {
    std::vector<CalibrationLine> lines;
    for (const auto& [matrix, times] : measured) {
        if (matrix == left_out) continue;
        for (const auto& [recipe, time] : times) {
            const auto found = predicted.at(matrix).find(recipe);
            if (found == predicted.at(matrix).end()) continue;
            lines.push_back({found->second.layouts, found->second.costs, 1e-6 * time.microseconds});
            for (LayoutCost& cost : lines.back().costs) cost.bandwidth = 1;
        }
    }
    return lines;
}

/// How well predictions agree with measured times.
struct Agreement {
    double correlation = 0;
    std::ptrdiff_t before = 0;  // recipes that are predicted to be faster than the fastest
    double error = 0;           // mean of |log(measured / predicted)|
};

Agreement agreement_of(const std::vector<double>& measured, const std::vector<double>& predicted) {
    Agreement found{.correlation = rank_correlation(measured, predicted)};
    const double of_fastest = predicted[std::min_element(measured.begin(), measured.end()) - measured.begin()];
    found.before = std::count_if(predicted.begin(), predicted.end(), [&](double seconds) { return seconds < of_fastest; });
    for (std::size_t i = 0; i < measured.size(); ++i) {
        found.error += std::abs(std::log(measured[i] / predicted[i])) / static_cast<double>(measured.size());
    }
    return found;
}

Agreement held_out(const std::string& matrix, const Table<Measured>& measured, const Table<Predicted>& predicted) {
    constexpr double copy_bandwidth_of_h200 = 4.28e12;
    const Calibration fitted = fit_calibration(lines_without(matrix, measured, predicted),
                                               speed_of(*find_device_model("h200"), copy_bandwidth_of_h200));
    std::vector<double> times;
    std::vector<double> predictions;
    for (const auto& [recipe, time] : measured.at(matrix)) {
        const auto found = predicted.at(matrix).find(recipe);
        if (found == predicted.at(matrix).end()) continue;
        std::vector<LayoutCost> costs = found->second.costs;
        for (LayoutCost& cost : costs) cost.bandwidth = 1;
        times.push_back(1e-6 * time.microseconds);
        predictions.push_back(fitted.seconds(found->second.layouts, costs));
    }
    return agreement_of(times, predictions);
}

}  // namespace

TEST_SUITE("held_out") {
    TEST_CASE("constants that were fitted to other matrices rank the recipes of a matrix") {
        const Table<Measured> measured = measured_times();
        const Table<Predicted> predicted = predicted_times();
        REQUIRE(measured.size() == 10);
        double correlations = 0;
        double errors = 0;
        std::map<int, int> found_within;
        for (const auto& [matrix, times] : measured) {
            const Agreement one = held_out(matrix, measured, predicted);
            MESSAGE(matrix, ": rank correlation ", one.correlation, ", fastest is number ", one.before + 1, ", mean error ",
                    100 * std::expm1(one.error), " %");
            correlations += one.correlation / 10;
            errors += one.error / 10;
            for (const int first : {3, 5, 10}) found_within[first] += one.before < first ? 1 : 0;
        }
        MESSAGE("mean rank correlation ", correlations, ", mean error ", 100 * std::expm1(errors),
                " %, fastest among the first 3: ", found_within[3], ", 5: ", found_within[5], ", 10: ", found_within[10],
                " of 10");
        CHECK(correlations > 0.6);
        CHECK(found_within[10] >= 7);
    }
}

}  // namespace workbench
