#include <algorithm>

#include "kernels/device/host_loops.hpp"
#include "kernels/device/prepare.hpp"
#include "kernels/dia/layout.hpp"

namespace workbench {
namespace {

constexpr std::int64_t rows_at_once = 1024;  // their share of y stays in the nearest cache

template <ValueType Value>
class DiaDiagonals final : public Kernel<Value> {
public:
    explicit DiaDiagonals(const DiaLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const std::int64_t rows = layout_.row_count;
        for_each_in_parallel((rows + rows_at_once - 1) / rows_at_once, 1, [&](std::int64_t share) {
            const std::int64_t begin = share * rows_at_once;
            const std::int64_t end = std::min(begin + rows_at_once, rows);
            if (!accumulate) std::fill(y + begin, y + end, Value{0});
            const Value* values = layout_.values.data();
            for (const Index offset : layout_.offsets) {
                const std::int64_t first = std::max<std::int64_t>(begin, -std::int64_t{offset});
                const std::int64_t last = std::min<std::int64_t>(end, std::int64_t{layout_.column_count} - offset);
                for (std::int64_t row = first; row < last; ++row) y[row] += values[row] * x[row + offset];
                values += rows;
            }
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    const DiaLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> dia_reference_kernels() {
    return {{.name = "rows",
             .backend = Backend::kokkos,
             .summary = "some rows at a time in parallel, diagonal by diagonal",
             .prepare = prepare_as<DiaDiagonals, DiaLayout>()}};
}

}  // namespace workbench
