// The implementation of the header's Operator.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "frontends/library/applied_recipe.hpp"
#include "frontends/library/caller_errors.hpp"
#include "frontends/library/checked_recipe.hpp"

namespace spmv_workbench {

template <typename Value>
struct __attribute__((visibility("hidden"))) Operator<Value>::Applied {
    /// Construct it while holding a KokkosTurn. with_diagonal: keeps the inverse of the diagonal, for a preconditioner.
    Applied(std::shared_ptr<const Recipe::Checked> from, const CsrView<Value>& matrix, const Options& options,
            bool with_diagonal);
    Applied(std::shared_ptr<const Recipe::Checked> from, const DeviceCsrView<Value>& matrix, const Options& options,
            bool with_diagonal);

    /// Call them while holding a KokkosTurn; see Operator.
    void set_values(ArrayView<const Value> values);
    void set_values(const CsrView<Value>& view);

    std::shared_ptr<const Recipe::Checked> checked;  // declared first, as the applied recipe refers to it
    bool is_half = false;                            // of a symmetric matrix
    std::size_t entries = 0;                         // of the caller's arrays
    workbench::HostArray<workbench::Offset> entry_order;
    std::vector<Value> inverse_diagonal;  // [rows] in the caller's order, 1 where the diagonal has no entry or 0
    std::optional<workbench::AppliedRecipe<Value>> recipe;

private:
    void apply(const CsrView<Value>& view, const Options& options, bool with_diagonal);
    void apply_there(const DeviceCsrView<Value>& view, const Options& options, bool with_diagonal);
};

}  // namespace spmv_workbench

namespace workbench {

/// Throws std::invalid_argument in a parallel region of OpenMP.
void require_no_parallel_region();

/// Makes an Operator<Value>::Applied and translates its exceptions, except those of Options::stop. Serialised, as Kokkos and
/// the libraries loaded here may not be thread-safe.
template <typename Applied>
std::unique_ptr<Applied> make_applied(auto recipe, const auto& matrix, const spmv_workbench::Options& options,
                                      bool with_diagonal = false) {
    require_no_parallel_region();
    std::exception_ptr of_caller;
    spmv_workbench::Options guarded = options;
    if (options.stop) {
        guarded.stop = [&] {
            try {
                return options.stop();
            } catch (...) {
                of_caller = std::current_exception();
                return true;
            }
        };
    }
    try {
        return for_caller([&] {
            const auto kokkos = running_kokkos();
            const KokkosTurn turn;
            return std::make_unique<Applied>(std::move(recipe), matrix, guarded, with_diagonal);
        });
    } catch (const spmv_workbench::Stopped&) {
        if (of_caller) std::rethrow_exception(of_caller);
        throw;
    }
}

}  // namespace workbench
