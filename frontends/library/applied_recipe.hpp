// A recipe applied to one matrix: its kernel, and the permutations of vectors to its order and back.
#pragma once

#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/system/compile.hpp"
#include "frontends/library/kokkos_turn.hpp"
#include "frontends/library/several_vectors.hpp"
#include "frontends/library/value_places.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/engine/ready.hpp"
#include "pipeline/engine/solve_engine.hpp"

namespace workbench {

using spmv_workbench::VectorOrder;

/// y = A x with one kernel per layout of a recipe. All vectors are in device memory unless stated otherwise.
template <ValueType Value>
class AppliedRecipe {
public:
    /// Construct it while holding a KokkosTurn. The recipe must outlive it. solver: what the solver wants; without
    /// iterations there is none. Throws
    /// the workbench's counterparts of the exceptions documented in the library's header.
    AppliedRecipe(const Recipe& recipe, CsrMatrix matrix, const spmv_workbench::Options& options, const EngineWish& solver);
    /// For a matrix in the memory of the GPU, which applies the recipe. Throws Unsuitable if the host must do so.
    AppliedRecipe(const Recipe& recipe, const CsrOnDevice<Value>& matrix, const spmv_workbench::Options& options,
                  const EngineWish& solver);
    ~AppliedRecipe() = default;
    AppliedRecipe(const AppliedRecipe&) = delete;
    AppliedRecipe& operator=(const AppliedRecipe&) = delete;

    [[nodiscard]] const spmv_workbench::OperatorFacts& facts() const { return facts_; }
    void note(std::string text) { facts_.notes.push_back(std::move(text)); }
    [[nodiscard]] Device& device() { return *device_; }
    [[nodiscard]] bool on_host() const { return facts_.device == spmv_workbench::Device::host; }
    [[nodiscard]] const Permutation& row_order() const { return ready_->space().row_order; }
    [[nodiscard]] const Permutation& column_order() const { return ready_->space().column_order; }

    /// y = A x, or y += A x.
    void run(const Value* x, Value* y, VectorOrder order, bool accumulate);
    /// Like run, with vectors in host memory; synchronous.
    void run_from_host(std::span<const Value> x, std::span<Value> y, VectorOrder order, bool accumulate);

    /// Products with 2 to most_vectors vectors, prepared when they are first requested and after new values: by the kernel of
    /// the operator or, if the caller did not name it, the layout's first one that reads the matrix once. If the operator was
    /// verified, so is the kernel, once in a process for a recipe, a pattern and a number of vectors. Throws Unsuitable,
    /// InputError, MachineError or BrokenKernel.
    [[nodiscard]] std::shared_ptr<SeveralVectors<Value>> several(int vectors);

    /// A^T in the caller's order, with the values that are stored. Throws Unsuitable if the matrix is on the GPU alone.
    [[nodiscard]] CsrMatrix transposed() const;

    /// Adds what this process paid once, before the construction.
    void add_process_seconds(double seconds) {
        facts_.process_seconds += seconds;
        facts_.seconds += seconds;
    }

    /// Throws MachineError on a GPU in another process than that of the construction.
    void require_own_process() const;

    /// Throws Unsuitable unless the matrix has the pattern of the operator's. entry_order: see checked_matrix.hpp.
    void require_pattern(const CsrMatrix& matrix, std::span<const Offset> entry_order);

    /// Replaces the values of the matrix, in the order of the caller's arrays. Throws Unsuitable if the layout cannot store
    /// them, MachineError; the operator then has the values from before.
    void set_values(std::span<const Value> values, std::span<const Offset> entry_order);
    /// How often a kernel was prepared: after another number it has other arrays, which a graph does not know.
    [[nodiscard]] std::int64_t preparations() const { return preparations_; }
    /// Likewise with values on the GPU that prepared the matrix. Asynchronous, unless a persistent kernel has them, too.
    void set_values_there(const Value* values);

