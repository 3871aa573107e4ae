#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/hbp/layout.hpp"

namespace workbench {
namespace {

constexpr int tile_chunk = 4;
constexpr int row_chunk = 1024;

/// The two steps of the GPU's kernels. Each stored row has a result of its own, so that no two threads meet in them.
template <ValueType Value>
class HbpTiles final : public Kernel<Value> {
public:
    explicit HbpTiles(const HbpLayout<Value>& layout) : layout_(layout), results_(layout.output_order.size()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const auto multiply_all = [&](const auto& column_indices) {
            for_each_in_parallel(layout_.tile_count(), tile_chunk, [&](std::int64_t tile) {
                multiply_tile(static_cast<Index>(tile), column_indices.data(), x + layout_.tile_columns[tile]);
            });
        };
        std::visit(multiply_all, layout_.column_indices);
        for_each_in_parallel(layout_.row_count, row_chunk, [&](std::int64_t row) {
            Value sum = 0;
            for (Index i = layout_.result_offsets[row]; i < layout_.result_offsets[row + 1]; ++i) sum += results_[i];
            put(y, static_cast<Index>(row), sum, accumulate);
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    template <typename ColumnIndex>
    void multiply_tile(Index tile, const ColumnIndex* columns, const Value* x) {
        for (Index batch = layout_.tile_batches[tile]; batch < layout_.tile_batches[tile + 1]; ++batch) {
            Offset start = layout_.begin_ptr[batch];
            for (Index stored = layout_.batch_rows[batch]; stored < layout_.batch_rows[batch + 1]; ++stored) {
                const Index lane = stored - layout_.batch_rows[batch];
                const bool zero_row = (layout_.zero_row[batch] >> lane & 1U) != 0;
                results_[layout_.output_order[stored]] = zero_row ? Value{0} : multiply_row(start++, columns, x);
            }
        }
    }

    template <typename ColumnIndex>
    [[nodiscard]] Value multiply_row(Offset entry, const ColumnIndex* columns, const Value* x) const {
        Value sum = layout_.data[entry] * x[columns[entry]];
        while (const int distance = layout_.add_sign[entry]) {
            entry += distance;
            sum += layout_.data[entry] * x[columns[entry]];
        }
        return sum;
    }

    const HbpLayout<Value>& layout_;
    std::vector<Value> results_;
};

}  // namespace

std::vector<KernelEntry> hbp_reference_kernels() {
    return {{.name = "tiles",
             .backend = Backend::kokkos,
             .summary = "threads claim tiles, whose results are stored and then merged per row",
             .prepare = prepare_as<HbpTiles, HbpLayout>}};
}

}  // namespace workbench
