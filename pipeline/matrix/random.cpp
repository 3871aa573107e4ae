#include "pipeline/matrix/random.hpp"

#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace workbench {
namespace {

struct Generator {
    std::uint64_t state;

    std::uint64_t next() { return mixed(std::exchange(state, state + random_step)); }

    /// Uniform in 0 .. bound - 1: numbers of the last, incomplete round of `bound` are drawn again.
    std::uint64_t below(std::uint64_t bound) {
        constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t end_of_rounds = largest - largest % bound;
        std::uint64_t drawn = next();
        while (drawn >= end_of_rounds) drawn = next();
        return drawn % bound;
    }
};

}  // namespace

Permutation random_permutation(Index size, std::uint64_t seed) {
    Generator random{seed};
    std::vector<Index> list(size);
    std::iota(list.begin(), list.end(), Index{0});
    for (Index left = size; left > 1; --left) std::swap(list[left - 1], list[random.below(left)]);
    return Permutation::from_old_of_new(std::move(list));
}

}  // namespace workbench
