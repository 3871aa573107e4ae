// How much information values hold.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "core/matrix/distinct_values.hpp"
#include "core/matrix/value_statistics.hpp"

namespace workbench {

TEST_CASE("distinct values, whether f32 represents them, and their entropy") {
    const std::vector<double> one(5, 0.5);
    CHECK(value_statistics(one).distinct == 1);
    CHECK(value_statistics(one).exact_in_f32);
    CHECK(value_statistics(one).entropy_bytes == 0);
    // Values differ by their bits; four equally frequent ones have 2 bits of entropy.
    const std::vector<double> four{0.0, -0.0, 0.1, 3, 3, 0.1, -0.0, 0.0};
    CHECK(value_statistics(four).distinct == 4);
    CHECK_FALSE(value_statistics(four).exact_in_f32);
    CHECK(value_statistics(four).entropy_bytes == doctest::Approx(0.25));
    // 1/4, 3/4: 0.811 bits.
    CHECK(value_statistics(std::vector<double>{1, 2, 2, 2}).entropy_bytes == doctest::Approx(0.811278 / 8));
    CHECK(value_statistics({}).distinct == 0);
    CHECK_FALSE(is_exact_in_f32(1e300));
    CHECK(is_exact_in_f32(std::numeric_limits<double>::infinity()));
}

}  // namespace workbench
