// Blocks of 8 x 4 with a bitmap, a format that the workbench does not have: a block stores its column once and a bit for each
// of its 32 places, and no zeros. A thread goes through the bits of its row, so that its schedule has a state. Source of such
// blocks: Bramas, Kus, "Computing the sparse matrix vector product using block-based kernels without zero padding on processors
// with AVX-512 instructions" (2018), who store the values block by block; here they are stored row by row.
#ifndef WORKBENCH_KERNEL_SOURCE  // the format
#pragma once

#include "kernels/format.hpp"

namespace workbench {

inline constexpr Index bitmap_height = 8;  // rows of a block
inline constexpr Index bitmap_width = 4;   // columns of a block

/// Rows [8 i, 8 i + 8) are strip i, which has the blocks [strip_blocks[i], strip_blocks[i + 1]). Block b has the columns from
/// 4 block_columns[b] on; bit 4 r + c of bitmaps[b] is set if the r-th row of the strip has a nonzero in its c-th column. The
/// values of row i are [row_offsets[i], row_offsets[i + 1]), in the order of columns.
template <typename Value, template <typename> typename Array>
struct Bitmap : MatrixSize {
    Array<Offset> row_offsets;
    Array<Offset> strip_blocks;
    Array<Index> block_columns;
    Array<std::uint32_t> bitmaps;
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Bitmap::row_offsets>("rows + 1"),
                          structure_array<&Bitmap::strip_blocks>("strips + 1"),
                          structure_array<&Bitmap::block_columns>("blocks"), structure_array<&Bitmap::bitmaps>("blocks"),
                          value_array<&Bitmap::values>("nonzeros"));
    }
};

/// The bits of a row that were not read yet.
struct BitmapState {
    Offset block = 0;
    std::uint32_t bits = 0;
};

/// One thread per row.
struct BitmapRows final : ScheduleBase<Hooks{.own_state = true}> {
    static constexpr Offset threads(const auto& arrays) { return CompressedRows<1>::threads(arrays); }
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        return CompressedRows<1>::run(arrays, thread, load);
    }
    static constexpr BitmapState state(const auto& arrays, const auto& run, const auto& load) {
        if (run.count <= 0) return {};
        const Offset block = load.kept(arrays.strip_blocks.data() + run.row / bitmap_height);
        return {block, bits_of(arrays, run.row, block, load)};
    }
    static constexpr Index next_column(const auto& arrays, const auto& run, const RunSlot&, const auto& load,
                                       BitmapState& state) {
        while (state.bits == 0) state.bits = bits_of(arrays, run.row, ++state.block, load);
        Index column = 0;
        while ((state.bits >> column & 1) == 0) ++column;
        state.bits &= state.bits - 1;
        return load.kept(arrays.block_columns.data() + state.block) * bitmap_width + column;
    }
    static constexpr std::uint32_t bits_of(const auto& arrays, Index row, Offset block, const auto& load) {
        return load.kept(arrays.bitmaps.data() + block) >> (row % bitmap_height * bitmap_width) & ((1U << bitmap_width) - 1);
    }
};

#ifndef __CUDACC_RTC__  // NVRTC compiles the CUDA kernel from what is above

template <ValueType Value>
struct BitmapLayout final : CompressedLayout<Value, Bitmap<Value, HostArray>, BitmapRows> {
    static constexpr const char* name = "bitmap";

    /// The walk over the slots would not notice bits that no row reads, and would leave the arrays if a row had too few.
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override {
        const Bitmap<Value, HostArray>& arrays = *this;
        const auto strips = static_cast<std::size_t>((Offset{arrays.row_count} + bitmap_height - 1) / bitmap_height);
        if (arrays.strip_blocks.size() != strips + 1 || !tiles(arrays.strip_blocks, arrays.bitmaps.size())) {
            throw std::logic_error("strip_blocks does not divide the blocks");
        }
        for (std::size_t strip = 0; strip < strips; ++strip) {
            for (Index r = 0; r < bitmap_height; ++r) {
                const auto row = static_cast<Index>(strip) * bitmap_height + r;
                Offset nonzeros = 0;
                for (Offset block = arrays.strip_blocks[strip]; block < arrays.strip_blocks[strip + 1]; ++block) {
                    nonzeros += std::popcount(BitmapRows::bits_of(arrays, row, block, PlainLoad()));
                }
                const bool is_right =
                    row < arrays.row_count ? nonzeros == arrays.row_offsets[row + 1] - arrays.row_offsets[row] : nonzeros == 0;
                if (!is_right)
                    throw std::logic_error("the bits of row " + std::to_string(row) + " are not as many as its nonzeros");
            }
        }
        CompressedLayout<Value, Bitmap<Value, HostArray>, BitmapRows>::for_each_slot(visit);
    }
};

