// CSR5: the nonzeros of CSR in tiles of equal size, each stored so that neighbouring lanes read neighbours, with bits where
// rows begin. Source: Liu and Vinter, "CSR5: An Efficient Storage Format for Cross-Platform Sparse Matrix-Vector
// Multiplication" (ICS 2015). Taken from the paper: the tiles of omega x sigma, `row_ptr`, `tile_ptr` with its mark,
// `tile_desc` (bit_flag, y_offset, seg_offset, empty_offset), the tail as CSR, the calibrator, and how sigma is chosen. Designs
// of this project: the widths of the parts of a descriptor, the sizes of sigma below, and that the bit of a tile's first
// nonzero is set only if it begins its row (in the paper it is always set).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// A tile has omega lanes with sigma nonzeros each, one after another in the order of CSR: the i-th nonzero of lane l in tile t
/// is nonzero number (t omega + l) sigma + i of the matrix, stored in slot (t sigma + i) omega + l. The nonzeros after the last
/// whole tile, the tail, are stored as in CSR. A segment is the part of a row in one tile.
template <typename Value, template <typename> typename Array>
struct Csr5 : MatrixSize {
    Index omega = 0;
    Index sigma = 0;
    Array<Offset> row_offsets;        // [rows + 1] row_ptr of CSR, for the tail and for empty rows
    Array<std::uint32_t> tile_ptr;    // [tiles + 1] the row of each tile's, then of the tail's, first nonzero; see row_of_tile
    Array<std::uint32_t> tile_desc;   // [tiles x words x omega] word by word, lane by lane; see Csr5Lane
    Array<Offset> empty_offset_ptr;   // [tiles + 1] first empty_offset of each tile
    Array<Index> empty_offset;        // [segments of marked tiles] how far each segment's row is behind the tile's first one
    Array<Index> column_indices;      // [nonzeros]
    ValueArray<Value, Array> values;  // [nonzeros]

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&Csr5::omega>(), number_field<&Csr5::sigma>(),
                          structure_array<&Csr5::row_offsets>("rows + 1"), structure_array<&Csr5::tile_ptr>("tiles + 1"),
                          structure_array<&Csr5::tile_desc>("tiles x words x omega"),
                          structure_array<&Csr5::empty_offset_ptr>("tiles + 1"),
                          structure_array<&Csr5::empty_offset>("segments of marked tiles"),
                          column_array<&Csr5::column_indices>("nonzeros"), coded_value_array<&Csr5::values>("nonzeros"));
    }

    [[nodiscard]] constexpr Offset tile_size() const { return Offset{omega} * sigma; }
    [[nodiscard]] constexpr Offset tile_count() const { return static_cast<Offset>(tile_ptr.size()) - 1; }
    /// The slot of the i-th nonzero of a lane.
    [[nodiscard]] constexpr Offset slot(Offset tile, Index i, Index lane) const {
        return tile * tile_size() + Offset{i} * omega + lane;
    }
    /// The first nonzero of the tail.
    [[nodiscard]] constexpr Offset tail_begin() const { return tile_count() * tile_size(); }
    [[nodiscard]] constexpr bool has_tail() const { return tail_begin() < static_cast<Offset>(values.size()); }
};

/// The sizes of sigma that have kernels.
inline constexpr std::array<Index, 8> csr5_sigmas{2, 4, 6, 8, 12, 16, 24, 32};

/// Those of equal values.
inline constexpr std::array<Index, 3> csr5_sigmas_of_equal_values{4, 8, 16};

/// The paper's rule with <r, s, t, u> = <4, 32, 256, 6>, its numbers for NVIDIA GPUs, by the mean row length: r up to r, the
/// mean itself up to s, s up to t, u beyond. The mean is rounded down to the next of csr5_sigmas.
[[nodiscard]] constexpr Index csr5_sigma_for(Index rows, Offset nonzeros) {
    constexpr Offset r = 4;
    constexpr Offset s = 32;
    constexpr Offset t = 256;
    constexpr Offset u = 6;
    if (nonzeros <= r * rows) return r;
    if (nonzeros > t * rows) return u;
    Index chosen = r;
    for (const Index size : csr5_sigmas) {
        if (size <= s && Offset{size} * rows <= nonzeros && size > chosen) chosen = size;
    }
    return chosen;
}

// In tile_ptr: the tile has rows without nonzeros between its rows, which empty_offset lists.
inline constexpr std::uint32_t csr5_mark = std::uint32_t{1} << 31;

[[nodiscard]] constexpr Index row_of_tile(std::uint32_t tile_ptr) { return static_cast<Index>(tile_ptr & ~csr5_mark); }

