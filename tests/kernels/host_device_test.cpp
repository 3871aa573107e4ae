// The host as a device: memory, scatter, time and bandwidth.
#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/device/host_device.hpp"
#include "pipeline/contract/errors.hpp"
#include "support/free_memory.hpp"
#include "support/message_of.hpp"

using namespace workbench;

TEST_CASE("the host as a device") {
    const std::unique_ptr<Device> host = make_host_device();
    Device& device = *host;
    CHECK(device.properties().kind == DeviceKind::host);
    CHECK(device.properties().processors >= 1);
    CHECK(device.properties().memory > 0);

    SUBCASE("memory comes and goes unchanged") {
        const std::vector<double> numbers{1, 2, 3};
        const DeviceMemory memory = to_device<double>(device, numbers, "three numbers");
        std::vector<double> back(3);
        device.download(memory, std::as_writable_bytes(std::span(back)));
        CHECK(back == numbers);
        std::vector<double> too_many(4);
        CHECK_THROWS_AS(device.download(memory, std::as_writable_bytes(std::span(too_many))), std::logic_error);
        CHECK_NOTHROW((void)to_device<double>(device, {}, "nothing"));
    }
    SUBCASE("too much memory is refused with the bytes wanted and free") {
        const std::string message = message_of<MachineError>([&] { (void)device.allocate(std::size_t{1} << 60, "a planet"); });
        CHECK(message.find("host memory for a planet: 1152921504606846976 bytes wanted, ") == 0);
        CHECK_THROWS_AS((void)device.allocate(std::numeric_limits<std::size_t>::max(), "everything"), MachineError);
    }
    SUBCASE("scatter") {
        const std::vector<float> values{10, 11, 12};
        const std::vector<Index> target{2, 0, 1};
        std::vector<float> y(3);
        device.scatter(values.data(), target.data(), 3, y.data());
        CHECK(y == std::vector<float>{11, 12, 10});
    }
    SUBCASE("what is flushed through the cache is at least twice as large") {
        const FreeMemory none(0);
        const std::string message = message_of<MachineError>([&] { device.flush_cache(); });
        const std::string before = "host memory for flushing the cache: ";
        REQUIRE(message.find(before) == 0);
        const std::size_t wanted = std::stoull(message.substr(before.size()));
        CHECK(wanted >= 2 * device.properties().last_level_cache);
        CHECK(wanted >= 64 * mebibyte);
    }
    SUBCASE("a copy of half a buffer to the other reads half and writes half") {
        const Bandwidth bandwidth = host_bandwidth(600, 2, 3);
        CHECK(bandwidth.copy == 300);
        CHECK(bandwidth.read == 200);
    }
    SUBCASE("time, flush, bandwidth") {
        bool ran = false;
        CHECK(device.time([&] { ran = true; }) >= 0);
        CHECK(ran);
        CHECK_NOTHROW(device.flush_cache());
        const Bandwidth bandwidth = device.bandwidth();
        CHECK(bandwidth.copy > 1e8);
        CHECK(bandwidth.read > 1e8);
        CHECK(device.bandwidth().copy == bandwidth.copy);
    }
}
