// Exceptions from the body of a parallel loop reach the thread that started the loop.
#include <doctest/doctest.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "core/matrix/guarded_loop.hpp"

namespace workbench {
namespace {

using Range = HostRange<int>;

}  // namespace

TEST_SUITE("guarded loops") {
    TEST_CASE("an exception is rethrown after all iterations") {
        std::atomic<int> count = 0;
        CHECK_THROWS_WITH_AS(guarded_for("test", Range(0, 1000),
                                         [&](int i) {
                                             ++count;
                                             if (i == 500) throw std::runtime_error("at 500");
                                         }),
                             "at 500", std::runtime_error);
        CHECK(count == 1000);
    }

    TEST_CASE("one of many exceptions is rethrown") {
        CHECK_THROWS_AS(guarded_for("test", Range(0, 1000), [](int) { throw std::bad_alloc(); }), std::bad_alloc);
    }

    TEST_CASE("without an exception all iterations run") {
        std::atomic<int> sum = 0;
        CHECK_NOTHROW(guarded_for("test", Range(0, 10), [&](int i) { sum += i; }));
        CHECK(sum == 45);
        CHECK_NOTHROW(guarded_for("test", Range(0, 0), [](int) { throw std::bad_alloc(); }));
    }
}

}  // namespace workbench
