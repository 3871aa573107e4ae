#include <algorithm>

#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/add_triplets.hpp"
#include "kernels/coo/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class CooRuns final : public Kernel<Value> {
public:
    explicit CooRuns(const CooLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) std::fill_n(y, layout_.row_count, Value{0});
        add_triplets<Value>(layout_, x, y);
    }

private:
    const CooLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> coo_reference_kernels() {
    return {{.name = "runs",
             .backend = Backend::kokkos,
             .summary = "runs of nonzeros in parallel, a row's sum in a run is added to y atomically",
             .prepare = prepare_as<CooRuns, CooLayout>}};
}

}  // namespace workbench
