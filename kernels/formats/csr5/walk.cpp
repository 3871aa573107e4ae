// The slots of CSR5, and the threads that read them.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/common/schedule/walk.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/formats/csr5/layout.hpp"

namespace workbench {
namespace {

[[noreturn]] void fail(std::string_view what) { throw std::logic_error(fmt::format("csr5: {}", what)); }

/// Makes a damaged layout safe to walk.
void require_sound_structure(const auto& csr5) {
    const Offset tiles_of_nonzeros = static_cast<Offset>(csr5.values.size()) / csr5.tile_size();
    const bool sound =
        csr5.row_offsets.size() == static_cast<std::size_t>(csr5.row_count) + 1 &&
        tiles(csr5.row_offsets, csr5.values.size()) &&
        static_cast<Offset>(csr5.column_indices.size()) == static_cast<Offset>(csr5.values.size()) &&
        csr5.tile_count() == tiles_of_nonzeros && csr5.empty_offset_ptr.size() == csr5.tile_ptr.size() &&
        tiles(csr5.empty_offset_ptr, csr5.empty_offset.size()) &&
        csr5.tile_desc.size() == static_cast<std::size_t>(tiles_of_nonzeros * csr5_words(csr5.sigma) * csr5.omega);
    if (!sound) fail("row_ptr or empty_offset_ptr does not tile the arrays, or an array is of another size");
    const Index row = csr5.has_tail() ? piece_with(csr5.row_offsets, csr5.tail_begin()) : csr5.row_count;
    if (csr5.tile_ptr.back() != static_cast<std::uint32_t>(row)) fail("the last of tile_ptr is not the row of the tail");
}

/// The rows of a tile's nonzeros in the order of CSR, from its descriptor. Throws std::logic_error if the parts of the
/// descriptor contradict each other. [omega x sigma]
HostArray<Index> rows_of_tile(const auto& csr5, Offset tile) {
    const auto wrong = [&](std::string_view what) { fail(fmt::format("tile {}: {}", tile, what)); };
    const bool marked = (csr5.tile_ptr[tile] & csr5_mark) != 0;
    const Index first_row = row_of_tile(csr5.tile_ptr[tile]);
    const Offset begin_of_empty = csr5.empty_offset_ptr[tile];
    const Offset listed = csr5.empty_offset_ptr[tile + 1] - begin_of_empty;
    HostArray<Index> rows;
    Offset segments = 0;
    std::uint32_t lanes_behind = 0;
    for (Index lane = csr5.omega - 1; lane >= 0; --lane) {
        const Csr5Lane of_lane = lane_of_tile(csr5, tile, lane);
        if (of_lane.seg_offset != lanes_behind) wrong("seg_offset is not the number of lanes in which no row begins");
        lanes_behind = of_lane.bit_flag != 0 ? 0 : lanes_behind + 1;
    }
    for (Index lane = 0; lane < csr5.omega; ++lane) {
        const Csr5Lane of_lane = lane_of_tile(csr5, tile, lane);
        if (of_lane.y_offset != static_cast<std::uint32_t>(segments)) wrong("y_offset is not the number of segments before");
        if (std::uint64_t{of_lane.bit_flag} >> csr5.sigma != 0) wrong("bit_flag has more bits than the lane has nonzeros");
        for (Index i = 0; i < csr5.sigma; ++i) {
            const bool begins_row = (of_lane.bit_flag >> i & 1U) != 0;
            if (begins_row || rows.empty()) ++segments;
            if (marked && segments > listed) wrong("empty_offset has fewer elements than there are segments");
            const Offset row =
                Offset{first_row} + (marked ? Offset{csr5.empty_offset[begin_of_empty + segments - 1]} : segments - 1);
            if (row < 0 || row >= csr5.row_count) wrong("a segment is of a row that does not exist");
            const Offset nonzero = tile * csr5.tile_size() + static_cast<Offset>(rows.size());
            if (begins_row != (csr5.row_offsets[row] == nonzero) || csr5.row_offsets[row + 1] <= nonzero) {
                wrong("bit_flag is not where rows begin");
            }
            rows.push_back(static_cast<Index>(row));
        }
    }
    if (listed != (marked ? segments : 0)) wrong("empty_offset has not as many elements as it should");
    if (marked && rows.back() - rows.front() == segments - 1) wrong("it is marked, but there are no empty rows between");
    return rows;
}

/// A slot of a nonzero.
Slot slot_of(const auto& csr5, Offset index, Offset nonzero, Index row) {
    return {.array = array_number(csr5, csr5.values),
            .column_array = array_number(csr5, csr5.column_indices),
            .index = index,
            .column_index = index,
            .nonzero = nonzero,
            .column = csr5.column_indices[index],
            .row = row};
}

/// Calls visit(slot, lane, i) for the slots of a tile in the order of memory.
void for_each_slot_of_tile(const auto& csr5, Offset tile, const auto& visit) {
    const HostArray<Index> rows = rows_of_tile(csr5, tile);
    for (Index i = 0; i < csr5.sigma; ++i) {
        for (Index lane = 0; lane < csr5.omega; ++lane) {
            const Offset in_order = Offset{lane} * csr5.sigma + i;
            visit(slot_of(csr5, csr5.slot(tile, i, lane), tile * csr5.tile_size() + in_order, rows[in_order]), lane, i);
        }
    }
}

void visit_slots(const auto& csr5, const std::function<void(const Slot&)>& visit) {
    require_sound_structure(csr5);
    for (Offset tile = 0; tile < csr5.tile_count(); ++tile) {
        for_each_slot_of_tile(csr5, tile, [&](const Slot& slot, Index, Index) { visit(slot); });
    }
    for (Offset k = csr5.tail_begin(); k < static_cast<Offset>(csr5.values.size()); ++k) {
        visit(slot_of(csr5, k, k, piece_with(csr5.row_offsets, k)));
    }
}

}  // namespace

template <ValueType Value>
void Csr5Layout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& csr5) { visit_slots(structure_of(csr5), visit); });
}

