#include <algorithm>

#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/add_triplets.hpp"
#include "kernels/common/storage/multiply_ell.hpp"
#include "kernels/hyb/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class HybRows final : public Kernel<Value> {
public:
    explicit HybRows(const HybLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate && !layout_.first_has_all_rows()) std::fill_n(y, layout_.row_count, Value{0});
        const Index* rows = layout_.first_rows.empty() ? nullptr : layout_.first_rows.data();
        multiply_ell(layout_.first, x,
                     [=](Index stored, Value sum) { put(y, rows == nullptr ? stored : rows[stored], sum, accumulate); });
        add_triplets(layout_.rest, x, y);
    }

private:
    const HybLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> hyb_reference_kernels() {
    return {{.name = "rows",
             .backend = Backend::kokkos,
             .summary = "blocks of rows in parallel, then runs of the rest, added atomically",
             .prepare = prepare_as<HybRows, HybLayout>}};
}

}  // namespace workbench
