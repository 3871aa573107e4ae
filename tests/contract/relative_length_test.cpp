#include "core/text/relative_length.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workbench {

TEST_CASE("relative lengths are numbers, multiples of the mean, or percentiles") {
    using Of = RelativeLength::Of;
    const auto is = [](const char* text, Of of, double factor, double percent) {
        const std::optional<RelativeLength> length = read_relative_length(text);
        return length && length->of == of && length->factor == factor && length->percent == percent;
    };
    CHECK(is("0", Of::number, 0, 0));
    CHECK(is("2147483647", Of::number, 2147483647, 0));
    CHECK(is("mean", Of::mean, 1, 0));
    CHECK(is("2*mean", Of::mean, 2, 0));
    CHECK(is("0.25*mean", Of::mean, 0.25, 0));
    CHECK(is("p95", Of::percentile, 1, 95));
    CHECK(is("p99.9", Of::percentile, 1, 99.9));
    CHECK(is("1.5*p0", Of::percentile, 1.5, 0));
    for (const char* wrong : {"", "-1", "2147483648", "1.5", "2 * mean", "2*", "*mean", "2mean", "means", "p", "p101", "p-1",
                              "p5x", "2*3", "1e3*mean", "nan*mean", "inf*mean", "median", "P95"}) {
        CAPTURE(wrong);
        CHECK_FALSE(read_relative_length(wrong).has_value());
    }
    CHECK(items_of_list("4, p50,mean") == std::vector<std::string>{"4", "p50", "mean"});
    CHECK(items_of_list("") == std::vector<std::string>{""});
    CHECK(items_of_list("1,,2").size() == 3);
}

}  // namespace workbench