template <ValueType Value>
RowsBesideTiles<HostArray> rows_beside_tiles(const Csr5Layout<Value>& layout) {
    RowsBesideTiles<HostArray> beside;
    with_stored(layout, [&](const auto& csr5) {
        for (Index row = 0; row < csr5.row_count; ++row) {
            if (csr5.row_offsets[row] == csr5.row_offsets[row + 1]) {
                beside.empty_rows.push_back(row);
            } else if (csr5.row_offsets[row + 1] > csr5.tail_begin()) {
                beside.tail_rows.push_back(row);
            }
        }
    });
    return beside;
}

template <ValueType Value>
std::int64_t csr5_bytes(const Csr5Layout<Value>& layout, const RowsBesideTiles<HostArray>& beside) {
    const auto bytes_of = [](const auto& array) { return static_cast<std::int64_t>(array.size() * sizeof(array[0])); };
    const auto tail_rows = static_cast<std::int64_t>(beside.tail_rows.size());
    return with_stored(layout, [&](const auto& csr5) {
        const std::int64_t sums = csr5.tile_count() + (csr5.has_tail() ? 1 : 0);
        return layout.bytes_to_move() - bytes_of(csr5.row_offsets) + 2 * tail_rows * static_cast<std::int64_t>(sizeof(Offset)) +
               bytes_of(csr5.tile_ptr) + 2 * sums * static_cast<std::int64_t>(sizeof(Value)) + bytes_of(beside.tail_rows) +
               bytes_of(beside.empty_rows);
    });
}

namespace {

void walk_tiles(const auto& csr5, const RowsBesideTiles<HostArray>& beside, const std::function<void(const Read&)>& visit) {
    Offset first_thread = 0;
    for (const Index row : beside.tail_rows) {
        const Offset begin = std::max(csr5.row_offsets[row], csr5.tail_begin());
        for (Offset k = begin; k < csr5.row_offsets[row + 1]; ++k) {
            visit(read_of(slot_of(csr5, k, k, row), first_thread + (k - begin) % 32, (k - begin) / 32));
        }
        first_thread += 32;
    }
    const Offset first_warp = Csr5Grid::of(csr5, beside, false).first_tile();
    for (Offset tile = 0; tile < csr5.tile_count(); ++tile) {
        for_each_slot_of_tile(csr5, tile, [&](const Slot& slot, Index lane, Index i) {
            visit(read_of(slot, (first_warp + tile) * 32 + lane, i));
        });
    }
}

}  // namespace

template <ValueType Value>
void walk_csr5(const Csr5Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    with_stored(layout, [&](const auto& csr5) { walk_tiles(structure_of(csr5), rows_beside_tiles(layout), visit); });
}

template struct Csr5Layout<float>;
template struct Csr5Layout<double>;
template RowsBesideTiles<HostArray> rows_beside_tiles(const Csr5Layout<float>&);
template RowsBesideTiles<HostArray> rows_beside_tiles(const Csr5Layout<double>&);
template std::int64_t csr5_bytes(const Csr5Layout<float>&, const RowsBesideTiles<HostArray>&);
template std::int64_t csr5_bytes(const Csr5Layout<double>&, const RowsBesideTiles<HostArray>&);
template void walk_csr5(const Csr5Layout<float>&, const std::function<void(const Read&)>&);
template void walk_csr5(const Csr5Layout<double>&, const std::function<void(const Read&)>&);

}  // namespace workbench