/// A lane in the descriptor of a tile.
struct Csr5Lane {
    std::uint32_t bit_flag = 0;    // bit i: the lane's i-th nonzero is the first of its row
    std::uint32_t y_offset = 0;    // segments that begin in earlier lanes; the tile's first nonzero always begins one
    std::uint32_t seg_offset = 0;  // consecutive lanes after this one in which no segment begins

    friend bool operator==(const Csr5Lane&, const Csr5Lane&) = default;
};

/// Words of 32 bits that a lane's part of a descriptor takes.
[[nodiscard]] constexpr int csr5_words(Index sigma) { return sigma <= 16 ? 1 : 2; }

/// y_offset is below 2^11 and seg_offset below 2^5. One word: bit_flag in its lower half, the offsets above. Two: bit_flag
/// alone, then the offsets.
[[nodiscard]] constexpr std::array<std::uint32_t, 2> packed(const Csr5Lane& lane, int words) {
    const std::uint32_t offsets = lane.y_offset | lane.seg_offset << 11;
    return words == 1 ? std::array{lane.bit_flag | offsets << 16, std::uint32_t{0}} : std::array{lane.bit_flag, offsets};
}

[[nodiscard]] constexpr Csr5Lane unpacked(std::uint32_t first, std::uint32_t second, int words) {
    const std::uint32_t offsets = words == 1 ? first >> 16 : second;
    return {words == 1 ? first & 0xffffU : first, offsets & 0x7ffU, offsets >> 11};
}

/// A lane's part of the descriptor of a tile.
[[nodiscard]] constexpr Csr5Lane lane_of_tile(const auto& csr5, Offset tile, Index lane) {
    const int words = csr5_words(csr5.sigma);
    const auto* const of_tile = csr5.tile_desc.data() + tile * words * csr5.omega;
    return unpacked(of_tile[lane], of_tile[(words - 1) * csr5.omega + lane], words);
}

/// Rows that no tile writes, listed when a kernel is prepared.
template <template <typename> typename Array>
struct RowsBesideTiles {
    Array<Index> tail_rows;   // rows with nonzeros in the tail; the first may have begun in a tile
    Array<Index> empty_rows;  // rows without nonzeros

    static constexpr auto fields() {
        return field_list(structure_array<&RowsBesideTiles::tail_rows>("rows of the tail"),
                          structure_array<&RowsBesideTiles::empty_rows>("empty rows"));
    }
};

/// With values in full, or all equal.
template <ValueType Value>
struct Csr5Layout final : VariantLayout<Value, Csr5<Value, HostArray>, Csr5<Constant<Value>, HostArray>> {
    static constexpr const char* name = "csr5";
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

template <ValueType Value>
[[nodiscard]] RowsBesideTiles<HostArray> rows_beside_tiles(const Csr5Layout<Value>& layout);

/// The bytes that a product moves at least. Only the tail's rows of row_ptr are read, tile_ptr is read twice, and the sum of
/// each tile's first segment is written and read.
template <ValueType Value>
[[nodiscard]] std::int64_t csr5_bytes(const Csr5Layout<Value>& layout, const RowsBesideTiles<HostArray>& beside);

inline constexpr int csr5_warps = 4;  // of a block of the CUDA kernel

/// The warps of the CUDA kernel in order: one for each row of the tail, in whole blocks, one for each tile, and one for every
/// 32 empty rows, which are zeroed unless the product is added to y.
struct Csr5Grid {
    Offset tail_rows = 0;
    Offset tiles = 0;
    Offset zeroed_rows = 0;

    [[nodiscard]] static constexpr Csr5Grid of(const auto& csr5, const auto& beside, bool accumulate) {
        return {static_cast<Offset>(beside.tail_rows.size()), csr5.tile_count(),
                accumulate ? 0 : static_cast<Offset>(beside.empty_rows.size())};
    }
    [[nodiscard]] constexpr Offset first_tile() const { return (tail_rows + csr5_warps - 1) / csr5_warps * csr5_warps; }
    [[nodiscard]] constexpr Offset first_zeroed() const { return first_tile() + tiles; }
    [[nodiscard]] constexpr Offset blocks() const {
        return (first_zeroed() + (zeroed_rows + 31) / 32 + csr5_warps - 1) / csr5_warps;
    }
    /// The empty row that a lane zeroes, by its number among them; -1: none.
    [[nodiscard]] constexpr Offset zeroed_row(Offset warp, int lane) const {
        const Offset number = (warp - first_zeroed()) * 32 + lane;
        return warp >= first_zeroed() && number < zeroed_rows ? number : -1;
    }
};

/// The CUDA kernel `tiles`.
template <ValueType Value>
struct Csr5Kernel;

/// The reads of the CUDA kernel, by tail row, then by tile.
template <ValueType Value>
void walk_csr5(const Csr5Layout<Value>& layout, const std::function<void(const Read&)>& visit);

[[nodiscard]] LayoutEntry csr5_entry();

}  // namespace workbench
