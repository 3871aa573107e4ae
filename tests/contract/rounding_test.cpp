// Rounding to bf16, marks of names, and the difference that rounding makes.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/contract/rounding.hpp"
#include "core/matrix/bf16.hpp"

namespace workbench {
namespace {

std::uint16_t bits(double value) { return bf16_of(value).bits; }

/// Returns the nearer of the two neighbours of a positive number, or the even one if both are equally near.
std::uint16_t nearest_of_all(double value) {
    std::uint16_t below = 0;
    while (static_cast<double>(Bf16{static_cast<std::uint16_t>(below + 1)}) <= value) ++below;
    const double down = value - static_cast<double>(Bf16{below});
    const double up = static_cast<double>(Bf16{static_cast<std::uint16_t>(below + 1)}) - value;
    if (down != up) return down < up ? below : static_cast<std::uint16_t>(below + 1);
    return below % 2 == 0 ? below : static_cast<std::uint16_t>(below + 1);
}

}  // namespace

TEST_CASE("bf16: to nearest, ties to even, rounded once") {
    CHECK(bits(1) == 0x3F80);
    CHECK(bits(-2) == 0xC000);
    CHECK(bits(1 + 0x1p-8) == 0x3F80);            // a tie
    CHECK(bits(1 + 3 * 0x1p-8) == 0x3F82);        // a tie
    CHECK(bits(1 + 0x1p-8 + 0x1p-50) == 0x3F81);  // f32 makes it a tie
    CHECK(bits(1 + 3 * 0x1p-8 - 0x1p-50) == 0x3F81);
    CHECK(bits(0.0) == 0);
    CHECK(bits(-0.0) == 0x8000);
    static_assert(static_cast<float>(bf16_of(256)) == 256);
    for (int whole = 0; whole <= 256; ++whole) CHECK(static_cast<double>(bf16_of(whole)) == whole);
    CHECK(static_cast<double>(bf16_of(257)) == 256);
    for (const double scale : {0x1p-120, 0x1p-9, 0.5, 4.0, 0x1p100}) {
        CAPTURE(scale);
        for (const double sign : {1.0, -1.0}) {  // at a distance from a tie that f32 does not represent
            const std::uint16_t down = bits(sign * scale);
            CHECK(bits(sign * scale * (1 + 0x1p-8 - 0x1p-50)) == down);
            CHECK(bits(sign * scale * (1 + 0x1p-8)) == down);
            CHECK(bits(sign * scale * (1 + 0x1p-8 + 0x1p-50)) == down + 1);
        }
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 100; ++i) {
        const double value = std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52), -120 + i / 10);
        CHECK(bits(value) == nearest_of_all(value));
        CHECK(bits(-value) == (nearest_of_all(value) | 0x8000));
    }
}

TEST_CASE("bf16: the ends of its range, infinities and NaN") {
    constexpr double largest = 0x1.FEp127;
    CHECK(bits(largest) == 0x7F7F);
    CHECK(bits(0x1.FEFFFFFFFFFFFp127) == 0x7F7F);  // less than half a step beyond
    CHECK(bits(0x1.FFp127) == 0x7F80);
    CHECK(bits(-1e300) == 0xFF80);
    CHECK(bits(std::numeric_limits<double>::infinity()) == 0x7F80);
    CHECK(bits(0x1p-133) == 1);  // the smallest number
    CHECK(bits(0x1p-134) == 0);  // a tie
    CHECK(bits(0x1.0000001p-134) == 1);
    CHECK(bits(-1e-300) == 0x8000);
    const auto nan = std::bit_cast<double>(std::uint64_t{0xFFF0000000000001});
    CHECK(std::isnan(static_cast<float>(bf16_of(nan))));
    CHECK(std::signbit(static_cast<float>(bf16_of(nan))));
}

TEST_CASE("names of layouts and recipes that round are marked, once") {
    CHECK(marked("sell", Rounding::none) == "sell");
    CHECK(marked("sell", Rounding::f32) == "~f32 sell");
    CHECK(marked("~f32 sell", Rounding::bf16) == "~bf16 sell");
    CHECK(unmarked("~bf16 sell") == "sell");
    CHECK(unmarked("~half sell") == "~half sell");
    CHECK(mark_of("~bf16 sell") == Rounding::bf16);
    CHECK(legend_of_marks({"sell", "csr"}) == "");
    CHECK(legend_of_marks({"~bf16 sell", "csr", "~f32 csr"}) ==
          "~f32, ~bf16: the values are rounded, so that the product is that of another matrix");
}

TEST_CASE("the difference that rounding makes") {
    const std::vector<double> values{3, -4, 0};
    const std::vector<double> others{3.3, -4, 0};
    const RoundingError error = error_of_rounding(values, others, Rounding::bf16);
    CHECK(error.norm == doctest::Approx(0.3 / 5));
    CHECK(error.largest == doctest::Approx(0.1));
    CHECK(error.text() == "rounded to bf16: |A - R|_F / |A|_F = 6.0e-02, an entry changes by at most 1.0e-01 of itself");
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(error_of_rounding(std::vector{1e300, infinity}, std::vector{1e300, infinity}, Rounding::f32).norm == 0);
    CHECK(error_of_rounding(std::vector{1e300, 1e300}, std::vector{2e300, 1e300}, Rounding::f32).norm ==
          doctest::Approx(std::sqrt(0.5)));
    CHECK(error_of_rounding(std::vector{0.0}, std::vector{0.0}, Rounding::f32).norm == 0);
    CHECK(rounded(0.1, Rounding::f32) == 0.10000000149011612);
    CHECK(rounded(0.1, Rounding::bf16) == 0.10009765625);
}

}  // namespace workbench
