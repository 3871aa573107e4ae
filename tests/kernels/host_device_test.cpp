// The host as a device: memory, scatter, time and bandwidth.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/solvers.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "kernels/host/host_device.hpp"
#include "support/free_memory.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// The variable that gives the size of the last-level cache, which gets its value back in the end.
class CacheVariable {
public:
    CacheVariable() {
        if (const char* const given = std::getenv(name)) before_ = given;
    }
    ~CacheVariable() { set(before_ ? before_->c_str() : nullptr); }
    CacheVariable(const CacheVariable&) = delete;
    CacheVariable& operator=(const CacheVariable&) = delete;
    /// null: no variable.
    void set(const char* value) const { value == nullptr ? unsetenv(name) : setenv(name, value, 1); }

private:
    static constexpr const char* name = "WORKBENCH_LAST_LEVEL_CACHE";
    std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("the host as a device") {
    const std::unique_ptr<Device> host = make_host_device();
    Device& device = *host;
    CHECK(device.properties().kind == DeviceKind::host);
    CHECK(device.properties().processors >= 1);
    CHECK(device.properties().memory > 0);

    SUBCASE("it has no persistent solver") {
        const CsrMatrix matrix;
        CHECK(message_of<Unsuitable>([&] {
                  (void)make_persistent_solver<double>(device, {.matrix = &matrix});
              }).starts_with("a persistent kernel needs a GPU; this device is "));
    }
    SUBCASE("memory is copied in both directions unchanged") {
        const std::vector<double> numbers{1, 2, 3};
        const DeviceMemory memory = to_device<double>(device, numbers, "three numbers");
        std::vector<double> back(3);
        device.download(memory, std::as_writable_bytes(std::span(back)));
        CHECK(back == numbers);
        std::vector<double> too_many(4);
        CHECK_THROWS_AS(device.download(memory, std::as_writable_bytes(std::span(too_many))), std::logic_error);
        CHECK_NOTHROW((void)to_device<double>(device, {}, "nothing"));
    }
    SUBCASE("too much memory is refused with the requested and free bytes") {
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
        device.scatter(values.data(), nullptr, 3, y.data());
        CHECK(y == values);
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
        CHECK(device.read_bandwidth(std::size_t{1} << 40) > 1e8);
        CHECK(device.read_bandwidth(1 << 15) > 1e9);
        CHECK(std::isinf(device.read_bandwidth(0)));
    }
    SUBCASE("memory is filled with a byte") {
        const DeviceMemory memory = device.allocate(100'000, "bytes");
        device.zero(memory.address(), 100'000);
        device.fill(memory.address(), std::byte{0xFF}, 99'999);
        std::vector<std::byte> there(100'000);
        device.download(memory, there);
        CHECK(std::count(there.begin(), there.end(), std::byte{0xFF}) == 99'999);
        CHECK(there.back() == std::byte{0});
    }
}

TEST_CASE("bandwidth: the best copy of one half of a buffer to the other, and the best read, each moving all its bytes") {
    std::vector<std::uint64_t> buffer(100, 7);
    const std::uint64_t& last_of_copy = buffer.back();
    std::vector<double> seconds{5, 7, 2, 8, 4, 4};
    std::size_t timed = 0;
    const Bandwidth bandwidth = measure_bandwidth(buffer, [&](const std::function<void()>& work) {
        if (timed == 0) CHECK(last_of_copy == 0);
        work();
        CHECK(last_of_copy == 1);
        return seconds.at(timed++);
    });
    CHECK(timed == seconds.size());
    CHECK(bandwidth.copy == 800.0 / 2);
    CHECK(bandwidth.read == 800.0 / 4);
}

TEST_CASE("the last-level cache: each cache of the highest level counts once") {
    const TemporaryFolder folder;
    const auto describe = [&](const std::string& core, const std::string& cache, const std::vector<std::string>& figures) {
        const std::filesystem::path path = folder.path() / core / "cache" / cache;
        std::filesystem::create_directories(path);
        const std::vector<std::string> names{"level", "type", "size", "shared_cpu_list"};
        for (std::size_t i = 0; i < names.size(); ++i) std::ofstream(path / names[i]) << figures.at(i) << '\n';
    };
    CHECK(last_level_cache(folder.path()) == 0);
    CHECK(last_level_cache(folder.path() / "none") == 0);
    describe("cpu0", "index0", {"1", "Data", "32K", "0"});
    describe("cpu0", "index1", {"1", "Instruction", "64K", "0"});
    CHECK(last_level_cache(folder.path()) == 32 << 10);
    for (const std::string core : {"0", "1", "2"}) {
        describe("cpu" + core, "index2", {"2", "Unified", "512K", core});
        describe("cpu" + core, "index3", {"3", "Unified", core == "2" ? "24M" : "32768K", core == "2" ? "2" : "0-1"});
    }
    CHECK(last_level_cache(folder.path()) == (32 + 24) * mebibyte);
}

TEST_CASE("the flush buffer is at least twice as large as the cache, and has 64 MiB if no variable gives its size") {
    const CacheVariable variable;
    for (const char* given : {"100K", "3M", "40M", ""}) {
        CAPTURE(given);
        variable.set(*given == 0 ? nullptr : given);
        const std::unique_ptr<Device> device = make_host_device();
        const std::size_t cache = device->properties().last_level_cache;
        const std::size_t buffer = std::max(2 * cache, *given == 0 ? 64 * mebibyte : mebibyte);
        const FreeMemory none(0);
        CHECK(message_of<MachineError>([&] {
                  device->flush_cache();
              }).find("host memory for flushing the cache: " + std::to_string(buffer) + " bytes wanted") == 0);
    }
}

TEST_CASE("a flush writes the whole buffer") {
    const CacheVariable variable;
    variable.set("10M");
    const std::unique_ptr<Device> device = make_host_device();
    const std::size_t before = memory_figure("VmRSS");
    device->flush_cache();
    CHECK(memory_figure("VmRSS") + mebibyte > before + 20 * mebibyte);
}

TEST_CASE("a variable corrects the size of the last-level cache") {
    const CacheVariable variable;
    const auto cache_with = [&](const char* text) {
        variable.set(text);
        return make_host_device()->properties().last_level_cache;
    };
    CHECK(cache_with("3M") == 3 * mebibyte);
    CHECK(cache_with("48K") == 48 << 10);
    CHECK(cache_with("1000") == 1000);
    for (const char* wrong : {"", "M", "many", "1.5M", "12G", "-1", "4 M", "9999999999"}) {
        CHECK(message_of<RecipeError>([&] { (void)cache_with(wrong); }) ==
              "WORKBENCH_LAST_LEVEL_CACHE: found '" + std::string(wrong) +
                  "', expected a number of bytes, such as 32M or 512K");
    }
    CHECK(cache_with(nullptr) == last_level_cache("/sys/devices/system/cpu"));
}

TEST_CASE("a cache is read faster than memory") {
    const std::vector<std::uint64_t> words(std::size_t{16} << 20, 1);  // 128 MiB
    const std::span<const std::uint64_t> all(words);
    CHECK(measure_read_bandwidth(all.first(2048)) > 1.7 * measure_read_bandwidth(all));
}

}  // namespace workbench
