#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "kernels/common/descending_rows.hpp"
#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/offsets.hpp"
#include "kernels/common/value_range.hpp"
#include "kernels/segmented/layout.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

constexpr std::string_view drawing = R"(
S: column_segmentation with width = 3, row_sort within = "segment"; columns are relative to their segment

segment_columns     0 3 6
piece_starts        0 4 8
stored_rows         0 1 2 4 | 3 4 1 5
row_starts          0 1 3 4 5 7 8
row_places          0 | 1 6 | 2 | 4 | 3 5 | 7

piece = "jds"       piece 0              piece 1
group_diagonals     0 3 5
diagonal_offsets    0 4 6 7 11 13
values              1 4 7 10 | 2 5 | 3   8 11 6 13 | 9 12
columns             0 1 2 0 | 1 2 | 2    0 1 1 2 | 2 2

piece = "sell" with slice_height = 2; a dot is padding: value 0, column 0
group_slices        0 2 4
slice_offsets       0 6 8 12 14
values              1 4 | 2 5 | 3 .   7 10   8 11 | 9 12   6 13
columns             0 1 | 1 2 | 2 .   2 0    0 1 | 2 2     1 2

NUS: column_sort first, then segment_count = 1, segment_size = 2; x in the order of the columns

       2  5 |  0  1  4  3
  0 [  3  . |  1  2  .  . ]
  1 [  5  . |  .  4  6  . ]
  2 [  7  . |  .  .  .  . ]
  3 [  .  9 |  .  .  .  8 ]
  4 [  . 12 | 10  . 11  . ]
  5 [  . 13 |  .  .  .  . ]

segment_columns     0 2 6
piece_starts        0 6 10
stored_rows         0 1 2 3 4 5 | 0 1 4 3
row_starts          0 2 4 5 7 9 10
row_places          0 6 | 1 7 | 2 | 3 9 | 4 8 | 5

piece = "jds"       piece 0           piece 1
group_diagonals     0 1 3
diagonal_offsets    0 6 10 13
values              3 5 7 9 12 13     1 4 10 8 | 2 6 11
columns             0 0 0 1 1 1       0 1 0 3 | 1 2 2
)";

/// The share of each segment; null where it has no nonzeros. [segments]
std::vector<const Share*> shares_of_segments(const StagedMatrix& staged, const Cuts& segments) {
    std::vector<const Share*> shares(segments.count(), nullptr);
    for (const Share& share : staged.shares) shares[share.id.segment] = &share;
    return shares;
}

void require_suitable(const StagedMatrix& staged, const Cuts& segments, bool narrow_columns) {
    if (staged.find_cuts(CutKind::row_block) != nullptr) {
        throw Unsuitable(
            "there are row blocks, but a piece is a segment of all rows: remove stage row_blocks, or use a layout made of "
            "tiles");
    }
    constexpr Index most = 65536;
    for (Index segment = 0; narrow_columns && segment < segments.count(); ++segment) {
        if (segments.size(segment) <= most) continue;
        throw Unsuitable(
            fmt::format("segment {} has {} columns, but columns of 16 bits reach {}: make the segments of column_segmentation "
                        "narrower, or set column_index = \"u32\"",
                        segment, segments.size(segment), most));
    }
    std::size_t stored_rows = 0;
    for (const Share& share : staged.shares) stored_rows += share.rows.size();
    if (stored_rows > static_cast<std::size_t>(std::numeric_limits<Index>::max() - rows_per_block)) {
        throw Unsuitable(
            fmt::format("the segments store {} rows all together, but they are numbered with 31 bits: make the "
                        "segments of column_segmentation wider",
                        stored_rows));
    }
}

/// The rows of all pieces, and where to find those of each row of the matrix: sorted by counting.
template <ValueType Value>
void list_rows(SegmentedLayout<Value>& layout, const std::vector<const Share*>& shares) {
    for (const Share* share : shares) {
        if (share != nullptr) layout.stored_rows.insert(layout.stored_rows.end(), share->rows.begin(), share->rows.end());
        layout.piece_starts.push_back(layout.stored_row_count());
    }
    layout.row_starts.assign(static_cast<std::size_t>(layout.row_count) + 1, 0);
    for (const Index row : layout.stored_rows) ++layout.row_starts[row + 1];
    std::partial_sum(layout.row_starts.begin(), layout.row_starts.end(), layout.row_starts.begin());
    std::vector<Index> next(layout.row_starts.begin(), layout.row_starts.end() - 1);
    layout.row_places.resize(layout.stored_rows.size());
    for (Index stored = 0; stored < layout.stored_row_count(); ++stored) {
        layout.row_places[next[layout.stored_rows[stored]]++] = stored;
    }
}

