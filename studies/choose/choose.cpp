#include "studies/choose/choose.hpp"

#include "studies/choose/search.hpp"

namespace workbench {

std::optional<double> Timed::saved_seconds(double products) const {
    if (!faster() || !record.break_even) return std::nullopt;
    return price_seconds * (products / *record.break_even - 1);
}

Choice choose(const CsrMatrix& matrix, const Catalogue& catalogue, Devices devices, const std::vector<Recipe>& recipes,
              const ChooseOptions& options) {
    return Search(matrix, catalogue, devices, recipes, options).run();
}

}  // namespace workbench
