#include <algorithm>

#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/common/storage/add_triplets.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/device/prepare.hpp"
#include "kernels/hyb/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class HybRows final : public Kernel<Value> {
public:
    explicit HybRows(const HybLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate && !layout_.first_has_all_rows()) std::fill_n(y, layout_.row_count, Value{0});
        multiply_on_host<HybFirst>(view_of(layout_.stored()), x, y, accumulate);
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
             .prepare = prepare_as<HybRows, HybLayout>()}};
}

}  // namespace workbench
