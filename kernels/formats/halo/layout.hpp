// Halo: each part of the matrix keeps its share of x, the x of the columns outside that it touches, and its share of y in
// shared memory. A format of this project. It builds on parts with their own share of x (EHYB) and slices sorted by length
// (SELL-C-sigma).
#pragma once

#include <cstdint>

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/pattern.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

inline constexpr int halo_lanes = 32;
inline constexpr int most_halo_warps = 16;           // of a part
inline constexpr Index largest_halo_block = 6;       // unknowns of a node
inline constexpr std::uint16_t no_place = 0xFFFF;    // a lane without a block, or without a row
inline constexpr Index most_halo_places = no_place;  // of a part

/// Rows and columns are grouped in nodes of block_size unknowns (the last node may have fewer), and the matrix is stored in
/// blocks of block_size x block_size values, row by row. A part owns some neighbouring nodes. Its places are those nodes, if
/// the matrix is square, and after them its halo: the other columns that its rows touch. A product adds up the part's rows in
/// shared memory, from four sections:
///  - the diagonal: the upper triangle of each own node's block, 32 nodes side by side; only if all these blocks are symmetric,
///    otherwise they are part of the rest.
///  - pairs: blocks (i, j) of own nodes whose mirror (j, i) has the same values and is not stored. The lane that adds the block
///    times x_j to row i adds its transpose times x_i to row j.
///  - the rest: blocks that add to one row.
///  - far blocks, whose columns did not fit into shared memory, with columns of the whole matrix.
/// Pairs and rest are the steps of the part's warps: first the pairs of a warp, then its share of the rest. The steps of a
/// segment have the same rows: lane l has that of place segment_rows[32 * segment + l]. Entry e of lane l's block in a step is
/// stored in values[(step * area() + e) * 32 + l], the place of its column in column_places[32 * step + l].
template <typename Value, template <typename> typename Array>
struct Halo : MatrixSize {
    Index block_size = 1;
    Index warps = most_halo_warps;       // of a part
    Array<Index> part_nodes;             // [parts + 1] the first node of each
    Array<Index> halo_offsets;           // [parts + 1]
    Array<Index> halo_nodes;             // [nodes in halos] of the columns
    Array<Index> diagonal_groups;        // [parts + 1] of 32 nodes; empty: no diagonal section
    Array<Value> diagonal;               // [diagonal groups * block_size * (block_size + 1) / 2 * 32]
    Array<Index> warp_steps;             // [parts * warps + 1] the first step of each warp
    Array<Index> warp_segments;          // [parts * warps + 1] the first segment of each warp
    Array<Index> rest_segments;          // [parts * warps] the first of them that holds no pairs
    Array<Index> segment_steps;          // [segments + 1] the first step of each
    Array<std::uint16_t> segment_rows;   // [32 * segments] places
    Array<std::uint16_t> column_places;  // [32 * steps] places
    Array<Value> values;                 // [steps * block_size * block_size * 32]
    Array<Index> far_steps;              // [parts + 1] the first far step of each
    Array<std::uint16_t> far_rows;       // [32 * far steps] places
    Array<Index> far_columns;            // [32 * far steps] nodes
    Array<Value> far_values;             // [far steps * block_size * block_size * 32]

    static constexpr auto fields() {
        return field_list(
            MatrixSize::fields(), number_field<&Halo::block_size>(), number_field<&Halo::warps>(),
            structure_array<&Halo::part_nodes>("parts + 1"), structure_array<&Halo::halo_offsets>("parts + 1"),
            structure_array<&Halo::halo_nodes>("nodes in halos"), structure_array<&Halo::diagonal_groups>("parts + 1"),
            value_array<&Halo::diagonal>("diagonal groups * block_size * (block_size + 1) / 2 * 32"),
            structure_array<&Halo::warp_steps>("parts * warps + 1"), structure_array<&Halo::warp_segments>("parts * warps + 1"),
            structure_array<&Halo::rest_segments>("parts * warps"), structure_array<&Halo::segment_steps>("segments + 1"),
            structure_array<&Halo::segment_rows>("32 * segments"), column_array<&Halo::column_places>("32 * steps"),
            value_array<&Halo::values>("steps * block_size * block_size * 32"), structure_array<&Halo::far_steps>("parts + 1"),
            structure_array<&Halo::far_rows>("32 * far steps"), column_array<&Halo::far_columns>("32 * far steps"),
            value_array<&Halo::far_values>("far steps * block_size * block_size * 32"));
    }

