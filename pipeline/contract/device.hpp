// The devices that kernels run on: the host and GPUs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/krylov.hpp"
#include "pipeline/contract/sliced_on_device.hpp"
#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/interface.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

class Ranks;  // ranks.hpp

enum class DeviceKind { host, gpu };

/// A device of this machine, or a device model.
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

/// The bytes that a miss loads on all of these devices: a sector, a line or a quarter of one.
inline constexpr int cache_sector = 32;

/// A cache of a device model, for the cache model (pipeline/cache_model/cache_model.hpp).
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

/// Element `row` of this rank's vectors, which rank `rank` has as its remote element `remote`.
struct SentElement {
    Index row = 0;
    int rank = 0;
    Index remote = 0;
};

/// The rows of the matrix of persistent solves, in the order of their vectors. Without ranks it is square.
struct PersistentProblem {
    const CsrMatrix& matrix;           // columns after the rows: remote elements, which other ranks send
    std::span<const Index> cuts = {};  // the boundaries of a partition of the rows, or empty
    KrylovMethod method = KrylovMethod::cg;
    bool preconditioned = false;
    Ranks* ranks = nullptr;                  // that solve together, one GPU each; null: this one alone
    std::span<const SentElement> sent = {};  // to other ranks; a row has at most one element for each of them
};

/// A device. Its work is done in order on the main stream, except for the work of branches.
class Device : public Interface {
public:
    [[nodiscard]] virtual const DeviceProperties& properties() const = 0;

    /// Throws MachineError with the purpose, the required bytes and the free bytes if memory is short.
    [[nodiscard]] virtual DeviceMemory allocate(std::size_t bytes, std::string_view purpose) = 0;
    virtual void upload(std::span<const std::byte> from, DeviceMemory& to) = 0;
    virtual void download(const DeviceMemory& from, std::span<std::byte> to) = 0;

    /// y[target[i]] = values[i] for i < count: permutes y. `target` is on the device.
    virtual void scatter(const float* values, const Index* target, Index count, float* y) = 0;
    virtual void scatter(const double* values, const Index* target, Index count, double* y) = 0;

    /// y[target[i]] += value[i]; the targets are distinct.
    virtual void scatter_add(const float* values, const Index* target, Index count, float* y) = 0;
    virtual void scatter_add(const double* values, const Index* target, Index count, double* y) = 0;

    /// Sets bytes of the device's memory to 0.
    virtual void zero(void* memory, std::size_t bytes) = 0;

    /// Writes and reads a buffer of at least twice the last-level cache, so that the next run starts with a cold cache.
    virtual void flush_cache() = 0;

    /// Runs work, waits for it, and returns the seconds that the device measured (with events on a GPU). Throws MachineError if
    /// the device reports a failure.
    [[nodiscard]] virtual double time(const std::function<void()>& work) = 0;

    /// Later work of this device waits for the work that another device of the same kind has so far.
    virtual void wait_for(Device& /*earlier*/) {}

    /// Null if the device has no concurrent streams. The device must outlive the branch.
    [[nodiscard]] virtual std::unique_ptr<Branch> make_branch() { return nullptr; }

    /// A solver with the initial guess x = 0. b and inverse_diagonal (empty: no preconditioner) are [size], in the order of the
    /// vectors of the product. Null if the device has no solver. The device must outlive it.
    [[nodiscard]] virtual std::unique_ptr<Krylov<float>> make_krylov(const KrylovPlan&, std::span<const float> /*b*/,
                                                                     std::span<const float> /*inverse_diagonal*/) {
        return nullptr;
    }
    [[nodiscard]] virtual std::unique_ptr<Krylov<double>> make_krylov(const KrylovPlan&, std::span<const double> /*b*/,
                                                                      std::span<const double> /*inverse_diagonal*/) {
        return nullptr;
    }

    /// A matrix for persistent solves. Throws Unsuitable with the reason if the device cannot run them, or not with this
    /// matrix. The device and the ranks must outlive it; the problem need not. With ranks, it does not
    /// communicate, so that one rank may throw alone; PersistentSolver::begin is collective, and throws Unsuitable on all ranks
    /// if the GPU of one cannot take part.
    [[nodiscard]] virtual std::unique_ptr<PersistentSolver<float>> make_persistent_solver(const PersistentProblem&,
                                                                                          std::type_identity<float>) {
        throw Unsuitable("a persistent kernel needs a GPU; this device is " + properties().name);
    }
    [[nodiscard]] virtual std::unique_ptr<PersistentSolver<double>> make_persistent_solver(const PersistentProblem&,
                                                                                           std::type_identity<double>) {
        throw Unsuitable("a persistent kernel needs a GPU; this device is " + properties().name);
    }

    /// Reorders a matrix in the device's memory and stores it in slices there: the same order and arrays as those of the stages
    /// and of the layout on the host. Waits for earlier work of the device, and is complete on return. Throws LeftToHost where
    /// the host must prepare the matrix: the columns of a row do not ascend, the pattern suits no order on this device, rows
    /// are long, most slots would be padding, blocks are not whole nodes, or parts are too large. Throws InputError if parts
    /// cannot hold the rows. The device must outlive it; the matrix need not.
    [[nodiscard]] virtual std::unique_ptr<SlicedMatrix<float>> make_sliced(const SlicedRequest&, const CsrOnDevice<float>&) {
        throw LeftToHost(properties().name + " prepares no matrix as a whole");
    }
    [[nodiscard]] virtual std::unique_ptr<SlicedMatrix<double>> make_sliced(const SlicedRequest&, const CsrOnDevice<double>&) {
        throw LeftToHost(properties().name + " prepares no matrix as a whole");
    }

    /// Measured at the first call.
    [[nodiscard]] virtual Bandwidth bandwidth() = 0;

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

}  // namespace workbench
