// The kernel of the host, apart from build.cpp because each of the two takes as long to compile.
#include <concepts>
#include <type_traits>

#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/common/schedule/host_vectors.hpp"
#include "kernels/formats/sell/layout.hpp"

namespace workbench {
namespace {

/// SellRow, compiled for slices of 8 or 32 rows of values in full, because a division for each short slice would take about as
/// long as the slice itself.
struct SellHostRow {
    static auto choose(const auto& sell, const auto& use) {
        using Values = std::remove_cvref_t<decltype(sell.values)>;
        if constexpr (requires(const Values& values) {
                          requires std::floating_point<std::remove_cvref_t<decltype(*values.data())>>;
                      }) {
            return with_column_kind(sell, [&](auto kind) {
                switch (sell.slice_height) {
                    case 8: return use(SellRows<1, 8, kind>{});
                    case 32: return use(SellRows<1, 32, kind>{});
                    default: return use(SellRows<1, 0, kind>{});
                }
            });
        } else {
            return SellRow::choose(sell, use);
        }
    }
};

}  // namespace

KernelEntry sell_host_kernel() {
    KernelEntry kernel = host_rows<SellLayout, SellHostRow>("slices", "slices in parallel, the rows of a slice side by side");
    kernel.prepare_vectors = host_vectors_of<SellLayout, SellHostRow>();
    return kernel;
}

}  // namespace workbench