/// Calls visit(block_column, bitmap) for the blocks of a strip, in the order of columns.
inline void for_each_block_of_strip(const CsrMatrix& matrix, Index strip, const auto& visit) {
    const Index first = strip * bitmap_height;
    const Index rows = std::min(bitmap_height, matrix.rows - first);
    std::array<Offset, bitmap_height> next{};
    std::copy_n(matrix.row_offsets.begin() + first, rows, next.begin());
    const auto has_more = [&](Index r) { return next[r] < matrix.row_offsets[first + r + 1]; };
    while (true) {
        Index block = matrix.columns;
        for (Index r = 0; r < rows; ++r) {
            if (has_more(r)) block = std::min(block, matrix.column_indices[next[r]] / bitmap_width);
        }
        if (block == matrix.columns) return;
        std::uint32_t bitmap = 0;
        for (Index r = 0; r < rows; ++r) {
            for (; has_more(r) && matrix.column_indices[next[r]] / bitmap_width == block; ++next[r]) {
                bitmap |= 1U << (r * bitmap_width + matrix.column_indices[next[r]] % bitmap_width);
            }
        }
        visit(block, bitmap);
    }
}

inline LayoutEntry bitmap_entry() {
    constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters&) {
        const CsrMatrix& matrix = staged.matrix;
        const std::int64_t strips = (std::int64_t{matrix.rows} + bitmap_height - 1) / bitmap_height;
        layout.row_offsets = matrix.row_offsets;
        make_copy(layout.values, matrix.values);
        make_zeros(layout.strip_blocks, strips + 1);
        for_each_in_parallel(strips, 64, [&](std::int64_t strip) {
            for_each_block_of_strip(matrix, static_cast<Index>(strip), [&](auto...) { ++layout.strip_blocks[strip + 1]; });
        });
        sum_up(layout.strip_blocks);
        make_room(layout.block_columns, layout.strip_blocks.back());
        make_room(layout.bitmaps, layout.strip_blocks.back());
        for_each_in_parallel(strips, 64, [&](std::int64_t strip) {
            Offset block = layout.strip_blocks[strip];
            for_each_block_of_strip(matrix, static_cast<Index>(strip), [&](Index column, std::uint32_t bitmap) {
                layout.block_columns[block] = column;
                layout.bitmaps[block++] = bitmap;
            });
        });
    };
    return format<BitmapLayout>({.summary = "blocks of 8 x 4 with bitmaps, without zeros", .source = "Bramas and Kus (2018)"},
                                fill)
        .host<BitmapRows>("rows", "rows in parallel")
        .cuda<BitmapRows>("rows", "one thread per row");
}

#endif

}  // namespace workbench

#else  // the kernels that [kernel] of bitmap.toml names, written by hand

constexpr Index height = 8;
constexpr Index width = 4;

#ifdef __CUDACC__
/// Four threads per row: each has a column of the blocks of its row.
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    const Offset thread = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    const Offset row = thread / width;
    const int column = static_cast<int>(thread % width);
    Value sum = 0;
    if (row < arrays.row_count) {
        Offset next = arrays.row_offsets[row];
        const Offset* const blocks = arrays.strip_blocks + row / height;
        for (Offset block = blocks[0]; block < blocks[1]; ++block) {
            const unsigned bits = arrays.bitmaps[block] >> (row % height * width) & ((1U << width) - 1);
            if ((bits >> column & 1) != 0) {
                const Offset nonzero = next + __popc(bits & ((1U << column) - 1));
                sum += arrays.values[nonzero] * x[Offset{arrays.block_columns[block]} * width + column];
            }
            next += __popc(bits);
        }
    }
    for (int distance = width / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0U, sum, distance);
    if (row < arrays.row_count && column == 0) y[row] = accumulate ? y[row] + sum : sum;
}
#else
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
#pragma omp parallel for
    for (Index row = 0; row < arrays.row_count; ++row) {
        Offset next = arrays.row_offsets[row];
        const Offset* const blocks = arrays.strip_blocks + row / height;
        Value sum = 0;
        for (Offset block = blocks[0]; block < blocks[1]; ++block) {
            const unsigned bits = arrays.bitmaps[block] >> (row % height * width) & ((1U << width) - 1);
            const Value* const x_of_block = x + Offset{arrays.block_columns[block]} * width;
            for (Index column = 0; column < width; ++column) {
                if ((bits >> column & 1) != 0) sum += arrays.values[next++] * x_of_block[column];
            }
        }
        y[row] = accumulate ? y[row] + sum : sum;
    }
}
#endif

#endif