    [[nodiscard]] constexpr Index parts() const { return static_cast<Index>(part_nodes.size()) - 1; }
    [[nodiscard]] constexpr int area() const { return block_size * block_size; }
    [[nodiscard]] constexpr int triangle() const { return block_size * (block_size + 1) / 2; }
    [[nodiscard]] constexpr bool has_diagonal() const { return diagonal_groups.size() != 0; }
};

struct HaloPart {
    Index first_node = 0;
    Index own = 0;     // nodes of its rows
    Index cached = 0;  // own nodes whose x it keeps: all or none
    Index first_halo = 0;
    Index halo = 0;  // nodes

    [[nodiscard]] constexpr Index places() const { return cached + halo; }
};

[[nodiscard]] constexpr HaloPart halo_part(const auto& halo, Index part) {
    const Index first = halo.part_nodes[part];
    const Index own = halo.part_nodes[part + 1] - first;
    const Index first_halo = halo.halo_offsets[part];
    return {.first_node = first,
            .own = own,
            .cached = halo.row_count == halo.column_count ? own : 0,
            .first_halo = first_halo,
            .halo = halo.halo_offsets[part + 1] - first_halo};
}

/// The bytes of shared memory for the x and y of a part.
[[nodiscard]] constexpr std::int64_t halo_vector_bytes(const HaloPart& part, Index block_size, std::size_t value_bytes) {
    return (std::int64_t{part.places()} + part.own) * block_size * static_cast<std::int64_t>(value_bytes);
}

/// The place of entry 0 of a lane's block in `values` or `far_values`; entry e is stored 32 * e places after it.
[[nodiscard]] constexpr Offset halo_slot(Offset step, int area, int lane) { return step * area * halo_lanes + lane; }

/// The steps of a part are dealt to its warps in equal shares, and so are the pairs among them: the end of a warp's share.
[[nodiscard]] constexpr Offset halo_steps_until(Offset steps, Index warp, Index warps) { return steps * (warp + 1) / warps; }
[[nodiscard]] constexpr Offset halo_pairs_until(Offset pairs, Offset steps, Index warp, Index warps) {
    return steps == 0 ? 0 : pairs * halo_steps_until(steps, warp, warps) / steps;
}

template <ValueType Value>
struct HaloLayout final : StoredLayout<Value, Halo<Value, HostArray>> {
    static constexpr const char* name = "halo";
    // No kernel reads these, and they are no part of the footprint.
    Pattern pattern;      // distinguishes nonzeros from padding
    Offset pairs = 0;     // blocks
    Offset blocks = 0;    // stored outside the diagonal section
    Index parts_cut = 0;  // parts of the partition that were too large
    Offset far_blocks = 0;

    void transfer(Transfer& all) override { this->transfer_with(all, pattern, pairs, blocks, parts_cut, far_blocks); }
    [[nodiscard]] std::vector<Index> rows_of_padding() const override { return pattern.rows_without_nonzeros(); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;
};

namespace halo {

/// The CUDA kernel `parts`.
template <ValueType Value>
class PartsKernel;

}  // namespace halo

/// The reads of the CUDA kernel.
template <ValueType Value>
void walk_halo(const HaloLayout<Value>& halo, const std::function<void(const Read&)>& visit);

[[nodiscard]] LayoutEntry halo_entry();

}  // namespace workbench
