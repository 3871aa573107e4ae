// A matrix that a device reorders and stores in sliced ELL (of rows, of blocks or by parts) in its own memory: the host only
// launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/contract/parameters.hpp"
#include "core/contract/precision.hpp"
#include "core/matrix/interface.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

template <ValueType Value>
class Kernel;  // kernel.hpp

/// The parts of a recipe's partition.
struct PartsRequest {
    Parameters parameters;                     // of the stage, for plan_parts (partition_plan.hpp)
    const DeviceProperties* device = nullptr;  // the device model of the recipe; null: the device that prepares the matrix
};

/// The order and slices of a recipe that a device can make without the host: an order of rows and columns alike, then slices of
/// all rows (sell), of all rows of square blocks (block_sell), or of the nonzeros inside parts and of the others (ehyb).
struct SlicedRequest {
    bool cuthill_mckee = false;
    bool reversed = true;         // of cuthill_mckee
    std::optional<Index> window;  // rows per window in which nodes are sorted by longest row; none if they are not sorted
    bool descending = true;       // of the sort, or of that within parts
    Index threads_per_row = 0;    // 0: chosen by the slice height and the mean length of a row
    // The following three are for the layout sell.
    Index slice_height = 32;     // 0: as many rows as a warp has
    Index split_length = 0;      // the kernel for longer rows is prepared on the host only
    bool short_columns = false;  // of 16 bits, otherwise of 32
    // The following four are for the layout block_sell. Its columns have 16 bits, and a slice has a row of blocks for each lane
    // of a warp.
    bool in_blocks = false;
    Index node_size = 1;           // consecutive rows that the order keeps together; 0: those that the stage node_blocks finds
    Index block_size = 0;          // rows of a block; 0: those of a node
    double slots_per_nonzero = 0;  // the most, before blocks are padded to slices
    // The following two are for the layout ehyb. The order, reverse Cuthill-McKee, is cut into parts of equally many rows,
    // which are sorted within each part by their nonzeros inside it; columns inside have 16 bits, and the kernel is the fused
    // one.
    std::optional<PartsRequest> parts;
    bool outside_descending = true;  // of the rows with nonzeros outside, sorted by these
};

/// A matrix in CSR in the memory of a device.
template <ValueType Value>
struct CsrOnDevice {
    Index rows = 0;
    Index columns = 0;
    std::int64_t nonzeros = 0;
    const void* row_offsets = nullptr;  // [rows + 1] std::int64_t if long_offsets, otherwise std::int32_t
    bool long_offsets = true;
    const Index* column_indices = nullptr;  // [nonzeros]
    const Value* values = nullptr;          // [nonzeros]
};

/// The reason why a request or a matrix is left to the host, which may yet find the matrix wrong.
class LeftToHost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct SlicedFacts {
    struct Step {
        std::string what;  // "cuthill_mckee"
        double seconds = 0;
    };
    std::vector<Step> steps;
    std::optional<Index> components;  // connected components that cuthill_mckee numbered
    std::optional<Index> node_size;   // the rows of a node, if they were found
    std::int64_t bytes = 0;           // of the arrays
    std::vector<Index> partition;     // the boundaries of the parts of rows and columns; empty: there are none
    bool reordered = false;           // false: the order is the natural one

    [[nodiscard]] double seconds() const {
        double sum = 0;
        for (const Step& step : steps) sum += step.seconds;
        return sum;
    }
};

/// The prepared matrix. The device must outlive it.
template <ValueType Value>
class SlicedMatrix : public Interface {
public:
    /// y = A x for x and y in the new order.
    [[nodiscard]] virtual Kernel<Value>& kernel() = 0;
    [[nodiscard]] virtual const SlicedFacts& facts() const = 0;

    /// The order of rows and columns, [rows] in the memory of the device.
    [[nodiscard]] virtual const Index* old_of_new() const = 0;
    [[nodiscard]] virtual const Index* new_of_old() const = 0;
    /// A copy of old_of_new on the host.
    [[nodiscard]] virtual std::vector<Index> order() const = 0;

    /// Replaces the values: [nonzeros] in the order of the input, in the memory of the device. Asynchronous.
    virtual void set_values(const Value* values) = 0;

    /// Compares products of the kernel with those of the matrix as it was given, row by row on the device: bit for bit for
    /// integers, which replace the values meanwhile, and within rounding errors for the values themselves, for y = A x and
    /// y += A x. Returns the first difference, or an empty text.
    [[nodiscard]] virtual std::string difference(const CsrOnDevice<Value>& input) = 0;

    /// The diagonal of the matrix as it was given, [rows], 0 where it has no entry.
    [[nodiscard]] virtual std::vector<Value> diagonal(const CsrOnDevice<Value>& input) const = 0;

    /// A copy of an array of the layout on the host, by the name of its LayoutField; empty if there is none.
    [[nodiscard]] virtual std::vector<std::byte> array(const std::string& name) const = 0;
};

/// Prepares whole matrices in the memory of a device. The device must outlive what it makes; the matrix need not.
class SlicedMaker : public Interface {
public:
    /// Reorders a matrix in the device's memory and stores it in slices there: the same order and arrays as those of the stages
    /// and of the layout on the host. Waits for earlier work of the device, and is complete on return. Throws LeftToHost where
    /// the host must prepare the matrix: the columns of a row do not ascend, the pattern suits no order on this device, rows
    /// are long, most slots would be padding, blocks are not whole nodes, or parts are too large. Throws InputError if parts
    /// cannot hold the rows.
    [[nodiscard]] virtual std::unique_ptr<SlicedMatrix<float>> make(const SlicedRequest&, const CsrOnDevice<float>&) = 0;
    [[nodiscard]] virtual std::unique_ptr<SlicedMatrix<double>> make(const SlicedRequest&, const CsrOnDevice<double>&) = 0;
};

/// See SlicedMaker. Throws LeftToHost also if the device prepares no matrix as a whole.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<SlicedMatrix<Value>> make_sliced(Device& device, const SlicedRequest& request,
                                                               const CsrOnDevice<Value>& matrix) {
    SlicedMaker* const maker = device.sliced_maker();
    if (maker == nullptr) throw LeftToHost(device.properties().name + " prepares no matrix as a whole");
    return maker->make(request, matrix);
}

}  // namespace workbench
