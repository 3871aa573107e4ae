#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/multiply_jagged.hpp"
#include "kernels/jds/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class JdsRows final : public Kernel<Value> {
public:
    explicit JdsRows(const JdsLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const std::int64_t chunks = (std::int64_t{layout_.row_count} + jagged_chunk - 1) / jagged_chunk;
        for_each_in_parallel(chunks, 1, [&](std::int64_t chunk) {
            multiply_jagged(layout_.jagged, 0, chunk * jagged_chunk, x,
                            [&](Offset row, Value sum) { put(y, static_cast<Index>(row), sum, accumulate); });
        });
    }

private:
    const JdsLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> jds_reference_kernels() {
    return {{.name = "rows",
             .backend = Backend::kokkos,
             .summary = "some hundred rows at a time in parallel, diagonal by diagonal",
             .prepare = prepare_as<JdsRows, JdsLayout>}};
}

}  // namespace workbench
