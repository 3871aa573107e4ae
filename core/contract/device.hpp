// The devices that kernels run on: the host and GPUs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/matrix/interface.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

class Solvers;     // solvers.hpp
class PlanRunner;  // planned_matrix.hpp

enum class DeviceKind { host, gpu };

/// A device of this machine, or a device model.
struct DeviceProperties {
    DeviceKind kind = DeviceKind::host;
    std::string name;                             // "NVIDIA H200"
    int processors = 0;                           // streaming multiprocessors; threads of the pool on the host
    std::size_t shared_memory_per_block = 0;      // the most bytes that a block can request; 0 on the host
    std::size_t last_level_cache = 0;             // bytes: L2 of a GPU, last level of the host
    std::size_t memory = 0;                       // bytes
    std::size_t shared_memory_per_processor = 0;  // bytes
    double memory_bandwidth = 0;                  // published, in bytes per second; 0: not a model
};

/// The models that a recipe can name for `auto` decisions: "v100", "a100", "h100", "h200", "gb200", "k20x". Null if unknown.
[[nodiscard]] const DeviceProperties* find_device_model(std::string_view name);
[[nodiscard]] std::vector<std::string> device_model_names();

/// The model for decisions without a GPU or a model in the recipe: the one that kernels were tuned on
/// (kernels/device/tuned.hpp).
[[nodiscard]] const DeviceProperties& tuned_device_model();

/// The bytes that a miss loads on all of these devices: a sector, a line or a quarter of one.
inline constexpr int cache_sector = 32;

/// A cache of a device model, for the cache model (studies/cache_model/cache_model.hpp).
struct CacheProperties {
    std::string name;            // "l2"
    std::size_t bytes = 0;       // of each instance
    int ways = 0;                // associativity
    int each_processor_has = 0;  // instances per processor; 0: one instance, shared by all processors
};

/// The caches that reads of x go through, nearest to the processors first. Empty if the model is unknown.
[[nodiscard]] std::vector<CacheProperties> device_caches(std::string_view device);

/// The names of all caches ("k20x:read_only", "k20x:l2", ...), and one cache by name, or std::out_of_range.
[[nodiscard]] std::vector<std::string> device_cache_names();
[[nodiscard]] CacheProperties device_cache(std::string_view name);

/// Memory bandwidth measured on this device in this run, in bytes per second.
struct Bandwidth {
    double copy = 0;  // read + written
    double read = 0;
};

/// Owns memory of a device, uninitialized.
class DeviceMemory {
public:
    using Release = std::function<void(void*)>;
    DeviceMemory() = default;
    DeviceMemory(void* address, std::size_t bytes, Release release) : address_(address, std::move(release)), bytes_(bytes) {}

