// The plan of a recipe that a device carries out in its own memory, from the matrix to the kernel: the host only launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/errors.hpp"
#include "core/contract/parameters.hpp"
#include "core/contract/precision.hpp"
#include "core/matrix/interface.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

template <ValueType Value>
class Kernel;  // kernel.hpp

// ---- The steps that stages declare (StageEntry::on_device). All orders are of rows and columns alike.

/// Keeps so many consecutive rows, a node, together from here on.
struct KeepNodes {
    Index rows = 0;  // 0: those that the plan has, or if it has none, as nodes_of_fewest_bytes (node_size.hpp) finds them
};

/// Numbers the vertices by levels, as the stage cuthill_mckee.
struct OrderByLevels {
    bool reversed = true;
};

/// Numbers the rows by levels in reverse, and cuts them into parts of equally many rows.
struct CutLevels {
    Parameters parameters;  // for plan_parts (partition_plan.hpp)
    std::string stage;      // that they belong to
};

/// Sorts nodes by their longest row, stably.
struct SortRows {
    std::optional<Index> window;    // rows of a window, within which they are sorted; none: all rows
    bool inside_partition = false;  // instead within their part, by the nonzeros inside it
    bool descending = true;
};

/// Divides the nonzeros into those inside the parts and those outside.
struct SplitByPartition {};

/// Sorts the rows of the share outside by its nonzeros, stably.
struct SortOutside {
    bool descending = true;
};

using DeviceStep = std::variant<KeepNodes, OrderByLevels, CutLevels, SortRows, SplitByPartition, SortOutside>;

// ---- The storage that layouts declare (LayoutEntry::on_device). Values are stored in full.

/// Slices of all rows.
struct RowSlices {
    Index slice_height = 0;      // 0: as many rows as a warp has
    Index threads_per_row = 0;   // 0: chosen by the slice height and the mean length of a row
    Index split_length = 0;      // the kernel for longer rows is prepared on the host only
    bool short_columns = false;  // of 16 bits, otherwise of 32
};

/// Slices of all rows of square blocks, with columns of 16 bits, and a row of blocks for each lane of a warp.
struct BlockSlices {
    Index block_size = 0;          // rows; 0: those of a node
    Index threads_per_row = 0;     // 0: chosen
    double slots_per_nonzero = 0;  // the most, before blocks are padded to slices
};

/// Slices of the rows inside each part, with columns of 16 bits, and of the rows outside; for the fused kernel.
struct PartSlices {};

using DeviceStorage = std::variant<RowSlices, BlockSlices, PartSlices>;

/// A recipe for a device.
struct DevicePlan {
    Index node_size = 1;                                    // before the first step
    const DeviceProperties* model = nullptr;                // that the recipe names; null: the device that carries out the plan
    std::vector<std::pair<std::string, DeviceStep>> steps;  // with the ids of their stages
    DeviceStorage storage;
    std::string kernel;  // that reads the storage

    /// The reason why no device carries out the plan, whatever the matrix; empty: one may.
    [[nodiscard]] std::string refusal() const;
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

struct PlannedFacts {
    struct Step {
        std::string what;  // the id of a stage, or what belongs to the layout: "checks", "blocks", "rows", "slices"
        bool is_stage = false;
        double seconds = 0;
    };
    std::vector<Step> steps;
    std::vector<std::string> notes;  // each begins with the id of its stage
    std::int64_t bytes = 0;          // of the arrays
    std::vector<Index> partition;    // the boundaries of the parts of rows and columns; empty: there are none
    bool reordered = false;          // false: the order is the natural one

    /// Of the stages, or of the layout.
    [[nodiscard]] double seconds(bool of_stages) const {
        double sum = 0;
        for (const Step& step : steps) sum += step.is_stage == of_stages ? step.seconds : 0;
        return sum;
    }
};

/// The prepared matrix. The device must outlive it.
template <ValueType Value>
class PlannedMatrix : public Interface {
public:
    /// y = A x for x and y in the new order.
    [[nodiscard]] virtual Kernel<Value>& kernel() = 0;
    [[nodiscard]] virtual const PlannedFacts& facts() const = 0;

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

/// Carries out plans. The device must outlive what it makes; the matrix need not.
class PlanRunner : public Interface {
public:
    /// Reorders a matrix in the device's memory and stores it there: the same order and arrays as those of the stages and of
    /// the layout on the host. Waits for earlier work of the device, and is complete on return. The plan has no refusal. Throws
    /// Unsuitable where the host must prepare the matrix: the columns of a row do not ascend, the pattern suits no order on
    /// this device, rows are long, most slots would be padding, blocks are not whole nodes, or parts are too large. Throws
    /// InputError if parts cannot hold the rows.
    [[nodiscard]] virtual std::unique_ptr<PlannedMatrix<float>> run(const DevicePlan&, const CsrOnDevice<float>&) = 0;
    [[nodiscard]] virtual std::unique_ptr<PlannedMatrix<double>> run(const DevicePlan&, const CsrOnDevice<double>&) = 0;
};

/// See PlanRunner. Throws Unsuitable also if the device carries out no plans, or not this one.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<PlannedMatrix<Value>> run_plan(Device& device, const DevicePlan& plan,
                                                             const CsrOnDevice<Value>& matrix) {
    PlanRunner* const runner = device.plan_runner();
    if (runner == nullptr) throw Unsuitable(device.properties().name + " prepares no matrix as a whole");
    if (const std::string reason = plan.refusal(); !reason.empty()) throw Unsuitable(reason);
    return runner->run(plan, matrix);
}

}  // namespace workbench
