#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/segmented/layout.hpp"

namespace workbench {
namespace {

constexpr int row_chunk = 1024;  // rows that a thread of the host takes at a time

constexpr std::string_view jagged_example = R"(
[[stage]]
use = "column_segmentation"
width = 3

[[stage]]
use = "row_sort"
within = "segment"

[layout]
use = "segmented"
)";

constexpr std::string_view sliced_example = R"(
[[stage]]
use = "column_segmentation"
width = 3

[[stage]]
use = "row_sort"
within = "segment"

[layout]
use = "segmented"
piece = "sell"
slice_height = 2
)";

constexpr std::string_view non_uniform_example = R"(
[[stage]]
use = "column_sort"

[[stage]]
use = "column_segmentation"
method = "non_uniform"
segment_count = 1
segment_size = 2

[[stage]]
use = "row_sort"
within = "segment"

[layout]
use = "segmented"
)";

/// The share of each segment; null if it has no nonzeros. [segments]
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
    if (narrow_columns) require_narrow(segments, "make the segments of column_segmentation narrower");
    std::size_t stored_rows = 0;
    for (const Share& share : staged.shares) stored_rows += share.rows.size();
    if (stored_rows > static_cast<std::size_t>(std::numeric_limits<Index>::max() - rows_per_block)) {
        throw Unsuitable(
            fmt::format("the segments store {} rows all together, but they are numbered with 31 bits: make the "
                        "segments of column_segmentation wider",
                        stored_rows));
    }
}

/// All shares as one; the groups of slices or diagonals separate them.
Share joined(const std::vector<const Share*>& shares) {
    HostArray<Offset> first_rows{0};
    HostArray<Offset> first_entries{0};
    for (const Share* share : shares) {
        first_rows.push_back(first_rows.back() + (share == nullptr ? 0 : std::ssize(share->rows)));
        first_entries.push_back(first_entries.back() + (share == nullptr ? 0 : std::ssize(share->entries)));
    }
    Share all{{}, {}, {}, {}};
    make_room(all.rows, first_rows.back());
    make_zeros(all.row_offsets, first_rows.back() + 1);
    make_room(all.entries, first_entries.back());
    for_each_in_parallel(std::ssize(shares), 1, [&](std::int64_t piece) {
        if (shares[piece] == nullptr) return;
        const Share& share = *shares[piece];
        const Offset first_row = first_rows[piece];
        const Offset first_entry = first_entries[piece];
        std::copy(share.rows.begin(), share.rows.end(), all.rows.begin() + first_row);
        std::copy(share.entries.begin(), share.entries.end(), all.entries.begin() + first_entry);
        std::transform(share.row_offsets.begin() + 1, share.row_offsets.end(), all.row_offsets.begin() + first_row + 1,
                       [first_entry](Offset offset) { return first_entry + offset; });
    });
    return all;
}

/// The rows of all pieces, and the places of each row of the matrix. stored_rows: those of all shares.
SegmentRows<HostArray> list_rows(const CsrMatrix& matrix, const Cuts& segments, const std::vector<const Share*>& shares,
                                 const HostArray<Index>& stored_rows) {
    SegmentRows<HostArray> all;
    all.row_count = matrix.rows;
    all.column_count = matrix.columns;
    make_copy(all.segment_columns, segments.boundaries);
    all.piece_starts = {0};
    for (const Share* share : shares) {
        all.piece_starts.push_back(all.piece_starts.back() + (share == nullptr ? 0 : static_cast<Index>(share->rows.size())));
    }
    make_copy(all.stored_rows, stored_rows);
    make_zeros(all.row_starts, static_cast<std::size_t>(matrix.rows) + 1);
    make_zeros(all.row_places, stored_rows.size());
    const auto next_in = [](Index& counter) { return std::atomic_ref<Index>(counter).fetch_add(1, std::memory_order_relaxed); };
    for_each_in_parallel(std::ssize(stored_rows), row_chunk,
                         [&](std::int64_t stored) { next_in(all.row_starts[stored_rows[stored] + 1]); });
    std::partial_sum(all.row_starts.begin(), all.row_starts.end(), all.row_starts.begin());
    HostArray<Index> next(all.row_starts.begin(), all.row_starts.end() - 1);
    for_each_in_parallel(std::ssize(stored_rows), row_chunk, [&](std::int64_t stored) {
        all.row_places[next_in(next[stored_rows[stored]])] = static_cast<Index>(stored);
    });
    // Threads add places in any order; ascending places are in the order of the segments.
    for_each_in_parallel(matrix.rows, row_chunk, [&](std::int64_t row) {
        std::sort(all.row_places.begin() + all.row_starts[row], all.row_places.begin() + all.row_starts[row + 1]);
    });
    return all;
}