/// All shares as one, for slices: the slices' groups tell them apart.
Share joined(const std::vector<const Share*>& shares) {
    Share all;
    for (const Share* share : shares) {
        if (share == nullptr) continue;
        const Offset first = all.row_offsets.back();
        all.rows.insert(all.rows.end(), share->rows.begin(), share->rows.end());
        all.entries.insert(all.entries.end(), share->entries.begin(), share->entries.end());
        for (std::size_t row = 1; row < share->row_offsets.size(); ++row) {
            all.row_offsets.push_back(first + share->row_offsets[row]);
        }
    }
    return all;
}

template <ValueType Value, typename ColumnIndex>
void build_pieces(SegmentedLayout<Value>& layout, const CsrMatrix& matrix, const std::vector<const Share*>& shares,
                  const Parameters& parameters) {
    if (parameters.text("piece") == "sell") {
        const SlicePlan plan{.slice_height = static_cast<Index>(parameters.integer("slice_height")),
                             .group_places = layout.piece_starts,
                             .column_bounds = layout.segment_columns};
        const Share all = joined(shares);
        layout.pieces = build_slices<Value, ColumnIndex>(matrix, ShareView(all), plan);
        return;
    }
    static const Share nothing;
    std::vector<JaggedGroup> groups;
    for (Index segment = 0; segment < layout.piece_count(); ++segment) {
        const Share& share = shares[segment] == nullptr ? nothing : *shares[segment];
        require_descending(ShareView(share), {.wish = "jagged diagonals need rows in descending length",
                                              .stage = "row_sort with within = \"segment\"",
                                              .share_name = name_of(share.id)});
        groups.push_back(
            {ShareView(share), {layout.segment_columns[segment], layout.segment_columns[segment + 1]}, name_of(share.id)});
    }
    layout.pieces = build_jagged<Value, ColumnIndex>(matrix, groups);
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const Cuts& segments = *staged.find_cuts(CutKind::segment);
    const bool narrow_columns = parameters.text("column_index") == "u16";
    require_suitable(staged, segments, narrow_columns);
    require_values_in_range<Value>(matrix);

    auto layout = std::make_unique<SegmentedLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    layout->segment_columns = segments.boundaries;
    const std::vector<const Share*> shares = shares_of_segments(staged, segments);
    list_rows(*layout, shares);
    if (narrow_columns) {
        build_pieces<Value, std::uint16_t>(*layout, matrix, shares, parameters);
    } else {
        build_pieces<Value, Index>(*layout, matrix, shares, parameters);
    }
    return layout;
}

/// The segments tile the columns, the pieces the stored rows, and every row lists those of its stored rows that there are.
template <ValueType Value>
void require_sound_rows(const SegmentedLayout<Value>& layout) {
    const Index stored_rows = layout.stored_row_count();
    bool sound = tiles(layout.segment_columns, layout.column_count) && tiles(layout.piece_starts, stored_rows) &&
                 tiles(layout.row_starts, stored_rows);
    for (Index row = 0; sound && row < layout.row_count; ++row) {
        Index previous = -1;
        for (Index i = layout.row_starts[row]; i < layout.row_starts[row + 1]; ++i) {
            const Index stored = layout.row_places[i];
            sound = sound && stored > previous && stored < stored_rows && layout.stored_rows[stored] == row;
            previous = stored;
        }
    }
    if (!sound) throw std::logic_error("segmented: the pieces do not tile the columns and rows");
}

template <typename Value, typename ColumnIndex>
Offset places_of(const Slices<Value, ColumnIndex>& slices, Index piece) {
    return Offset{slices.group_slices[piece + 1] - slices.group_slices[piece]} * slices.slice_height;
}

template <typename Value, typename ColumnIndex>
Offset places_of(const Jagged<Value, ColumnIndex>& jagged, Index piece) {
    return jagged.group_size(piece);
}

// Numbers in SegmentedLayout::arrays().
enum ArrayNumber { columns_number = 5, values_number = 6 };

template <typename Value, typename ColumnIndex>
void add_structure(std::vector<LayoutArray>& arrays, const Slices<Value, ColumnIndex>& slices) {
    arrays.push_back(layout_array("group_slices", ArrayRole::structure, slices.group_slices));
    arrays.push_back(layout_array("slice_offsets", ArrayRole::structure, slices.slice_offsets));
}

template <typename Value, typename ColumnIndex>
void add_structure(std::vector<LayoutArray>& arrays, const Jagged<Value, ColumnIndex>& jagged) {
    arrays.push_back(layout_array("group_diagonals", ArrayRole::structure, jagged.group_diagonals));
    arrays.push_back(layout_array("diagonal_offsets", ArrayRole::structure, jagged.diagonal_offsets));
}

template <typename Value, typename ColumnIndex>
void walk(const SegmentedLayout<Value>& layout, const Slices<Value, ColumnIndex>& slices,
          const std::function<Index(Index, Offset)>& row, const std::function<void(const Slot&)>& visit) {
    if (slices.group_count() != layout.piece_count()) throw std::logic_error("segmented: a piece has no slices");
    for_each_slot(slices,
                  {.value_array = values_number,
                   .column_array = columns_number,
                   .group_alignment = rows_per_block,
                   .column_bounds = layout.segment_columns,
                   .row = row},
                  visit);
}