    /// The matrix of persistent solves, if that engine was chosen; its values are those of the operator.
    [[nodiscard]] PersistentSolver<Value>* persistent() const { return persistent_has_values_ ? persistent_.get() : nullptr; }

    /// True if the matrix is in the memory of the GPU alone, which prepared it.
    [[nodiscard]] bool is_only_there() const { return ready_->planned() != nullptr && given_ == nullptr; }
    [[nodiscard]] PlannedMatrix<Value>& planned() const { return *ready_->planned(); }

    /// See Operator.
    [[nodiscard]] std::vector<Value> diagonal() const;

    /// Permutes a vector [columns] into this order from the other one.
    void permute(const Value* from, Value* to, VectorOrder order);
    /// Copies a vector [columns].
    void copy(const Value* from, Value* to);

private:
    /// The target index of each vector element in device memory; null for the identity. `order` must outlive it.
    class Targets {
    public:
        Targets() = default;
        Targets(Device& device, std::span<const Index> order);
        /// In device memory already.
        explicit Targets(const Index* there) : address_(there) {}
        [[nodiscard]] const Index* get() const { return address_; }

    private:
        DeviceMemory memory_;
        const Index* address_ = nullptr;
    };

    /// Sets the device and returns one kernel per layout.
    [[nodiscard]] std::vector<const KernelEntry*> choose(const Recipe& recipe, const spmv_workbench::Options& options,
                                                         bool for_solver);
    /// visit(row, column, value) for the entries that are stored, in the caller's order.
    template <typename Visit>
    void for_each_entry(const Visit& visit) const;
    /// Compares products with the matrix, in the caller's order. Throws BrokenKernel.
    void verify(SeveralVectors<Value>& several, int vectors) const;
    void take_facts_of(const Preparation& preparation);
    void take_times(const Stopwatch& watch);
    void require_kernel(const Recipe& recipe) const;
    void prepare_orders();  // of vectors, and memory for those in the recipe's order
    /// Makes the matrix of persistent solves if the solver wants it.
    void make_engine(const EngineWish& solver, const CsrOnDevice<Value>& matrix);
    void set_persistent_values(const Value* values_there);
    /// To values_there_, which is allocated the first time.
    void copy_values(std::span<const Value> values);
    [[nodiscard]] ValuePlaces<Value>& places(std::span<const Offset> entry_order);
    /// Throws Unsuitable if the matrix is in the memory of the GPU alone.
    void require_on_host(const char* what) const;

    const Recipe& recipe_;
    std::string kernel_asked_for_;  // by the caller; empty: none
    std::string key_;               // of what was verified (ExactlyVerified); empty: this operator alone
    std::shared_ptr<const KokkosRuntime> kokkos_ = running_kokkos();
    pid_t process_ = getpid();
    std::unique_ptr<Device> device_;
    spmv_workbench::OperatorFacts facts_;
    double compiled_before_ = seconds_of_compiling_kernels();  // seconds
    std::unique_ptr<CsrMatrix> given_;  // of a caller on the host, with present values, if the GPU prepared it
    std::optional<Ready<Value>> ready_;

    std::int64_t preparations_ = 1;
    bool has_long_rows_ = false;
    std::map<int, std::shared_ptr<SeveralVectors<Value>>> several_;
    std::set<int> verified_;                    // numbers of vectors
    std::optional<ValuePlaces<Value>> places_;  // made when they are first needed
    std::unique_ptr<PersistentSolver<Value>> persistent_;
    bool persistent_has_values_ = true;  // those of the operator
    DeviceMemory values_there_;          // new ones of the host, on the device

    Targets columns_to_recipe_;
    Targets columns_to_caller_;
    std::vector<Index> rows_of_result_;  // if the host prepared the matrix
    Targets rows_to_caller_;
    DeviceMemory x_;            // in column order, if that differs from the caller's
    DeviceMemory y_;            // in row order, if y must be permuted
    DeviceMemory x_from_host_;  // on a GPU; allocated on first use
    DeviceMemory y_from_host_;
};

}  // namespace workbench
