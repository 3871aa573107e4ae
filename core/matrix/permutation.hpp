// A permutation of an axis whose type states its direction.
#pragma once

#include <span>
#include <vector>

#include "core/matrix/types.hpp"

namespace workbench {

/// A bijection between an old and a new numbering. The names of its functions state the direction, so no bare list of integers
/// serves as a permutation anywhere in the program.
class Permutation {
public:
    Permutation() = default;  // of size 0

    [[nodiscard]] static Permutation identity(Index size);

    /// list[new] = old. Throws std::invalid_argument unless the list is a bijection of 0 .. size - 1.
    [[nodiscard]] static Permutation from_old_of_new(std::vector<Index> list);

    /// list[old] = new. Throws std::invalid_argument unless the list is a bijection of 0 .. size - 1.
    [[nodiscard]] static Permutation from_new_of_old(std::vector<Index> list);

    [[nodiscard]] Index size() const { return static_cast<Index>(old_of_new_.size()); }
    [[nodiscard]] Index old_of_new(Index new_position) const { return old_of_new_[new_position]; }
    [[nodiscard]] Index new_of_old(Index old_position) const { return new_of_old_[old_position]; }
    [[nodiscard]] std::span<const Index> old_of_new() const { return old_of_new_; }
    [[nodiscard]] std::span<const Index> new_of_old() const { return new_of_old_; }

    /// The composition: from the old numbering of this permutation to the new numbering of `next`.
    /// Throws std::invalid_argument where the sizes differ.
    [[nodiscard]] Permutation then(const Permutation& next) const;

    [[nodiscard]] bool is_identity() const;

    friend bool operator==(const Permutation&, const Permutation&) = default;

private:
    Permutation(std::vector<Index> old_of_new, std::vector<Index> new_of_old);

    std::vector<Index> old_of_new_;
    std::vector<Index> new_of_old_;
};

}  // namespace workbench
