#include "core/matrix/permutation.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/matrix/host_array.hpp"

namespace workbench {
namespace {

/// The inverse of a permutation, computed by all threads. Places stay -1 if the list is no permutation.
std::vector<Index> places_of_values(const std::vector<Index>& list) {
    std::vector<Index> result(list.size(), -1);
    for_pieces(list.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (list[i] < 0 || static_cast<std::size_t>(list[i]) >= list.size()) continue;
            std::atomic_ref(result[list[i]]).store(static_cast<Index>(i), std::memory_order_relaxed);
        }
    });
    return result;
}

std::vector<Index> inverse(const std::vector<Index>& list) {
    const auto size = static_cast<Index>(list.size());
    std::vector<Index> result = places_of_values(list);
    // If no place is empty, every value occurs exactly once.
    if (std::find(result.begin(), result.end(), -1) == result.end()) return result;
    result.assign(list.size(), -1);
    for (Index i = 0; i < size; ++i) {
        const Index value = list[i];
        if (value < 0 || value >= size || result[value] != -1) {
            throw std::invalid_argument("not a permutation of 0 .. " + std::to_string(size - 1) + ": element " +
                                        std::to_string(i) + " is " + std::to_string(value) +
                                        (value < 0 || value >= size ? ", which is out of range" : ", which is a duplicate"));
        }
        result[value] = i;
    }
    return result;
}

}  // namespace

Permutation::Permutation(std::vector<Index> old_of_new, std::vector<Index> new_of_old)
    : old_of_new_(std::move(old_of_new)), new_of_old_(std::move(new_of_old)) {}

Permutation Permutation::identity(Index size) {
    std::vector<Index> list(size);
    std::iota(list.begin(), list.end(), Index{0});
    return {list, list};
}

Permutation Permutation::from_old_of_new(std::vector<Index> list) {
    std::vector<Index> other = inverse(list);
    return {std::move(list), std::move(other)};
}

Permutation Permutation::from_new_of_old(std::vector<Index> list) {
    std::vector<Index> other = inverse(list);
    return {std::move(other), std::move(list)};
}

Permutation Permutation::then(const Permutation& next) const {
    if (next.size() != size()) {
        throw std::invalid_argument("cannot compose permutations of sizes " + std::to_string(size()) + " and " +
                                    std::to_string(next.size()));
    }
    std::vector<Index> old_of_new(old_of_new_.size());
    std::vector<Index> new_of_old(old_of_new_.size());
    for_pieces(old_of_new.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            old_of_new[i] = old_of_new_[next.old_of_new_[i]];
            new_of_old[i] = next.new_of_old_[new_of_old_[i]];
        }
    });
    return {std::move(old_of_new), std::move(new_of_old)};
}

bool Permutation::is_identity() const {
    for (Index i = 0; i < size(); ++i) {
        if (old_of_new_[i] != i) return false;
    }
    return true;
}

}  // namespace workbench
