#include "kernels/dasp/layout.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/device/prepare.hpp"

namespace workbench {
namespace {

// Iterations that a thread takes at a time.
constexpr int block_chunk = 128;
constexpr int row_chunk = 1024;

/// Reads the arrays as the CUDA kernels do, one class of rows after another. Each row is in one place of one class, and one
/// thread adds it up.
template <ValueType Value>
class DaspClasses final : public Kernel<Value> {
public:
    explicit DaspClasses(const DaspLayout<Value>& layout) : dasp_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        for_each_in_parallel(static_cast<std::int64_t>(dasp_.long_rows.size()), 1, [&](std::int64_t number) {
            const Offset begin = dasp_.piece_offsets[dasp_.long_pieces[number]];
            const Offset end = dasp_.piece_offsets[dasp_.long_pieces[number + 1]];
            put(y, dasp_.long_rows[number], sum(dasp_.long_values, dasp_.long_columns, begin, end, x), accumulate);
        });
        for_each_in_parallel(dasp_.row_blocks(), block_chunk, [&](std::int64_t block) {
            for (int i = 0; i < dasp_rows; ++i) multiply_medium_row(block, i, x, y, accumulate);
        });
        for_each_in_parallel(dasp_.short_fragments(), block_chunk, [&](std::int64_t fragment) {
            for (int lane = 0; lane < dasp_lanes; lane += dasp_width) multiply_quad(fragment, lane, x, y, accumulate);
        });
        for_each_in_parallel(static_cast<std::int64_t>(dasp_.single_rows.size()), row_chunk, [&](std::int64_t i) {
            put(y, dasp_.single_rows[i], dasp_.single_values[i] * x[dasp_.single_columns[i]], accumulate);
        });
        for_each_in_parallel(static_cast<std::int64_t>(dasp_.empty_rows.size()), row_chunk,
                             [&](std::int64_t i) { put(y, dasp_.empty_rows[i], Value{0}, accumulate); });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return dasp_.bytes_of_product(); }

private:
    [[nodiscard]] static Value sum(const HostArray<Value>& values, const HostArray<Index>& columns, Offset begin, Offset end,
                                   const Value* x) {
        Value total = 0;
        for (Offset slot = begin; slot < end; ++slot) total += values[slot] * x[columns[slot]];
        return total;
    }

    void multiply_medium_row(Offset block, int i, const Value* x, Value* y, bool accumulate) const {
        const DaspLane row = lane_of_row_block(dasp_, block, block + 1, i * dasp_width);
        if (row.row < 0) return;
        Value total = sum(dasp_.irregular_values, dasp_.irregular_columns, row.irregular, row.irregular_end, x);
        for (Offset k = 0; k < row.fragments; ++k) {
            const Offset slot = (row.first_fragment + k) * dasp_lanes + i * dasp_width;
            total += sum(dasp_.regular_values, dasp_.regular_columns, slot, slot + dasp_width, x);
        }
        put(y, row.row, total, accumulate);
    }

    void multiply_quad(Offset fragment, int lane, const Value* x, Value* y, bool accumulate) const {
        const DaspShort quad = lane_of_short_fragment(dasp_, fragment, lane);
        const Offset slot = fragment * dasp_lanes + lane;
        const Offset split = slot + quad.split;
        if (quad.first >= 0) put(y, quad.first, sum(dasp_.short_values, dasp_.short_columns, slot, split, x), accumulate);
        if (quad.second >= 0) {
            put(y, quad.second, sum(dasp_.short_values, dasp_.short_columns, split, slot + dasp_width, x), accumulate);
        }
    }

    const DaspLayout<Value>& dasp_;
};

}  // namespace

KernelEntry dasp_host_kernel() {
    return {
        .name = "classes",
        .backend = Backend::kokkos,
        .summary = "long rows, row blocks, quads of short rows and the other rows, one class after another, each in parallel",
        .prepare = prepare_as<DaspClasses, DaspLayout>()};
}

}  // namespace workbench
