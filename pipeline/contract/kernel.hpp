// What a kernel promises: y = A x from one layout on one backend.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/contract/device.hpp"
#include "pipeline/contract/precision.hpp"

namespace workbench {

template <ValueType Value>
class Layout;

/// cpu: kernels that a recipe brings along as a source; on a GPU they belong to cuda.
enum class Backend { kokkos, eigen, cpu, cuda, cusparse };

[[nodiscard]] std::string_view name_of(Backend backend);

/// Where a backend's kernels run.
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

    /// y = A x, or y += A x where accumulate. x [columns] and y [rows] lie on the kernel's device, in the layout's current
    /// order; they do not overlap. Every row of y is written, rows without nonzeros too. Does not wait for the device;
    /// everything that has to be reset between runs is reset inside.
    virtual void run(const Value* x, Value* y, bool accumulate) = 0;

    /// Bytes that a run must move at least, where these are not just the layout's arrays, x and y (Layout::bytes_to_move): the
    /// kernel keeps the matrix in arrays of its own (a library's format), or writes results of shares and reads them again.
    [[nodiscard]] virtual std::optional<std::int64_t> own_bytes_to_move() const { return {}; }
};

template <typename Value>
using PrepareKernel = std::function<std::unique_ptr<Kernel<Value>>(const Layout<Value>&, Device&)>;

template <typename Value>
using TryKernel = std::function<void(const Layout<Value>&, Device&)>;

/// The same where a layout holds some rows of a larger matrix: run writes to, or adds to, row rows[i] of y for its row i, and
/// leaves all other rows of y alone. rows: [rows of the layout], on the host.
template <typename Value>
using PrepareRows = std::unique_ptr<Kernel<Value>> (*)(const Layout<Value>&, std::span<const Index> rows, Device&);

/// One kernel of a layout, as the catalogue lists it.
struct KernelEntry {
    std::string name;
    Backend backend = Backend::kokkos;
    std::string summary;
    /// The layout must outlive the kernel. Throws Unsuitable, or MachineError with the bytes wanted and had.
    ForEachPrecision<PrepareKernel> prepare;
    /// Null: a kernel that knows nothing of other rows; its result is brought to them from a buffer.
    ForEachPrecision<PrepareRows> prepare_rows = {};
    /// Of a kernel that nobody has tried yet: runs it where it can do no harm. To be called before it is prepared; throws
    /// BrokenKernel. Empty for the kernels of the program.
    ForEachPrecision<TryKernel> try_out = {};
};

}  // namespace workbench
