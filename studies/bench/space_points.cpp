#include "studies/bench/space_points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace workbench {

std::vector<std::uint64_t> spread_numbers(std::uint64_t all, std::size_t wanted) {
    if (all <= wanted) {
        std::vector<std::uint64_t> numbers(static_cast<std::size_t>(all));
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        return numbers;
    }
    constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;  // its fractional part times 2^64
    std::vector<std::uint64_t> numbers;
    std::set<std::uint64_t> taken;
    for (std::uint64_t i = 0; numbers.size() < wanted; ++i) {
        const double part = std::ldexp(static_cast<double>((i * golden_ratio) >> 11), -53);
        auto number = static_cast<std::uint64_t>(part * static_cast<double>(all));
        while (!taken.insert(number).second) number = (number + 1) % all;
        numbers.push_back(number);
    }
    return numbers;
}

std::vector<Recipe> spread_points(const Space& space, std::size_t wanted) {
    std::vector<Recipe> recipes;
    for (const std::uint64_t number : spread_numbers(space.count(), wanted)) {
        recipes.push_back(space.recipe(space.point(number)));
    }
    return recipes;
}

}  // namespace workbench