template <ValueType Value, typename ColumnIndex>
void build_pieces(SegmentedLayout<Value>& layout, const Cuts& segments, const CsrMatrix& matrix,
                  const std::vector<const Share*>& shares, const Parameters& parameters) {
    const Share all = joined(shares);
    const ShareView view(all);
    SegmentRows<HostArray> rows = list_rows(matrix, segments, shares, all.rows);
    const auto store = [&]<typename Stored>(Stored&& stored) {
        static_cast<SegmentRows<HostArray>&>(stored) = std::move(rows);
        layout.stored = std::forward<Stored>(stored);
    };
    if (parameters.text("piece") == "sell") {
        const SlicePlan plan{.slice_height = static_cast<Index>(parameters.integer("slice_height")),
                             .group_places = {rows.piece_starts.begin(), rows.piece_starts.end()},
                             .column_bounds = {rows.segment_columns.begin(), rows.segment_columns.end()}};
        Segmented<SlicedPieces, Value, ColumnIndex, HostArray> stored;
        static_cast<Slices<Value, ColumnIndex, HostArray>&>(stored) = build_slices<Value, ColumnIndex>(matrix, view, plan);
        stored.group_slices = plan.group_slices();
        layout.origin = Origin(view, plan.lane_rows());
        store(std::move(stored));
        return;
    }
    for (const Share* share : shares) {
        if (share == nullptr) continue;
        require_descending(ShareView(*share), {.requirement = "jagged diagonals need rows in descending length",
                                               .stage = "row_sort with within = \"segment\"",
                                               .share_name = name_of(share->id)});
    }
    const JaggedPlan plan{rows.piece_starts, rows.segment_columns};
    Segmented<JaggedPieces, Value, ColumnIndex, HostArray> stored;
    static_cast<Jagged<Value, ColumnIndex, HostArray>&>(stored) = build_jagged<Value, ColumnIndex>(matrix, view, plan);
    stored.group_diagonals = plan.group_diagonals(view);
    layout.origin = Origin(view);
    store(std::move(stored));
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const Cuts& segments = *staged.find_cuts(CutKind::segment);
    const bool narrow_columns = parameters.text("column_index") == "u16";
    require_suitable(staged, segments, narrow_columns);
    require_values_in_range<Value>(matrix);

    auto layout = std::make_unique<SegmentedLayout<Value>>();
    layout->nonzero_count = matrix.nonzeros();
    const std::vector<const Share*> shares = shares_of_segments(staged, segments);
    const auto fill = narrow_columns ? build_pieces<Value, std::uint16_t> : build_pieces<Value, Index>;
    fill(*layout, segments, matrix, shares, parameters);
    return layout;
}

/// Throws std::logic_error unless the segments tile the columns, the pieces the stored rows, and every row lists its stored
/// rows.
void require_sound_rows(const SegmentRows<HostArray>& all) {
    const auto stored_rows = static_cast<Index>(all.stored_rows.size());
    bool sound = tiles(all.segment_columns, all.column_count) && tiles(all.piece_starts, stored_rows) &&
                 tiles(all.row_starts, stored_rows);
    for (Index row = 0; sound && row < all.row_count; ++row) {
        Index previous = -1;
        for (Index i = all.row_starts[row]; i < all.row_starts[row + 1]; ++i) {
            const Index stored = all.row_places[i];
            sound = sound && stored > previous && stored < stored_rows && all.stored_rows[stored] == row;
            previous = stored;
        }
    }
    if (!sound) throw std::logic_error("segmented: the pieces do not tile the columns and rows");
}

