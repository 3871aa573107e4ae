// The suite of slow test cases, which run after all others.
#pragma once

namespace workbench {

/// TEST_CASE("..." * doctest::test_suite(slow)): main.cpp runs suites in the order of their names, and '~' sorts last.
inline constexpr const char* slow = "~slow";

}  // namespace workbench
