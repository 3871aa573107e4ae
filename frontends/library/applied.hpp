// The implementation of the header's Operator.
#pragma once

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
    /// Construct it while holding a KokkosTurn. solver: what a solver wants; if it has jacobi, the inverse of the diagonal is
    /// kept.
    Applied(std::shared_ptr<const Recipe::Checked> from, const CsrView<Value>& matrix, const Options& options,
            const workbench::EngineWish& solver);
    Applied(std::shared_ptr<const Recipe::Checked> from, const DeviceCsrView<Value>& matrix, const Options& options,
            const workbench::EngineWish& solver);

    /// make_applied, after what a process pays once (load_once).
    template <typename Matrix>
    [[nodiscard]] static std::unique_ptr<Applied> make_loaded(const std::shared_ptr<const Recipe::Checked>& from,
                                                              const Matrix& matrix, const Options& options);

    /// Call them while holding a KokkosTurn; see Operator.
    void set_values(ArrayView<const Value> values);
    void set_values(const CsrView<Value>& view);

    std::shared_ptr<const Recipe::Checked> checked;  // declared first, as the applied recipe refers to it
    Options options;                                 // without `stop`
    std::vector<Value> product;                      // A x, before it is scaled
    bool is_half = false;                            // of a symmetric matrix
    std::size_t entries = 0;                         // of the caller's arrays
    workbench::HostArray<workbench::Offset> entry_order;
    std::vector<Value> inverse_diagonal;              // [rows] in the caller's order, 1 where the diagonal has no entry or 0
    std::vector<workbench::Offset> diagonal_entries;  // [rows] its numbers in the caller's arrays, or -1; empty: not known
    bool is_diagonal_new = true;                      // to whoever copies it and then sets this to false
    std::optional<workbench::AppliedRecipe<Value>> recipe;

private:
    void invert_diagonal(ArrayView<const Value> values);
    void apply(const CsrView<Value>& view, const Options& options, const workbench::EngineWish& solver);
    void apply_there(const DeviceCsrView<Value>& view, const Options& options, const workbench::EngineWish& solver);
};

}  // namespace spmv_workbench

namespace workbench {

/// Throws std::invalid_argument in a parallel region of OpenMP.
void require_no_parallel_region();

/// Makes an Operator<Value>::Applied and translates its exceptions, except those of Options::stop. Serialised, as Kokkos and
/// the libraries loaded here may not be thread-safe.
template <typename Applied>
std::unique_ptr<Applied> make_applied(auto recipe, const auto& matrix, const spmv_workbench::Options& options,
                                      const EngineWish& solver = {.engine = SolveEngine::graph}) {
    require_no_parallel_region();
    CallerFunctions functions;
    spmv_workbench::Options guarded = options;
    if (options.stop) guarded.stop = [&] { return functions.call(options.stop); };
    return functions.run([&] {
        const auto kokkos = running_kokkos();
        const KokkosTurn turn;
        return std::make_unique<Applied>(std::move(recipe), matrix, guarded, solver);
    });
}

}  // namespace workbench