/// The storage as a schedule: one thread per lane of slices, or per stored row.
struct StoredPieces final : ScheduleBase<> {
    template <typename Pieces>
    static Offset threads(const Pieces& pieces) {
        if constexpr (InSlices<Pieces>) {
            return pieces.lane_count();
        } else {
            return pieces.piece_starts.back();
        }
    }
    template <typename Pieces>
    static auto run(const Pieces& pieces, Offset thread, const auto&) {
        const auto group_of = [](std::span<const Index> starts, Offset place) {
            return static_cast<Index>(std::upper_bound(starts.begin(), starts.end(), place) - starts.begin() - 1);
        };
        Index piece = 0;
        Offset place = thread;
        if constexpr (InSlices<Pieces>) {
            piece = group_of(pieces.group_slices, thread / pieces.slice_height);
            place -= Offset{pieces.group_slices[piece]} * pieces.slice_height;
        } else {
            piece = group_of(pieces.piece_starts, thread);
            place -= pieces.piece_starts[piece];
        }
        const Offset stored = pieces.piece_starts[piece] + place;
        const Index row = stored < pieces.piece_starts[piece + 1] ? pieces.stored_rows[stored] : -1;
        return run_at(pieces, slots_at<0>(pieces, piece, place, row));
    }
};

template <typename Views>
[[nodiscard]] auto in_blocks(const Views& views, const std::vector<PieceBlock>& blocks) {
    return PiecesInBlocks<Views>{views, {blocks.data(), static_cast<Offset>(blocks.size())}};
}

constexpr auto walk_pieces = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& stored) {
        const std::vector<PieceBlock> blocks = layout.blocks();
        const auto pieces = in_blocks(structure_of(stored), blocks);
        const WalkedSchedule schedule = with_piece_rows(pieces, [&]<typename Rows>(Rows) { return walked<Rows>(pieces); });
        for_each_read(schedule, array_number(stored, stored.values), [&](Read read) {
            read.row = stored.stored_rows[read.row];
            visit(read);
        });
    });
};

/// Multiplies stored rows in parallel, segment after segment, into partial sums, then adds these up for each row of y.
template <ValueType Value>
class SegmentedHostKernel final : public Kernel<Value> {
public:
    explicit SegmentedHostKernel(const SegmentedLayout<Value>& layout)
        : layout_(layout), blocks_(layout.blocks()), partial_sums_(layout.segments().stored_rows.size()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        with_stored(layout_, [&](const auto& stored) {
            const auto pieces = in_blocks(view_of(stored), blocks_);
            with_piece_rows(pieces, [&]<typename Rows>(Rows) {
                multiply_on_host<Rows, Value>(pieces, {x, partial_sums_.data(), false});
            });
        });
        const SegmentRows<HostArray>& rows = layout_.segments();
        for_each_in_parallel(rows.row_count, rows_per_block, [&](std::int64_t row) {
            Value sum = 0;
            for (Index i = rows.row_starts[row]; i < rows.row_starts[row + 1]; ++i) sum += partial_sums_[rows.row_places[i]];
            put(y, static_cast<Index>(row), sum, accumulate);
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.two_phase_bytes(); }

private:
    const SegmentedLayout<Value>& layout_;
    std::vector<PieceBlock> blocks_;
    HostArray<Value> partial_sums_;  // [stored rows]
};

std::vector<ParameterDeclaration> declarations() {
    return {
        choice_parameter("piece", by_default("jds"), {"jds", "sell"},
                         "how the nonzeros of a segment are stored: jagged diagonals, rows longest first, or sliced ELL"),
        integer_parameter("slice_height", by_default(32), between(1, 65536, "rows"),
                          "of sliced ELL: rows stored together (C); 32 is a warp"),
        choice_parameter("column_index", by_default("u32"), {"u32", "u16"},
                         "columns inside the segment: 32 bits, or 16 for up to 65536 columns a segment"),
    };
}

LayoutCost predict_segmented(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    constexpr double padding_of_slices = 1.05;
    const bool is_sliced = parameters.text("piece") == "sell";
    const std::int64_t column = parameters.is_word("column_index", "u16") ? short_bytes : index_bytes;
    const auto slots = static_cast<Offset>(static_cast<double>(pattern.nonzeros()) * (is_sliced ? padding_of_slices : 1));
    const std::int64_t bytes = slots * (column + value_bytes(precision)) + 3 * pattern.rows() * index_bytes;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, bytes, 0.85);
    cost.exact = false;  // depends on the rows that segments have in common
    cost.launches = 2;
    cost.chain = pattern.longest_row();
    return cost;
}

}  // namespace

