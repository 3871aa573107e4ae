#include <array>

#include "kernels/bccoo/layout.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/device/prepare.hpp"

namespace workbench {
namespace {

/// Tiles in parallel: each writes the block rows that end in it and keeps its sums of the one that continues in the next tile,
/// which are added when all tiles are done. So no two threads write a row.
template <ValueType Value>
class BccooTiles final : public Kernel<Value> {
    using Sums = std::array<Value, largest_bccoo_block>;

public:
    explicit BccooTiles(const BccooLayout<Value>& layout) : bccoo_(layout), open_(layout.tiles()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        for_each_in_parallel(static_cast<std::int64_t>(bccoo_.empty_block_rows.size()), 1024, [&](std::int64_t i) {
            for_each_row(bccoo_.empty_block_rows[i], [&](Index row, Index) { put(y, row, Value{0}, accumulate); });
        });
        with_bccoo_block(bccoo_.block_height, bccoo_.block_width, [&](auto height, auto width) {
            for_each_in_parallel(bccoo_.tiles(), 16, [&](std::int64_t tile) {
                open_[tile] = multiply_tile<height, width>(tile, x, y, accumulate);
            });
        });
        // The last tile leaves nothing open.
        for (Offset tile = 0; tile + 1 < bccoo_.tiles(); ++tile) {
            for_each_row(bccoo_.block_row(bccoo_.first_block_rows[tile + 1]),
                         [&](Index row, Index r) { y[row] += open_[tile][r]; });
        }
    }

private:
    /// Returns the sums of the block row that continues in the next tile.
    template <int height, int width>
    [[nodiscard]] Sums multiply_tile(Offset tile, const Value* x, Value* y, bool accumulate) const {
        Sums sums{};
        for_each_block_of_tile(bccoo_, tile, [&](const BccooBlock& block) {
            const Value* const values =
                bccoo_.values.data() + bccoo_slot(tile, bccoo_.blocks_per_lane, height * width, block.k, block.lane);
            const Index first_column = block.column * width;
            for (int c = 0; c < width && first_column + c < bccoo_.column_count; ++c) {
                for (int r = 0; r < height; ++r) sums[r] += values[(r * width + c) * bccoo_lanes] * x[first_column + c];
            }
            if (!block.is_end) return;
            for_each_row(bccoo_.block_row(block.counted_row), [&](Index row, Index r) { put(y, row, sums[r], accumulate); });
            sums = {};
        });
        return sums;
    }

    /// Calls body(row, its number in the block row) for the rows within the matrix.
    void for_each_row(Index block_row, const auto& body) const {
        const Offset first = Offset{block_row} * bccoo_.block_height;
        for (Index r = 0; r < bccoo_.block_height && first + r < bccoo_.row_count; ++r) body(static_cast<Index>(first + r), r);
    }

    const BccooLayout<Value>& bccoo_;
    std::vector<Sums> open_;  // [tiles]
};

}  // namespace

KernelEntry bccoo_host_kernel() {
    return {.name = "tiles",
            .backend = Backend::kokkos,
            .summary = "tiles of blocks in parallel, then the block rows that cross tiles",
            .prepare = prepare_as<BccooTiles, BccooLayout>()};
}

}  // namespace workbench
