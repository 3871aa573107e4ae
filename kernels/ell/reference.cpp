#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/multiply_ell.hpp"
#include "kernels/ell/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class EllRows final : public Kernel<Value> {
public:
    explicit EllRows(const EllLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        multiply_ell(layout_.slots, x, [=](Index row, Value sum) { put(y, row, sum, accumulate); });
    }

private:
    const EllLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> ell_reference_kernels() {
    return {{.name = "rows",
             .backend = Backend::kokkos,
             .summary = "blocks of rows in parallel, all slots of a row",
             .prepare = prepare_as<EllRows, EllLayout>}};
}

}  // namespace workbench