template <ValueType Value>
std::vector<PieceBlock> SegmentedLayout<Value>::blocks() const {
    const HostArray<Index>& starts = segments().piece_starts;
    std::vector<PieceBlock> list;
    for (Index piece = 0; piece + 1 < static_cast<Index>(starts.size()); ++piece) {
        const Index places = starts[piece + 1] - starts[piece];
        for (Index first = 0; first < places; first += rows_per_block) list.push_back({piece, first});
    }
    return list;
}

template <ValueType Value>
std::int64_t SegmentedLayout<Value>::two_phase_bytes() const {
    const auto stored = static_cast<std::int64_t>(segments().stored_rows.size());
    const std::int64_t unread = stored * static_cast<std::int64_t>(sizeof(Index));  // stored_rows
    return this->bytes_to_move() - unread + 2 * stored * static_cast<std::int64_t>(sizeof(Value));
}

template <ValueType Value>
std::int64_t SegmentedLayout<Value>::atomic_bytes() const {
    const auto unread =
        static_cast<std::int64_t>((segments().row_starts.size() + segments().row_places.size()) * sizeof(Index));
    return this->bytes_to_move() - unread + 2 * static_cast<std::int64_t>(sizeof(Value)) * this->rows();
}

template <ValueType Value>
void SegmentedLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_rows(segments());
    with_stored(*this, [&]<typename Stored>(const Stored& one) {
        if constexpr (InSlices<Stored>) {
            require_sound_offsets(one);
            const SlicePlan plan{.slice_height = one.slice_height,
                                 .group_places = {one.piece_starts.begin(), one.piece_starts.end()}};
            if (one.group_slices != plan.group_slices()) throw std::logic_error("segmented: a piece lacks its slices");
            for_each_stored_slot<StoredPieces>(one, nonzeros_of(origin), visit);
        } else {
            require_sound_diagonals(one.diagonal_offsets, one.group_diagonals, one.piece_starts, one.values.size());
            for_each_stored_slot<StoredPieces>(one, nonzeros_of_jagged(origin), visit);
        }
    });
}

template struct SegmentedLayout<float>;
template struct SegmentedLayout<double>;

LayoutEntry segmented_entry() {
    return format<SegmentedLayout>(
               {.summary =
                    "segments of columns, each stored on its own as jagged diagonals or sliced ELL, so that x stays in a cache",
                .source =
                    "Nagasaka, 'Exploiting GPU Caches in Sparse Matrix Vector Multiplication': S-JDS, S-SELL-C-sigma, NUS-JDS "
                    "and NUS-SELL-C-sigma",
                .examples = {std::string(jagged_example), std::string(sliced_example), std::string(non_uniform_example)},
                .parameters = declarations(),
                .needs = [](const Parameters&) { return Needs{.cuts = {CutKind::segment}, .shares = {{ShareKind::segment}}}; },
                .build = {build<float>, build<double>},
                .predict = predict_segmented})
        .host<SegmentedHostKernel>(
            "two_phase", "the rows of all pieces in parallel, segment after segment; then the partial sums of each row of y")
        .cuda<SegmentedTwoPhase>(
            "two_phase",
            "one thread per stored row, segment after segment, writes its sum; then one thread per row of y adds up its sums",
            walk_pieces)
        .cuda<SegmentedAtomic>(
            "atomic", "y is set to zero; one thread per stored row, segment after segment, adds its sum to y atomically",
            walk_pieces);
}

}  // namespace workbench
