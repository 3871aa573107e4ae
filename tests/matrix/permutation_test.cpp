// Permutations: exact results that fix the direction.
#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/permutation.hpp"

namespace workbench {

TEST_CASE("a permutation has the direction in which it was built") {
    // The new place 0 has the old item 2, and so on.
    const Permutation order = Permutation::from_old_of_new({2, 0, 3, 1});
    CHECK(order.old_of_new(0) == 2);
    CHECK(order.new_of_old(2) == 0);
    CHECK(std::vector<Index>(order.new_of_old().begin(), order.new_of_old().end()) == std::vector<Index>{1, 3, 0, 2});
    CHECK(Permutation::from_new_of_old({1, 3, 0, 2}) == order);
    CHECK(Permutation::from_new_of_old({2, 0, 3, 1}) != order);
    CHECK_FALSE(order.is_identity());
    CHECK(Permutation::identity(4).is_identity());
    CHECK(Permutation().is_identity());
    CHECK(Permutation::identity(0) == Permutation());
}

TEST_CASE("then composes permutations, the first one first") {
    const Permutation first = Permutation::from_old_of_new({2, 0, 1});   // a b c -> c a b
    const Permutation second = Permutation::from_old_of_new({1, 0, 2});  // c a b -> a c b
    CHECK(first.then(second) == Permutation::from_old_of_new({0, 2, 1}));
    CHECK(second.then(first) == Permutation::from_old_of_new({2, 1, 0}));  // b a c -> c b a
    const Permutation back = Permutation::from_old_of_new({first.new_of_old().begin(), first.new_of_old().end()});
    CHECK(first.then(back).is_identity());
    CHECK(back.then(first).is_identity());
    CHECK_THROWS_AS((void)first.then(Permutation::identity(2)), std::invalid_argument);
}

TEST_CASE("lists that are no bijections are refused") {
    for (const std::vector<Index>& list : std::vector<std::vector<Index>>{{0, 0}, {1, 2}, {0, -1}, {2, 1, 1}, {1}}) {
        CHECK_THROWS_AS((void)Permutation::from_old_of_new(list), std::invalid_argument);
        CHECK_THROWS_AS((void)Permutation::from_new_of_old(list), std::invalid_argument);
    }
}

TEST_CASE("the leading part of a matrix has the entries of its first rows and columns") {
    const CsrMatrix matrix = csr_from_entries(3, 4, std::vector<Entry>{{0, 0, 1}, {0, 3, 2}, {1, 1, 3}, {1, 2, 4}, {2, 0, 5}});
    CHECK(leading_part(matrix, 2, 2) == csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 1, 3}}));
    CHECK(leading_part(matrix, 3, 4) == matrix);
    CHECK(leading_part(matrix, 1, 4) == csr_from_entries(1, 4, std::vector<Entry>{{0, 0, 1}, {0, 3, 2}}));
    CHECK(leading_part(matrix, 0, 0) == CsrMatrix{});
}

}  // namespace workbench
