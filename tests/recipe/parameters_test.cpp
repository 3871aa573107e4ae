// Parameters: formatting of values, accepted values, suggestions.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/contract/parameters.hpp"
#include "core/text/suggestion.hpp"

namespace workbench {
namespace {

TEST_CASE("values are formatted as in TOML") {
    CHECK(to_text(true) == "true");
    CHECK(to_text(std::int64_t{-16}) == "-16");
    CHECK(to_text(16.0) == "16.0");
    CHECK(to_text(0.1) == "0.1");
    CHECK(to_text(1e300) == "1e+300");
    CHECK(to_text(std::string("a \"b\" \\ \n\x01")) == "\"a \\\"b\\\" \\\\ \\n\\u0001\"");
}

TEST_CASE("a declaration describes what it accepts, and refuses other values") {
    const ParameterDeclaration parts = {
        .name = "parts", .type = ParameterType::integer, .minimum = 1, .maximum = 65536, .words = {"auto"}};
    CHECK(accepted_values(parts) == "an integer from 1 to 65536, or \"auto\"");
    CHECK(reason_to_refuse(parts, std::int64_t{1}).empty());
    CHECK(reason_to_refuse(parts, std::int64_t{65536}).empty());
    CHECK(reason_to_refuse(parts, std::string("auto")).empty());
    CHECK(reason_to_refuse(parts, std::int64_t{0}) == "found 0, expected an integer from 1 to 65536, or \"auto\"");
    CHECK(reason_to_refuse(parts, 16.0) == "found 16.0 (a real number), expected an integer from 1 to 65536, or \"auto\"");
    CHECK(reason_to_refuse(parts, true) == "found true, expected an integer from 1 to 65536, or \"auto\"");
    CHECK(reason_to_refuse(parts, std::string("atuo")) ==
          "found \"atuo\", expected an integer from 1 to 65536, or \"auto\"; did you mean 'auto'?");

    const ParameterDeclaration share = {.name = "share", .type = ParameterType::real, .minimum = 0.5, .unit = "of the rows"};
    CHECK(accepted_values(share) == "a number of at least 0.5 (of the rows)");
    CHECK(reason_to_refuse(share, std::int64_t{1}).empty());
    CHECK_FALSE(reason_to_refuse(share, std::numeric_limits<double>::infinity()).empty());
    CHECK_FALSE(reason_to_refuse(share, std::numeric_limits<double>::quiet_NaN()).empty());

    const ParameterDeclaration order = {.name = "order", .type = ParameterType::choice, .words = {"up", "down", "both"}};
    CHECK(accepted_values(order) == "\"up\", \"down\" or \"both\"");
    CHECK(reason_to_refuse(order, std::string("dwon")) ==
          "found \"dwon\", expected \"up\", \"down\" or \"both\"; did you mean 'down'?");
}

TEST_CASE("parameters contain given values and defaults") {
    const std::vector<ParameterDeclaration> declarations = {
        {.name = "width", .type = ParameterType::integer},
        {.name = "share", .type = ParameterType::real, .default_value = 0.5},
        {.name = "window", .type = ParameterType::integer, .optional = true},
    };
    const Parameters parameters(declarations, {{"width", std::int64_t{3}}, {"share", std::int64_t{2}}});
    CHECK(parameters.integer("width") == 3);
    CHECK(parameters.real("share") == 2.0);  // an integer for a real parameter
    CHECK_FALSE(parameters.has("window"));
    CHECK_THROWS_AS(static_cast<void>(parameters.integer("window")), std::logic_error);
    CHECK_THROWS_AS(Parameters(declarations, {}), std::logic_error);
    CHECK_THROWS_AS(Parameters(declarations, {{"width", true}}), std::logic_error);
    CHECK_THROWS_AS(Parameters(declarations, {{"width", std::int64_t{3}}, {"height", std::int64_t{3}}}), std::logic_error);
}

TEST_CASE("suggestions are similar words") {
    const std::vector<std::string> names = {"metis_partition", "row_sort", "split"};
    CHECK(did_you_mean("metis_partion", names) == "; did you mean 'metis_partition'?");
    CHECK(did_you_mean("row-sort", names) == "; did you mean 'row_sort'?");
    CHECK(did_you_mean("Split", names) == "; did you mean 'split'?");
    CHECK(did_you_mean("spilt", names) == "; did you mean 'split'?");
    CHECK(did_you_mean("metis", names) == "; did you mean 'metis_partition'?");
    CHECK(did_you_mean("hash", names).empty());
    CHECK(did_you_mean("", names).empty());
    CHECK(did_you_mean(std::string(100'000, 'x'), names).empty());
}

}  // namespace
}  // namespace workbench
