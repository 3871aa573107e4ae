// The machine that kernels run on: the host, or a GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/contract/krylov.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

enum class DeviceKind { host, gpu };

/// A device, real or from the table of models.
struct DeviceProperties {
    DeviceKind kind = DeviceKind::host;
    std::string name;                             // "NVIDIA H200"
    int processors = 0;                           // streaming multiprocessors; threads of the pool on the host
    std::size_t shared_memory_per_block = 0;      // bytes a block can have at most when it asks for them; 0 on the host
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

/// What a miss loads on all of these devices, in bytes: a sector, a line or a quarter of one.
inline constexpr int cache_sector = 32;

/// A cache of a device model, as far as the cache study knows it (pipeline/cache_model/cache_model.hpp).
struct CacheProperties {
    std::string name;            // "l2"
    std::size_t bytes = 0;       // of one of them
    int ways = 0;                // places in which a sector may lie
    int each_processor_has = 0;  // 0: there is one, which all processors share
};

/// The caches of a device model that reads of x go through, the nearest first. Empty where the model is unknown.
[[nodiscard]] std::vector<CacheProperties> device_caches(std::string_view device);

/// "k20x:read_only", "k20x:l2", ...: the caches of all models, and one of them. Throws std::out_of_range where it is unknown.
[[nodiscard]] std::vector<std::string> device_cache_names();
[[nodiscard]] CacheProperties device_cache(std::string_view name);

/// Memory bandwidth reached on this device in this run, in bytes per second.
struct Bandwidth {
    double copy = 0;  // read + written
    double read = 0;
};

/// Owns memory of a device. Contents are undefined until written.
class DeviceMemory {
public:
    using Release = void (*)(void*);
    DeviceMemory() = default;
    DeviceMemory(void* address, std::size_t bytes, Release release) : address_(address, release), bytes_(bytes) {}

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

/// A stream beside the device's own: what stands on it may run while the device's stream, or another branch, is at work.
class Branch {
public:
    Branch() = default;
    Branch(const Branch&) = delete;
    Branch& operator=(const Branch&) = delete;
    virtual ~Branch() = default;

    /// The device's work that `give` asks for, and all that kernels prepared in it will ever ask for, is of this branch.
    virtual void take(const std::function<void()>& give) = 0;
    /// What the branch is given from now on waits for what the device's stream has been given so far.
    virtual void fork() = 0;
    /// What the device's stream is given from now on waits for what the branch has been given so far.
    virtual void join() = 0;
};

/// One device. Work is in order on one stream, but for branches.
class Device {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    [[nodiscard]] virtual const DeviceProperties& properties() const = 0;

    /// Throws MachineError that names `purpose`, the bytes wanted and the bytes that were free.
    [[nodiscard]] virtual DeviceMemory allocate(std::size_t bytes, std::string_view purpose) = 0;
    virtual void upload(std::span<const std::byte> from, DeviceMemory& to) = 0;
    virtual void download(const DeviceMemory& from, std::span<std::byte> to) = 0;

    /// y[target[i]] = value[i] for i < target.size(): brings y from one order to another. `target` is on the device.
    virtual void scatter(const float* values, const Index* target, Index count, float* y) = 0;
    virtual void scatter(const double* values, const Index* target, Index count, double* y) = 0;

    /// y[target[i]] += value[i]; no target stands there twice.
    virtual void scatter_add(const float* values, const Index* target, Index count, float* y) = 0;
    virtual void scatter_add(const double* values, const Index* target, Index count, double* y) = 0;

    /// Sets so many bytes of this device's memory to 0, which is also the number 0.
    virtual void zero(void* memory, std::size_t bytes) = 0;

    /// Writes, then reads a buffer of at least twice the last-level cache, so that the next run finds the cache cold.
    virtual void flush_cache() = 0;

    /// Runs work and waits for it. Seconds between its start and its end as the device sees them (events on a GPU).
    /// Throws MachineError where the device reports a failure.
    [[nodiscard]] virtual double time(const std::function<void()>& work) = 0;

    /// What this device is given from now on waits for what the other has been given so far. Both are of one kind.
    virtual void wait_for(Device& /*earlier*/) {}

    /// Null where a device does one thing at a time. The device must outlive it.
    [[nodiscard]] virtual std::unique_ptr<Branch> make_branch() { return nullptr; }

    /// A solve with x = 0 to begin with. b and the inverse of the diagonal (or nothing: no preconditioner) are [size], in the
    /// order of its products. Null where a device cannot solve. The device must outlive it.
    [[nodiscard]] virtual std::unique_ptr<Krylov<float>> make_krylov(const KrylovPlan&, std::span<const float> /*b*/,
                                                                     std::span<const float> /*inverse_diagonal*/) {
        return nullptr;
    }
    [[nodiscard]] virtual std::unique_ptr<Krylov<double>> make_krylov(const KrylovPlan&, std::span<const double> /*b*/,
                                                                      std::span<const double> /*inverse_diagonal*/) {
        return nullptr;
    }

    /// Measured once and remembered.
    [[nodiscard]] virtual Bandwidth bandwidth() = 0;

    /// Names what the host does from here on, for a profiler; to be left in reverse order. See ProfilerRange.
    virtual void enter_range(std::string_view) {}
    virtual void leave_range() {}
};

/// A name around some work: a profiler can be put on one kernel alone.
class ProfilerRange {
public:
    ProfilerRange(Device& device, std::string_view name) : device_(device) { device_.enter_range(name); }
    ProfilerRange(const ProfilerRange&) = delete;
    ProfilerRange& operator=(const ProfilerRange&) = delete;
    ~ProfilerRange() { device_.leave_range(); }

private:
    Device& device_;
};

/// Copies a whole array to new memory of the device.
template <typename T>
[[nodiscard]] DeviceMemory to_device(Device& device, std::span<const T> array, std::string_view purpose) {
    DeviceMemory memory = device.allocate(array.size_bytes(), purpose);
    device.upload(std::as_bytes(array), memory);
    return memory;
}

}  // namespace workbench