template <typename Value, typename ColumnIndex>
void walk(const SegmentedLayout<Value>& layout, const Jagged<Value, ColumnIndex>& jagged,
          const std::function<Index(Index, Offset)>& row, const std::function<void(const Slot&)>& visit) {
    if (jagged.group_count() != layout.piece_count()) throw std::logic_error("segmented: a piece has no diagonals");
    const auto columns = [&](Index piece) {
        return ColumnRange{layout.segment_columns[piece], layout.segment_columns[piece + 1]};
    };
    for_each_slot(jagged,
                  {.value_array = values_number,
                   .column_array = columns_number,
                   .group_alignment = rows_per_block,
                   .columns = columns,
                   .row = row},
                  visit);
}

std::vector<ParameterDeclaration> declarations() {
    return {
        {.name = "piece",
         .type = ParameterType::choice,
         .default_value = std::string("jds"),
         .words = {"jds", "sell"},
         .help = "how the nonzeros of a segment are stored: jagged diagonals, rows longest first, or sliced ELL"},
        {.name = "slice_height",
         .type = ParameterType::integer,
         .default_value = std::int64_t{32},
         .minimum = 1,
         .maximum = 65536,
         .unit = "rows",
         .help = "of sliced ELL: rows stored together (C); 32 is a warp"},
        {.name = "column_index",
         .type = ParameterType::choice,
         .default_value = std::string("u32"),
         .words = {"u32", "u16"},
         .help = "columns inside the segment: 32 bits, or 16 for up to 65536 columns a segment"},
    };
}

}  // namespace

template <ValueType Value>
std::vector<PieceBlock> SegmentedLayout<Value>::blocks() const {
    std::vector<PieceBlock> list;
    for (Index piece = 0; piece < piece_count(); ++piece) {
        const Offset places = std::visit([piece](const auto& stored) { return places_of(stored, piece); }, pieces);
        for (Offset first = 0; first < places; first += rows_per_block) list.push_back({piece, static_cast<Index>(first)});
    }
    return list;
}

template <ValueType Value>
std::int64_t SegmentedLayout<Value>::two_phase_bytes() const {
    const auto stored = static_cast<std::int64_t>(stored_rows.size());
    const std::int64_t unread = stored * static_cast<std::int64_t>(sizeof(Index));  // stored_rows
    return this->bytes_to_move() - unread + 2 * stored * static_cast<std::int64_t>(sizeof(Value));
}

template <ValueType Value>
std::int64_t SegmentedLayout<Value>::atomic_bytes() const {
    const auto unread = static_cast<std::int64_t>((row_starts.size() + row_places.size()) * sizeof(Index));
    return this->bytes_to_move() - unread + 2 * static_cast<std::int64_t>(sizeof(Value)) * row_count;
}

template <ValueType Value>
std::vector<LayoutArray> SegmentedLayout<Value>::arrays() const {
    std::vector<LayoutArray> all{layout_array("segment_columns", ArrayRole::structure, segment_columns),
                                 layout_array("piece_starts", ArrayRole::structure, piece_starts),
                                 layout_array("stored_rows", ArrayRole::structure, stored_rows),
                                 layout_array("row_starts", ArrayRole::structure, row_starts),
                                 layout_array("row_places", ArrayRole::structure, row_places)};
    std::visit(
        [&](const auto& stored) {
            all.push_back(layout_array("columns", ArrayRole::column, stored.columns));
            all.push_back(layout_array("values", ArrayRole::value, stored.values));
            add_structure(all, stored);
        },
        pieces);
    return all;
}

template <ValueType Value>
void SegmentedLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_rows(*this);
    const auto row = [this](Index piece, Offset place) {
        return place < piece_starts[piece + 1] - piece_starts[piece] ? stored_rows[piece_starts[piece] + place] : -1;
    };
    std::visit([&](const auto& stored) { walk(*this, stored, row, visit); }, pieces);
}

template struct SegmentedLayout<float>;
template struct SegmentedLayout<double>;

LayoutEntry segmented_entry() {
    LayoutEntry entry{
        .name = "segmented",
        .summary = "segments of columns, each stored on its own as jagged diagonals or sliced ELL, so that x stays in a cache",
        .source =
            "Nagasaka, 'Exploiting GPU Caches in Sparse Matrix Vector Multiplication': S-JDS, S-SELL-C-sigma, NUS-JDS and "
            "NUS-SELL-C-sigma",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = declarations(),
        .needs = [](const Parameters&) { return Needs{.cuts = {CutKind::segment}, .shares = {{ShareKind::segment}}}; },
        .build = {build<float>, build<double>},
        .kernels = segmented_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(segmented_cuda_kernels());
    return entry;
}

}  // namespace workbench
