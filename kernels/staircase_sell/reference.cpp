#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/device/prepare.hpp"
#include "kernels/staircase_sell/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class StaircaseSlices final : public Kernel<Value> {
public:
    explicit StaircaseSlices(const StaircaseSellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        for (Index group = 0; group < layout_.group_count(); ++group) {
            const auto slots = group_of(layout_.stored(), group, layout_.column_indices, layout_.values);
            multiply_on_host<StaircaseRows>(slots, x, y, accumulate);
        }
    }

private:
    const StaircaseSellLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> staircase_sell_reference_kernels() {
    return {{.name = "groups",
             .backend = Backend::kokkos,
             .summary = "group after group, its slices in parallel, the rows of a slice side by side",
             .prepare = prepare_as<StaircaseSlices, StaircaseSellLayout>()}};
}

}  // namespace workbench
