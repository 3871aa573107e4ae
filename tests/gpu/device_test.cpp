// The device: its properties, memory, copies, clock and caches.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/measure/measure.hpp"

namespace workbench {

TEST_SUITE("device") {
    TEST_CASE("the properties of the device") {
        const auto device = make_cuda_device();
        REQUIRE(device != nullptr);
        CHECK_EQ(cuda_absence_reason(), "");
        const DeviceProperties& properties = device->properties();
        CHECK(properties.kind == DeviceKind::gpu);
        CHECK_FALSE(properties.name.empty());
        CHECK_GT(properties.processors, 0);
        CHECK_GE(properties.shared_memory_per_block, std::size_t{48} * 1024);
        CHECK_GT(properties.last_level_cache, std::size_t{256} * 1024);
        CHECK_GT(properties.memory, std::size_t{1} << 30);
        MESSAGE(fmt::format("{}: {} multiprocessors, {} bytes of shared memory a block, {} bytes of L2, {} bytes of memory",
                            properties.name, properties.processors, properties.shared_memory_per_block,
                            properties.last_level_cache, properties.memory));
    }

    TEST_CASE("too much memory is refused with its purpose and the requested and free bytes") {
        const auto device = make_cuda_device();
        std::string text;
        try {
            (void)device->allocate(std::size_t{1} << 50, "a petabyte for the test");
        } catch (const MachineError& error) {
            text = error.what();
        }
        CHECK_NE(text.find("a petabyte for the test needs 1125899906842624 bytes"), std::string::npos);
        CHECK_NE(text.find("free are "), std::string::npos);
        CHECK_EQ(device->allocate(1024, "a little").bytes(), 1024);  // the device still works
    }

    TEST_CASE("copies to the device and back are unchanged") {
        const auto device = make_cuda_device();
        const std::vector<double> there = real_vector(100001, 3);
        const DeviceMemory memory = to_device(*device, std::span(there), "a vector");
        std::vector<double> back(there.size());
        device->download(memory, std::as_writable_bytes(std::span(back)));
        CHECK(there == back);
        CHECK_EQ(to_device(*device, std::span<const double>(), "nothing").bytes(), 0);
    }

    TEST_CASE("memory is taken from a pool again, and not while earlier work of its owner uses it") {
        const auto device = make_cuda_device();
        const auto other = make_cuda_device();
        constexpr std::size_t bytes = std::size_t{64} << 20;
        for (const bool is_other : {false, true}) {
            Device& next = is_other ? *other : *device;
            DeviceMemory memory = device->allocate(bytes, "memory of the first");
            const void* const address = memory.address();
            device->flush_cache();
            for (int i = 0; i < 20; ++i) device->fill(memory.address(), std::byte{1}, bytes);
            memory = {};
            const DeviceMemory again = next.allocate(bytes, "memory of the second");
            CHECK_EQ(again.address(), address);
            next.fill(again.address(), std::byte{2}, bytes);
            std::vector<std::byte> found(bytes);
            next.download(again, found);
            CHECK(std::all_of(found.begin(), found.end(), [](std::byte byte) { return byte == std::byte{2}; }));
        }
        DeviceMemory outlives;
        {
            const auto gone = make_cuda_device();
            outlives = gone->allocate(1024, "memory that outlives its device");
        }
        outlives = {};
        CHECK_EQ(device->allocate(1024, "a little").bytes(), 1024);
    }

    TEST_CASE("elements are converted on their way to the device, also beside other work") {
        const auto device = make_cuda_device();
        // From less than a piece of the pinned buffers to several rounds of all, and an end within a piece.
        for (const std::size_t count : {std::size_t{0}, std::size_t{5}, std::size_t{70'001}, std::size_t{9'000'003}}) {
            std::vector<double> values(count);
            for (std::size_t i = 0; i < count; ++i) values[i] = 0.1 * static_cast<double>(i);
            const std::span<const double> from(values);
            const DeviceMemory rounded = to_device_as<float>(*device, from, "values");
            CHECK_EQ(rounded.bytes(), count * sizeof(float));
            DeviceMemory beside = device->allocate(count * sizeof(double), "values beside other work");
            const auto pending = device->begin_upload(count * sizeof(double), converted<double>(from), beside);
            device->flush_cache();
            DeviceMemory small = to_device(*device, std::span<const double>(std::vector<double>{1, 2}), "other work");
            pending->wait();
            pending->wait();
            std::vector<float> in_f32(count);
            std::vector<double> in_f64(count);
            device->download(rounded, std::as_writable_bytes(std::span(in_f32)));
            device->download(beside, std::as_writable_bytes(std::span(in_f64)));
            CHECK(in_f64 == values);
            CHECK(std::equal(in_f32.begin(), in_f32.end(), values.begin(),
                             [](float found, double value) { return found == static_cast<float>(value); }));
        }
        DeviceMemory little = device->allocate(64, "too little");
        const FillPiece fill = [](std::size_t, std::span<std::byte> piece) { std::ranges::fill(piece, std::byte{1}); };
        CHECK_THROWS_AS(device->upload_pieces(std::size_t{64} << 20, fill, little), std::logic_error);
        DeviceMemory room = device->allocate(std::size_t{64} << 20, "room");
        const FillPiece fails = [](std::size_t, std::span<std::byte>) { throw std::runtime_error("no"); };
        CHECK_THROWS_AS(device->begin_upload(room.bytes(), fails, room)->wait(), std::runtime_error);
        CHECK_THROWS_AS(device->upload_pieces(room.bytes(), fails, room), std::runtime_error);
        device->upload_pieces(room.bytes(), fill, room);
        std::vector<std::byte> found(room.bytes());
        device->download(room, found);
        CHECK(std::ranges::all_of(found, [](std::byte byte) { return byte == std::byte{1}; }));
    }

    TEST_CASE_TEMPLATE("scatter writes each value to its target", Value, float, double) {
        const auto device = make_cuda_device();
        constexpr Index count = 5003;
        std::vector<Value> values(count);
        std::vector<Index> target(count);
        for (Index i = 0; i < count; ++i) {
            values[i] = static_cast<Value>(i + 1);
            target[i] = static_cast<Index>((std::int64_t{i} * 1234 + 17) % count);  // 5003 is prime
        }
        const DeviceMemory device_values = to_device(*device, std::span<const Value>(values), "values");
        const DeviceMemory device_target = to_device(*device, std::span<const Index>(target), "target");
        const DeviceMemory y = device->allocate(count * sizeof(Value), "y");
        device->scatter(device_values.as<Value>(), device_target.as<Index>(), count, y.as<Value>());
        device->scatter(device_values.as<Value>(), device_target.as<Index>(), 0, y.as<Value>());
        std::vector<Value> found(count);
        device->download(y, std::as_writable_bytes(std::span(found)));
        std::vector<Value> expected(count);
        for (Index i = 0; i < count; ++i) expected[target[i]] = values[i];
        CHECK(found == expected);
        device->scatter(device_values.as<Value>(), nullptr, count, y.as<Value>());
        device->download(y, std::as_writable_bytes(std::span(found)));
        CHECK(found == values);
    }

    TEST_CASE("a branch begins after its fork, and the device continues after its join") {
        const auto device = make_cuda_device();
        const auto branch = device->make_branch();
        REQUIRE(branch != nullptr);
        constexpr Index count = 1000;
        std::vector<Index> places(count);
        for (Index i = 0; i < count; ++i) places[i] = i;
        const DeviceMemory target = to_device(*device, std::span<const Index>(places), "target");
        const DeviceMemory y = device->allocate(count * sizeof(double), "y");
        const auto all = [&](double value) {
            return to_device(*device, std::span<const double>(std::vector<double>(count, value)), "values");
        };
        const DeviceMemory one = all(1);
        const DeviceMemory two = all(2);
        const auto set = [&](const DeviceMemory& to) {
            device->scatter(to.as<double>(), target.as<Index>(), count, y.as<double>());
        };
        const auto add = [&](const DeviceMemory& what) {
            device->scatter_add(what.as<double>(), target.as<Index>(), count, y.as<double>());
        };
        const auto is = [&](double value) {
            std::vector<double> found(count);
            device->download(y, std::as_writable_bytes(std::span(found)));
            return found == std::vector<double>(count, value);
        };
        // A flush takes longer than a branch that begins too early.
        device->flush_cache();
        set(one);
        branch->fork();
        branch->take([&] { add(two); });
        branch->join();
        CHECK(is(3));
        branch->fork();
        branch->take([&] {
            device->flush_cache();
            add(one);
        });
        branch->join();
        set(two);
        CHECK(is(2));
        CHECK_THROWS_AS(branch->take([] { throw std::runtime_error("no"); }), std::runtime_error);
        add(one);  // on the device's own stream again
        CHECK(is(3));
    }
}

TEST_SUITE("timing") {
    TEST_CASE("time and bandwidth have plausible magnitudes") {
        const auto device = make_cuda_device();
        CHECK_LT(device->time([] {}), 1e-3);
        const Bandwidth bandwidth = device->bandwidth();
        MESSAGE(fmt::format("copy {:.0f} GB/s, read {:.0f} GB/s", 1e-9 * bandwidth.copy, 1e-9 * bandwidth.read));
        for (const double each : {bandwidth.copy, bandwidth.read}) {
            CHECK_GT(each, 1e10);
            CHECK_LT(each, 2e13);
        }
        CHECK_EQ(device->bandwidth().copy, bandwidth.copy);  // measured once
        const std::size_t cache = device->properties().last_level_cache;
        const double of_memory = device->read_bandwidth(100 * cache);
        const double of_cache = device->read_bandwidth(cache / 8);
        MESSAGE(fmt::format("read again and again: {:.0f} GB/s from memory, {:.0f} GB/s from L2", 1e-9 * of_memory,
                            1e-9 * of_cache));
        CHECK_GT(of_memory, 0.8 * bandwidth.read);
        CHECK_GT(of_cache, 0.5 * of_memory);  // so few loads a thread wait for the latency of L2: 0.63 on an H200
        CHECK_LT(of_cache, 1e14);
    }

    TEST_CASE("memory is filled with a byte") {
        const auto device = make_cuda_device();
        const DeviceMemory memory = device->allocate(8, "eight bytes");
        device->zero(memory.address(), 8);
        device->fill(memory.address(), std::byte{0xFF}, 5);
        std::uint64_t found = 0;
        device->download(memory, std::as_writable_bytes(std::span(&found, 1)));
        CHECK(found == 0xFFFFFFFFFFULL);
    }

    TEST_CASE("timing excludes the launch time of the host, and work that waits for the device completes") {
        const auto device = make_cuda_device();
        DeviceMemory memory = device->allocate(8, "a number");
        CHECK_LT(device->time([&] {
            device->zero(memory.address(), memory.bytes());
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            device->zero(memory.address(), memory.bytes());
        }),
                 2.5e-3);
        double number = 1;
        CHECK_GT(device->time([&] { device->download(memory, std::as_writable_bytes(std::span(&number, 1))); }), 0);
        CHECK(number == 0);
        CHECK_THROWS_AS((void)device->time([] { throw std::runtime_error("no"); }), std::runtime_error);
        CHECK_LT(device->time([] {}), 1e-3);
    }

    TEST_CASE("after a flush the cache is cold") {
        const auto device = make_cuda_device();
        // A quarter of the cache, so that all of it stays in the cache between runs.
        const auto count = static_cast<Index>(device->properties().last_level_cache / 4 / (2 * sizeof(double) + sizeof(Index)));
        std::vector<Index> target(count);
        for (Index i = 0; i < count; ++i) target[i] = i;
        const DeviceMemory device_target = to_device(*device, std::span<const Index>(target), "target");
        const DeviceMemory values = to_device(*device, std::span<const double>(real_vector(count, 7)), "values");
        const DeviceMemory y = device->allocate(count * sizeof(double), "y");
        const auto work = [&] { device->scatter(values.as<double>(), device_target.as<Index>(), count, y.as<double>()); };
        const auto median = [&](CacheState cache) {
            return time_in_turns({{"", device.get(), work}}, {cache, 21, 0, 10}).front().median;
        };
        const double warm = median(CacheState::warm);
        const double cold = median(CacheState::cold);
        MESSAGE(fmt::format("{} values scattered: warm {:.2f} us, cold {:.2f} us", count, 1e6 * warm, 1e6 * cold));
        CHECK_GT(cold, warm);
    }
}

}  // namespace workbench
