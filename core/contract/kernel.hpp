// The contract of a kernel: y = A x from one layout on one backend.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/contract/device.hpp"
#include "core/contract/precision.hpp"

namespace workbench {

template <ValueType Value>
class Layout;

/// cpu: kernels beside a recipe that run on the host; those for a GPU belong to cuda.
enum class Backend { kokkos, eigen, cpu, cuda, cusparse };

[[nodiscard]] std::string_view name_of(Backend backend);

/// The device of a backend's kernels.
[[nodiscard]] constexpr DeviceKind device_of(Backend backend) {
    return backend == Backend::cuda || backend == Backend::cusparse ? DeviceKind::gpu : DeviceKind::host;
}

/// A layout made ready on a device: copies, buffers, launch shapes. Running it allocates nothing.
template <ValueType Value>
class Kernel {
public:
    Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    virtual ~Kernel() = default;

    /// y = A x, or y += A x if accumulate. x [columns] and y [rows] are in memory of the kernel's device, in the layout's
    /// current order, and do not overlap. Every row of y is written, including rows without nonzeros. Does not wait for the
    /// device, and resets everything that must be reset between runs.
    virtual void run(const Value* x, Value* y, bool accumulate) = 0;

    /// The least bytes that a run moves, if they differ from Layout::bytes_to_move: the kernel stores the matrix in arrays of
    /// its own (a library's format), leaves padding unread, or writes partial results and reads them again.
    [[nodiscard]] virtual std::optional<std::int64_t> own_bytes_to_move() const { return {}; }
};

template <typename Value>
using PrepareKernel = std::function<std::unique_ptr<Kernel<Value>>(const Layout<Value>&, Device&)>;

template <typename Value>
using TryKernel = std::function<void(const Layout<Value>&, Device&)>;

/// Prepares a kernel for a layout that holds some rows of a larger matrix: row i of the layout is row rows[i] of y, and other
/// rows of y stay unchanged. rows: [rows of the layout], on the host.
template <typename Value>
using PrepareRows = std::function<std::unique_ptr<Kernel<Value>>(const Layout<Value>&, std::span<const Index> rows, Device&)>;

/// Most vectors of one product.
inline constexpr int most_vectors = 64;

/// Prepares a kernel for 2 to most_vectors vectors, Y = A X: Kernel::run then takes X [columns x vectors] and Y [rows x
/// vectors], both row by row. rows: as in PrepareRows; empty: each is itself.
template <typename Value>
using PrepareVectors =
    std::function<std::unique_ptr<Kernel<Value>>(const Layout<Value>&, std::span<const Index> rows, int vectors, Device&)>;

/// One kernel of a layout, as the catalogue lists it.
struct KernelEntry {
    std::string name;
    Backend backend = Backend::kokkos;
    std::string summary;
    /// The layout must outlive the kernel. Throws Unsuitable, or MachineError with the bytes wanted and had.
    ForEachPrecision<PrepareKernel> prepare;
    /// Null: the result is scattered to the rows of y from a buffer.
    ForEachPrecision<PrepareRows> prepare_rows = {};
    /// Reads the matrix once for all vectors. Null: the vectors are multiplied one by one.
    ForEachPrecision<PrepareVectors> prepare_vectors = {};
    /// With several vectors, many threads share a long row.
    bool divides_rows = false;
    /// Runs an untried kernel in a process of its own, and throws BrokenKernel if it fails. To be called before it is prepared.
    /// Empty for the kernels of the program.
    ForEachPrecision<TryKernel> try_out = {};
};

}  // namespace workbench
