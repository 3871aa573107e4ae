#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/device/prepare.hpp"
#include "kernels/ehyb/layout.hpp"

namespace workbench {
namespace {

/// Inside slices in parallel, each with x addressed from its partition's first column, then the outside slices. Each of the two
/// writes a row at most once, so that threads cannot race.
template <ValueType Value>
class EhybPartitions final : public Kernel<Value> {
public:
    explicit EhybPartitions(const EhybLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        std::visit(
            [&](const auto& stored) {
                const auto view = view_of(stored);
                multiply_on_host<EhybInside>(view, x, y, accumulate);
                multiply_on_host<EhybOutside>(view, x, y, true);
            },
            layout_.stored);
    }

private:
    const EhybLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> ehyb_reference_kernels() {
    return {{.name = "partitions",
             .backend = Backend::kokkos,
             .summary = "slices in parallel with x of their partition, then the rows outside",
             .prepare = prepare_as<EhybPartitions, EhybLayout>()}};
}

}  // namespace workbench
