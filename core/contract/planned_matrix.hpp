// Matrices that a device prepares in its own memory, by a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/device_plan.hpp"
#include "core/contract/errors.hpp"
#include "core/contract/precision.hpp"
#include "core/matrix/interface.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

template <ValueType Value>
class Kernel;  // kernel.hpp

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
    PendingCopy* values_coming = nullptr;   // must be waited for before values are used; null: they are there
};

struct PlannedFacts {
    struct Step {
        std::string what;  // the id of a stage, or what belongs to the layout: "checks", "blocks", "rows", "arrays"
        bool is_stage = false;
        double seconds = 0;
    };
    std::vector<Step> steps;
    std::vector<std::string> notes;  // each begins with the id of its stage
    std::int64_t bytes = 0;          // of the arrays
    std::vector<Index> partition;    // the boundaries of the parts of rows and columns; empty: there are none
    Index node_size = 1;             // after the last step
    bool reordered = false;          // false: x and y are in the natural order
    bool rows_apart = false;         // rows have another order than columns: the kernel writes y in that of the columns
    double waited_seconds = 0;       // for CsrOnDevice::values_coming; no part of the steps

    /// The time of all stages, or of building the layout.
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
    /// y = A x for x and y in their order. Not of a plan for OrdersAlone, which needs no values either.
    [[nodiscard]] virtual Kernel<Value>& kernel() = 0;
    [[nodiscard]] virtual const PlannedFacts& facts() const = 0;

    /// The order of x and of y, in the memory of the device: [rows or columns, the more], natural unless these are equally
    /// many.
    [[nodiscard]] virtual const Index* old_of_new() const = 0;
    [[nodiscard]] virtual const Index* new_of_old() const = 0;
    /// The old row or column in each place, on the host.
    [[nodiscard]] virtual std::vector<Index> row_order() const = 0;
    [[nodiscard]] virtual std::vector<Index> column_order() const = 0;

    /// Replaces the values: [nonzeros] in the order of the input, in the memory of the device. Asynchronous unless values are
    /// coded. Throws Unsuitable, and keeps the values, if the coding cannot represent the new ones.
    virtual void set_values(const Value* values) = 0;

    /// Compares products of the kernel with those of the matrix as it was given, row by row on the device: bit for bit for
    /// integers, which replace the values meanwhile (equal ones by equal ones if values are coded; unless one is stored for
    /// all), and within rounding errors for the values themselves, for y = A x and y += A x. Returns the first difference, or
    /// an empty text.
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
