// A recipe applied to one matrix: a kernel that is ready, and what brings vectors to its order and back.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <spmv_workbench/spmv_workbench.hpp>

#include "pipeline/library/kokkos_turn.hpp"
#include "pipeline/run/ready_recipe.hpp"

namespace workbench {

/// The order of x and y, see Operator in the header.
enum class VectorOrder { of_caller, of_recipe };

/// y = A x with the one kernel of a recipe, of each share of a hybrid. All vectors lie on the device.
template <ValueType Value>
class AppliedRecipe {
public:
    /// Throws what the header says, as the workbench's own exceptions. The recipe must outlive it. To be made in a KokkosTurn.
    AppliedRecipe(const Recipe& recipe, CsrMatrix matrix, const spmv_workbench::Options& options);
    ~AppliedRecipe() = default;
    AppliedRecipe(const AppliedRecipe&) = delete;
    AppliedRecipe& operator=(const AppliedRecipe&) = delete;

    [[nodiscard]] const spmv_workbench::OperatorFacts& facts() const { return facts_; }
    [[nodiscard]] bool on_host() const { return facts_.device == spmv_workbench::Device::host; }
    [[nodiscard]] const Permutation& row_order() const { return ready_->space().row_order; }
    [[nodiscard]] const Permutation& column_order() const { return ready_->space().column_order; }

    /// y = A x, or y += A x.
    void run(const Value* x, Value* y, VectorOrder order, bool accumulate);
    /// The same with vectors of the host; waits for the device.
    void run_from_host(std::span<const Value> x, std::span<Value> y, VectorOrder order, bool accumulate);

    /// A vector of the columns from one order to the other.
    void bring_to(VectorOrder order, const Value* from, Value* to);

private:
    /// Where the elements of a vector go, on the device; null: they stay. The order must outlive it.
    class Targets {
    public:
        Targets() = default;
        Targets(Device& device, std::span<const Index> order);
        [[nodiscard]] const Index* get() const { return address_; }

    private:
        DeviceMemory memory_;
        const Index* address_ = nullptr;
    };

    /// The device, and a kernel for each layout.
    [[nodiscard]] std::vector<const KernelEntry*> choose(const Recipe& recipe, const spmv_workbench::Options& options);
    void note(const Preparation& preparation);
    void prepare_orders();

    std::shared_ptr<const KokkosRuntime> kokkos_ = running_kokkos();
    std::unique_ptr<Device> device_;
    spmv_workbench::OperatorFacts facts_;
    std::optional<ReadyRecipe<Value>> ready_;

    Targets columns_to_recipe_;
    Targets columns_to_caller_;
    std::vector<Index> rows_of_result_;
    Targets rows_to_caller_;
    DeviceMemory columns_stay_;  // the order of columns that stay, when it is first asked for
    DeviceMemory x_;             // in the order of the columns, where that is not the caller's
    DeviceMemory y_;             // in the order of the rows, where y is to be brought elsewhere
    DeviceMemory x_from_host_;   // of a GPU, when they are first asked for
    DeviceMemory y_from_host_;
};

}  // namespace workbench