    [[nodiscard]] void* address() const { return address_.get(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    template <typename T>
    [[nodiscard]] T* as() const {
        return static_cast<T*>(address_.get());
    }

private:
    std::unique_ptr<void, Release> address_{nullptr, [](void*) {}};
    std::size_t bytes_ = 0;
};

/// Writes bytes [first, first + piece.size()) of what is copied to a device. Several threads call it at a time.
using FillPiece = std::function<void(std::size_t first, std::span<std::byte> piece)>;

/// A copy to a device that has begun and may not be complete. The destructor waits until it is.
class PendingCopy : public Interface {
public:
    /// Returns when the copy is complete, for all work that is submitted from then on. Throws what the copy threw.
    virtual void wait() = 0;
};

/// A stream beside the main stream of a device, for work that may run concurrently.
class Branch : public Interface {
public:
    /// Runs `give`. All work that it submits, and all work of kernels that are prepared in it, goes to this branch.
    virtual void take(const std::function<void()>& give) = 0;
    /// Later work of the branch waits for the work that the main stream has so far.
    virtual void fork() = 0;
    /// Later work of the main stream waits for the work that the branch has so far.
    virtual void join() = 0;
};

/// A device. Its work is done in order on the main stream, except for the work of branches.
class Device : public Interface {
public:
    [[nodiscard]] virtual const DeviceProperties& properties() const = 0;

    /// Throws MachineError with the purpose, the required bytes and the free bytes if memory is short.
    [[nodiscard]] virtual DeviceMemory allocate(std::size_t bytes, std::string_view purpose) = 0;
    virtual void upload(std::span<const std::byte> from, DeviceMemory& to) = 0;
    virtual void download(const DeviceMemory& from, std::span<std::byte> to) = 0;

    /// Copies `bytes` bytes that `fill` writes, in pieces of multiples of 16 bytes except for the last.
    virtual void upload_pieces(std::size_t bytes, const FillPiece& fill, DeviceMemory& to);
    /// Begins such a copy beside other work of this device, which must not use `to` before it has waited. What `fill` reads,
    /// `to` and the device must outlive the copy. By default the copy is complete on return.
    [[nodiscard]] virtual std::unique_ptr<PendingCopy> begin_upload(std::size_t bytes, FillPiece fill, DeviceMemory& to);

    /// Allocates the buffers of large copies, which all devices of the process share. Otherwise the first copy does that pays
    /// for them alone.
    virtual void prepare_copies() {}

    /// y[target[i]] = values[i] for i < count: permutes y. `target` is on the device; null: y = values.
    virtual void scatter(const float* values, const Index* target, Index count, float* y) = 0;
    virtual void scatter(const double* values, const Index* target, Index count, double* y) = 0;

    /// y[target[i]] += value[i]; the targets are distinct.
    virtual void scatter_add(const float* values, const Index* target, Index count, float* y) = 0;
    virtual void scatter_add(const double* values, const Index* target, Index count, double* y) = 0;

    /// Sets each of these bytes of the device's memory to `byte`.
    virtual void fill(void* memory, std::byte byte, std::size_t bytes) = 0;
    void zero(void* memory, std::size_t bytes) { fill(memory, std::byte{0}, bytes); }

    /// Writes and reads a buffer of at least twice the last-level cache, so that the next run starts with a cold cache.
    virtual void flush_cache() = 0;

    /// Runs work, waits for it, and returns the seconds that the device measured (with events on a GPU). Throws MachineError if
    /// the device reports a failure.
    [[nodiscard]] virtual double time(const std::function<void()>& work) = 0;

    /// Later work of this device waits for the work that another device of the same kind has so far.
    virtual void wait_for(Device& /*earlier*/) {}

    /// Null if the device has no concurrent streams. The device must outlive the branch.
    [[nodiscard]] virtual std::unique_ptr<Branch> make_branch() { return nullptr; }

    /// The solvers that run on this device (make_krylov, make_persistent_solver); null: none.
    [[nodiscard]] virtual Solvers* solvers() { return nullptr; }

    /// Prepares whole matrices in the memory of this device (run_plan); null: the host prepares all.
    [[nodiscard]] virtual PlanRunner* plan_runner() { return nullptr; }

    /// Measured at the first call.
    [[nodiscard]] virtual Bandwidth bandwidth() = 0;

    /// The highest bandwidth of reading data of this size again and again, in bytes per second: that of the nearest cache which
    /// holds the data, or of the memory. Measured at each call.
    [[nodiscard]] virtual double read_bandwidth(std::size_t bytes) = 0;

    /// Begin and end a named range for a profiler; ranges must nest. See ProfilerRange.
    virtual void enter_range(std::string_view) {}
    virtual void leave_range() {}
};

/// A named range in which a profiler can show a single kernel.
class ProfilerRange {
public:
    ProfilerRange(Device& device, std::string_view name) : device_(device) { device_.enter_range(name); }
    ProfilerRange(const ProfilerRange&) = delete;
    ProfilerRange& operator=(const ProfilerRange&) = delete;
    ~ProfilerRange() { device_.leave_range(); }

private:
    Device& device_;
};

/// Copies an array to newly allocated memory of the device.
template <typename T>
[[nodiscard]] DeviceMemory to_device(Device& device, std::span<const T> array, std::string_view purpose) {
    DeviceMemory memory = device.allocate(array.size_bytes(), purpose);
    device.upload(std::as_bytes(array), memory);
    return memory;
}

/// The elements of an array as another type, for copies to a device. The array must outlive the result.
template <typename To, typename From>
[[nodiscard]] FillPiece converted(std::span<const From> from) {
    return [from](std::size_t first, std::span<std::byte> piece) {
        const auto elements = from.subspan(first / sizeof(To), piece.size() / sizeof(To));
        if constexpr (std::is_same_v<From, To>) {
            std::memcpy(piece.data(), elements.data(), piece.size());
        } else {
            std::transform(elements.begin(), elements.end(), reinterpret_cast<To*>(piece.data()),
                           [](From element) { return static_cast<To>(element); });
        }
    };
}

/// Like to_device, with elements of another type. They are converted on the way, so that only these cross the link.
template <typename To, typename From>
[[nodiscard]] DeviceMemory to_device_as(Device& device, std::span<const From> array, std::string_view purpose) {
    DeviceMemory memory = device.allocate(array.size() * sizeof(To), purpose);
    device.upload_pieces(memory.bytes(), converted<To>(array), memory);
    return memory;
}

/// Copies an array from the memory of a device, after its work.
template <typename T>
void copy_from_device(Device& device, const T* from, std::span<T> to) {
    const DeviceMemory there(const_cast<T*>(from), to.size_bytes(), [](void*) {});  // NOLINT: only read
    device.download(there, std::as_writable_bytes(to));
}

}  // namespace workbench
