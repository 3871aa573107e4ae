// Arrays that all threads fill: the same as by one, whatever their size, within a parallel loop too.
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <numeric>
#include <vector>

#include "pipeline/matrix/host_array.hpp"
#include "pipeline/matrix/permutation.hpp"
#include "pipeline/matrix/permuted_offsets.hpp"

using namespace workbench;

namespace {

// About the sizes from which on threads share the work, and up to which they take pieces.
const std::vector<std::size_t> sizes{0, 1, 2, 1000, 131071, 131072, 131073, 300001};

/// Fills, copies, sums up; is every item what it should be?
bool all_right(std::size_t count) {
    HostArray<Index> filled{7, 8, 9};
    make_filled(filled, count, -5);
    if (filled != std::vector<Index>(count, -5)) return false;
    HostArray<double> zeros(3, 1.0);
    make_zeros(zeros, count);
    if (zeros != std::vector<double>(count, 0.0)) return false;

    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.25);
    HostArray<float> rounded;
    make_copy(rounded, values);
    if (rounded.size() != count) return false;
    for (std::size_t i = 0; i < count; ++i) {
        if (rounded[i] != static_cast<float>(values[i])) return false;
    }

    HostArray<Offset> counts(count);
    for (std::size_t i = 0; i < count; ++i) counts[i] = static_cast<Offset>(i % 7);
    std::vector<Offset> expected(counts.begin(), counts.end());
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
    sum_up(counts);
    return counts == expected;
}

/// size - 1, ..., 0.
std::vector<Index> turned(Index size) {
    std::vector<Index> list(size);
    for (Index i = 0; i < size; ++i) list[i] = size - 1 - i;
    return list;
}

}  // namespace

TEST_CASE("arrays of any size are filled, copied and summed up") {
    for (const std::size_t count : sizes) CHECK_MESSAGE(all_right(count), count);
}

TEST_CASE("arrays may be filled within a parallel loop") {
    int right = 0;
    Kokkos::parallel_reduce(
        "fill_arrays", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 8),
        [&](int, int& sum) { sum += all_right(300001) ? 1 : 0; }, right);
    CHECK(right == 8);
}

TEST_CASE("pieces cover everything once") {
    for (const std::size_t count : sizes) {
        std::vector<int> visits(count);
        for_pieces(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        CHECK_MESSAGE(visits == std::vector<int>(count, 1), count);
    }
}

TEST_CASE("arrays and vectors of the same items are equal") {
    const HostArray<Index> array{1, 2, 3};
    CHECK(array == std::vector<Index>{1, 2, 3});
    CHECK(array != std::vector<Index>{1, 2});
    CHECK(array != std::vector<Index>{1, 2, 4});
    CHECK(array != std::vector<Index>{1, 2, 3, 4});
}

TEST_CASE("large permutations: inverse, composition, and the offsets of rows that moved") {
    constexpr Index size = 200003;
    const Permutation turn = Permutation::from_old_of_new(turned(size));
    CHECK(turn.new_of_old(0) == size - 1);
    CHECK(turn.new_of_old(size - 1) == 0);
    CHECK(turn.then(turn).is_identity());
    CHECK_FALSE(turn.is_identity());
    std::vector<Index> twice = turned(size);
    twice[150000] = twice[7];
    CHECK_THROWS_WITH((void)Permutation::from_old_of_new(twice),
                      "not a permutation of 0 .. 200002: place 150000 holds 199995 a second time");
    twice[150000] = size;
    CHECK_THROWS_WITH((void)Permutation::from_new_of_old(twice),
                      "not a permutation of 0 .. 200002: place 150000 holds 200003, which is out of range");

    std::vector<Offset> offsets(size + 1);
    for (Index i = 0; i < size; ++i) offsets[i + 1] = offsets[i] + i % 5;
    const HostArray<Offset> moved = permuted_offsets(offsets, turn);
    bool right = moved.front() == 0;
    for (Index i = 0; i < size; ++i) right = right && moved[i + 1] - moved[i] == (size - 1 - i) % 5;
    CHECK(right);
}
