#include <array>

#include "kernels/block_sell/layout.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/device/prepare.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class BlockSellSlices final : public Kernel<Value> {
public:
    explicit BlockSellSlices(const BlockSellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        // The compiler unrolls the product of a block whose size it knows.
        switch (layout_.block_size) {
            case 2: return multiply<2>(x, y, accumulate);
            case 3: return multiply<3>(x, y, accumulate);
            case 4: return multiply<4>(x, y, accumulate);
            case 6: return multiply<6>(x, y, accumulate);
            default: return multiply<1>(x, y, accumulate);
        }
    }

private:
    template <int size>
    void multiply(const Value* x, Value* y, bool accumulate) const {
        const BlockSell<Value, ArrayView> sell = view_of(layout_.stored());
        for_each_in_parallel(sell.slice_count(), 1, [&](std::int64_t slice) {
            for (Index lane = 0; lane < sell.slice_height; ++lane) {
                std::array<Value, size> sums{};
                Offset block_row = 0;
                for (Index turn = 0; turn < sell.threads_per_row; ++turn) {
                    using Threads = BlockSellThreads<size, 0>;
                    const BlockSellRun run = Threads::run(sell, slice * 32 + turn * sell.slice_height + lane);
                    block_row = run.block_row;
                    for (Index k = 0; k < run.count; ++k) {
                        const Index first = Threads::column(sell, run, k, PlainLoad{});
                        const Index there = std::min(size, sell.column_count - first);
                        for (int j = 0; j < size * size; ++j) {
                            if (j % size < there)
                                sums[j / size] += sell.values[Threads::value(sell, run, k, j)] * x[first + j % size];
                        }
                    }
                }
                for (int r = 0; r < size && block_row * size + r < sell.row_count; ++r) {
                    put(y, static_cast<Index>(block_row * size + r), sums[r], accumulate);
                }
            }
        });
    }

    const BlockSellLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> block_sell_reference_kernels() {
    return {{"slices", Backend::kokkos, "slices in parallel, row of blocks by row of blocks",
             prepare_as<BlockSellSlices, BlockSellLayout>()}};
}

}  // namespace workbench
