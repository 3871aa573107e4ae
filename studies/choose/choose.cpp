#include "studies/choose/choose.hpp"

#include <algorithm>

#include "studies/choose/search.hpp"

namespace workbench {

double Timed::permutation_seconds() const {
    const auto vectors = std::find_if(record.preparation.begin(), record.preparation.end(),
                                      [](const auto& part) { return part.first == "vectors"; });
    return vectors == record.preparation.end() ? 0 : vectors->second;
}

std::optional<double> Timed::saved_seconds(double products, double solves) const {
    if (!faster() || !record.break_even) return std::nullopt;
    return price_seconds * (products / *record.break_even - 1) - (solves - 1) * permutation_seconds();
}

Choice choose(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
              const ChooseOptions& options) {
    return Search(matrix, catalogue, devices, recipes, options).run();
}

}  // namespace workbench
