// Arrays that all threads fill, of any size and also within a parallel loop.
#include <doctest/doctest.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/matrix/permutation.hpp"

namespace workbench {
namespace {

// Around the size of a piece, and the size from which threads share the work.
const std::vector<std::size_t> sizes{0, 1, 2, 1000, 131071, 131072, 131073, 300001};

/// Fills, copies and sums up arrays. Returns true if every item is correct.
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
    for (std::size_t i = 0; i < count; ++i) counts[i] = static_cast<Offset>(3 + i % 7);
    std::vector<Offset> expected(counts.begin(), counts.end());
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
    sum_up(counts);
    return counts == expected;
}

/// size - 1, ..., 0.
std::vector<Index> descending(Index size) {
    std::vector<Index> list(size);
    for (Index i = 0; i < size; ++i) list[i] = size - 1 - i;
    return list;
}

}  // namespace

TEST_CASE("arrays of any size are filled, copied and summed up") {
    for (const std::size_t count : sizes) CHECK_MESSAGE(all_right(count), count);
}

TEST_CASE("arrays can be filled within a parallel loop") {
    int right = 0;
    Kokkos::parallel_reduce(
        "fill_arrays", HostRange<>(0, 8), [&](Index, int& sum) { sum += all_right(300001) ? 1 : 0; }, right);
    CHECK(right == 8);
}

TEST_CASE("pieces cover each index once") {
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

TEST_CASE("large permutations: inverse, composition, and permuted row offsets") {
    constexpr Index size = 200003;
    const Permutation order = Permutation::from_old_of_new(descending(size));
    CHECK(order.new_of_old(0) == size - 1);
    CHECK(order.new_of_old(size - 1) == 0);
    CHECK(order.then(order).is_identity());
    CHECK_FALSE(order.is_identity());
    std::vector<Index> twice = descending(size);
    twice[150000] = twice[7];
    CHECK_THROWS_WITH((void)Permutation::from_old_of_new(twice),
                      "not a permutation of 0 .. 200002: element 150000 is 199995, which is a duplicate");
    twice[150000] = size;
    CHECK_THROWS_WITH((void)Permutation::from_new_of_old(twice),
                      "not a permutation of 0 .. 200002: element 150000 is 200003, which is out of range");

    std::vector<Offset> offsets(size + 1);
    for (Index i = 0; i < size; ++i) offsets[i + 1] = offsets[i] + i % 5;
    const HostArray<Offset> moved = permuted_offsets(offsets, order);
    bool right = moved.front() == 0;
    for (Index i = 0; i < size; ++i) right = right && moved[i + 1] - moved[i] == (size - 1 - i) % 5;
    CHECK(right);
}

}  // namespace workbench
