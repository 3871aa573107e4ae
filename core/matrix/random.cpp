#include "core/matrix/random.hpp"

#include <numeric>
#include <utility>
#include <vector>

namespace workbench {

Permutation random_permutation(Index size, std::uint64_t seed) {
    RandomStream random{seed};
    std::vector<Index> list(size);
    std::iota(list.begin(), list.end(), Index{0});
    for (Index left = size; left > 1; --left) std::swap(list[left - 1], list[random.below(left)]);
    return Permutation::from_old_of_new(std::move(list));
}

}  // namespace workbench
