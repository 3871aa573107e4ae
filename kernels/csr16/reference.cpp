#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/csr16/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class Csr16Rows final : public Kernel<Value> {
public:
    explicit Csr16Rows(const Csr16Layout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        for_each_in_parallel(layout_.row_count, 64, [&](std::int64_t row) {
            const Value* const x_of_row = x + layout_.first_columns[row];
            Value sum = 0;
            for (Offset k = layout_.row_offsets[row]; k < layout_.row_offsets[row + 1]; ++k) {
                sum += layout_.values[k] * x_of_row[layout_.columns_from_first[k]];
            }
            put(y, static_cast<Index>(row), sum, accumulate);
        });
    }

private:
    const Csr16Layout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> csr16_reference_kernels() {
    return {{.name = "rows",
             .backend = Backend::kokkos,
             .summary = "rows in parallel, some at a time to the next idle thread",
             .prepare = prepare_as<Csr16Rows, Csr16Layout>}};
}

}  // namespace workbench
