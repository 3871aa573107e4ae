#include <array>
#include <numeric>
#include <span>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/dasp/layout.hpp"

namespace workbench {
namespace {

// Iterations that a thread of the host takes at a time.
constexpr int row_block_chunk = 64;
constexpr int row_chunk = 1024;

constexpr std::string_view usual_example = R"(
[layout]
use = "dasp"
)";

constexpr std::string_view all_classes_example = R"(
[layout]
use = "dasp"
short_row = 1
long_row = 2
)";

/// The rows of each class, in the order of the matrix.
struct RowClasses {
    HostArray<Index> long_rows;
    HostArray<Index> medium_rows;
    std::array<HostArray<Index>, dasp_width + 1> short_rows;  // by their number of nonzeros
};

RowClasses classify(const CsrMatrix& matrix, Index short_row, Index long_row) {
    RowClasses classes;
    for (Index row = 0; row < matrix.rows; ++row) {
        const Offset length = matrix.row_length(row);
        if (length == 0 || length <= short_row) {
            classes.short_rows[length].push_back(row);
        } else {
            (length > long_row ? classes.long_rows : classes.medium_rows).push_back(row);
        }
    }
    return classes;
}

/// A stable counting sort by descending length, which is at most `longest`.
void sort_descending(std::span<Index> rows, const CsrMatrix& matrix, Index longest) {
    HostArray<Index> starts(static_cast<std::size_t>(longest) + 2, 0);
    for (const Index row : rows) ++starts[longest - matrix.row_length(row) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    HostArray<Index> sorted(rows.size());
    for (const Index row : rows) sorted[starts[longest - matrix.row_length(row)]++] = row;
    std::copy(sorted.begin(), sorted.end(), rows.begin());
}

/// Writes entries of a row of the matrix into slots.
template <ValueType Value>
struct Slots {
    const CsrMatrix& matrix;
    HostArray<Index>& columns;
    HostArray<Value>& values;

    void reserve(Offset count) {
        make_zeros(columns, count);
        make_zeros(values, count);
    }
    /// Stores the k-th entry of a row; after the last one, padding with the last column, whose x is in a cache.
    void store(Offset slot, Index row, Offset k) const {
        const Offset length = matrix.row_length(row);
        const Offset nonzero = matrix.row_offsets[row] + std::min(k, length - 1);
        columns[slot] = matrix.column_indices[nonzero];
        if (k < length) values[slot] = static_cast<Value>(matrix.values[nonzero]);
    }
};

template <ValueType Value>
void store_long_rows(DaspLayout<Value>& dasp, const CsrMatrix& matrix, const HostArray<Index>& rows, Offset piece) {
    dasp.long_rows = rows;
    dasp.long_pieces = {0};
    dasp.piece_offsets = {0};
    for (std::size_t number = 0; number < rows.size(); ++number) {
        const Offset steps = (matrix.row_length(rows[number]) + dasp_long_step - 1) / dasp_long_step;
        const Offset end = dasp.piece_offsets.back() + steps * dasp_long_step;
        while (dasp.piece_offsets.back() < end) {
            dasp.piece_offsets.push_back(std::min(dasp.piece_offsets.back() + piece, end));
            dasp.piece_rows.push_back(static_cast<Index>(number));
        }
        dasp.long_pieces.push_back(static_cast<Index>(dasp.piece_rows.size()));
    }
    Slots<Value> slots{matrix, dasp.long_columns, dasp.long_values};
    slots.reserve(dasp.piece_offsets.back());
    for_each_in_parallel(dasp.pieces(), 1, [&](std::int64_t i) {
        const Index number = dasp.piece_rows[i];
        const Offset begin = dasp.piece_offsets[dasp.long_pieces[number]];
        for (Offset slot = dasp.piece_offsets[i]; slot < dasp.piece_offsets[i + 1]; ++slot) {
            slots.store(slot, rows[number], slot - begin);
        }
    });
}

/// The number of fragments of a row block that are filled enough. No fragment is fuller than the previous one.
Offset filled_fragments(std::span<const Index> rows, const CsrMatrix& matrix, double fill) {
    for (Offset k = 0;; ++k) {
        Offset filled = 0;
        for (const Index row : rows) {
            if (row < 0) continue;
            filled += std::clamp<Offset>(matrix.row_length(row) - k * dasp_width, 0, dasp_width);
        }
        if (filled == 0 || static_cast<double>(filled) < fill * dasp_lanes) return k;
    }
}

template <ValueType Value>
void store_medium_rows(DaspLayout<Value>& dasp, const CsrMatrix& matrix, HostArray<Index> rows, double fill) {
    const auto blocks = static_cast<Offset>((rows.size() + dasp_rows - 1) / dasp_rows);
    rows.resize(blocks * dasp_rows, -1);
    dasp.medium_rows = std::move(rows);
    const auto rows_of = [&](Offset block) {
        return std::span<const Index>(dasp.medium_rows).subspan(block * dasp_rows, dasp_rows);
    };
    dasp.block_fragments.assign(blocks + 1, 0);
    dasp.irregular_offsets.assign(blocks + 1, 0);
    dasp.irregular_ends.assign(dasp.medium_rows.size(), 0);
    for_each_in_parallel(blocks, row_block_chunk, [&](std::int64_t block) {
        const Offset fragments = filled_fragments(rows_of(block), matrix, fill);
        Offset end = 0;
        for (int i = 0; i < dasp_rows; ++i) {
            const Index row = rows_of(block)[i];
            if (row >= 0) end += std::max<Offset>(matrix.row_length(row) - fragments * dasp_width, 0);
            dasp.irregular_ends[block * dasp_rows + i] = static_cast<std::uint16_t>(end);
        }
        dasp.block_fragments[block + 1] = fragments;
        dasp.irregular_offsets[block + 1] = end;
    });
    std::partial_sum(dasp.block_fragments.begin(), dasp.block_fragments.end(), dasp.block_fragments.begin());
    std::partial_sum(dasp.irregular_offsets.begin(), dasp.irregular_offsets.end(), dasp.irregular_offsets.begin());

    Slots<Value> regular{matrix, dasp.regular_columns, dasp.regular_values};
    Slots<Value> irregular{matrix, dasp.irregular_columns, dasp.irregular_values};
    regular.reserve(dasp.block_fragments.back() * dasp_lanes);
    irregular.reserve(dasp.irregular_offsets.back());
    for_each_in_parallel(blocks, row_block_chunk, [&](std::int64_t block) {
        const Offset first = dasp.block_fragments[block];
        const Offset stored = (dasp.block_fragments[block + 1] - first) * dasp_width;  // of each row
        Offset next = dasp.irregular_offsets[block];
        for (int i = 0; i < dasp_rows; ++i) {
            const Index row = rows_of(block)[i];
            if (row < 0) continue;
            for (Offset k = 0; k < stored; ++k) {
                regular.store((first + k / dasp_width) * dasp_lanes + i * dasp_width + k % dasp_width, row, k);
            }
            for (Offset k = stored; k < matrix.row_length(row); ++k) irregular.store(next++, row, k);
        }
    });
}

/// rows: by their number of nonzeros, up to 4.
template <ValueType Value>
void store_short_rows(DaspLayout<Value>& dasp, const CsrMatrix& matrix,
                      const std::array<HostArray<Index>, dasp_width + 1>& rows) {
    const auto& [empty, ones, twos, threes, fours] = rows;
    const auto fragments_of = [](std::size_t quads) { return (quads + dasp_rows - 1) / dasp_rows; };
    const std::size_t of_three = fragments_of(threes.size());
    const std::size_t of_pairs = of_three + fragments_of((twos.size() + 1) / 2);
    const std::size_t paired_ones = std::min(ones.size(), threes.size());
    dasp.one_three_fragments = static_cast<Index>(of_three);
    dasp.pair_rows.assign(of_pairs * 2 * dasp_rows, -1);
    dasp.four_rows.assign(fragments_of(fours.size()) * dasp_rows, -1);
    Slots<Value> slots{matrix, dasp.short_columns, dasp.short_values};
    slots.reserve(static_cast<Offset>(of_pairs + fragments_of(fours.size())) * dasp_lanes);
    const auto store = [&](std::size_t quad, int first_lane, Index row) {
        for (Offset k = 0; k < matrix.row_length(row); ++k) {
            slots.store(static_cast<Offset>(quad) * dasp_width + first_lane + k, row, k);
        }
    };
    const auto store_in_pair = [&](std::size_t quad, bool second, int first_lane, Index row) {
        dasp.pair_rows[2 * quad + (second ? 1 : 0)] = row;
        store(quad, first_lane, row);
    };
    for (std::size_t i = 0; i < paired_ones; ++i) store_in_pair(i, false, 0, ones[i]);
    for (std::size_t i = 0; i < threes.size(); ++i) store_in_pair(i, true, 1, threes[i]);
    for (std::size_t i = 0; i < twos.size(); ++i) {
        const bool second = i % 2 == 1;
        store_in_pair(of_three * dasp_rows + i / 2, second, second ? 2 : 0, twos[i]);
    }
    for (std::size_t i = 0; i < fours.size(); ++i) {
        dasp.four_rows[i] = fours[i];
        store(of_pairs * dasp_rows + i, 0, fours[i]);
    }
    dasp.single_rows.assign(ones.begin() + static_cast<std::ptrdiff_t>(paired_ones), ones.end());
    Slots<Value> singles{matrix, dasp.single_columns, dasp.single_values};
    singles.reserve(static_cast<Offset>(dasp.single_rows.size()));
    for (std::size_t i = 0; i < dasp.single_rows.size(); ++i) singles.store(static_cast<Offset>(i), dasp.single_rows[i], 0);
    dasp.empty_rows = empty;
}

constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const auto long_row = static_cast<Index>(parameters.integer("long_row"));
    RowClasses classes = classify(matrix, static_cast<Index>(parameters.integer("short_row")), long_row);
    const auto medium = static_cast<std::int64_t>(classes.medium_rows.size());
    const std::int64_t window =
        parameters.is_word("window", "all") ? std::max<std::int64_t>(medium, 1) : parameters.integer("window");
    for_each_in_parallel((medium + window - 1) / window, 1, [&](std::int64_t i) {
        const std::int64_t first = i * window;
        sort_descending(std::span(classes.medium_rows).subspan(first, std::min(window, medium - first)), matrix, long_row);
    });
    layout.row_offsets = matrix.row_offsets;
    layout.many_row_blocks = parameters.integer("many_row_blocks");
    store_long_rows(layout, matrix, classes.long_rows, parameters.integer("piece_steps") * dasp_long_step);
    store_medium_rows(layout, matrix, std::move(classes.medium_rows), parameters.real("fill"));
    store_short_rows(layout, matrix, classes.short_rows);
};

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
        for_each_in_parallel(dasp_.row_blocks(), row_block_chunk, [&](std::int64_t block) {
            for (int i = 0; i < dasp_rows; ++i) multiply_medium_row(block, i, x, y, accumulate);
        });
        for_each_in_parallel(dasp_.short_fragments(), row_block_chunk, [&](std::int64_t fragment) {
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

Needs needs(const Parameters& parameters) {
    if (parameters.integer("short_row") > parameters.integer("long_row")) {
        throw ParameterError("short_row", "short_row is above long_row: some rows would be both");
    }
    return Needs{.unsplit = true};
}

std::vector<ParameterDeclaration> parameters() {
    return {
        integer_parameter("long_row", by_default(256), between(1, 4096, "nonzeros"),
                          "rows of more nonzeros are long: several warps may share one"),
        integer_parameter("short_row", by_default(4), between(0, dasp_width, "nonzeros"),
                          "rows of at most this many nonzeros are short: paired in quads of lanes"),
        real_parameter("fill", by_default(0.75), between(0, 1),
                       "medium rows: the share of its 32 places that a fragment must fill; other entries are irregular"),
        integer_parameter("piece_steps", by_default(8), between(1, 1 << 20, "steps"),
                          "long rows: steps of 64 slots that a warp takes of one row"),
        integer_parameter(
            "window", by_default("all"), at_least(64, "rows", {"all"}),
            "medium rows are sorted by length within windows of this size: small windows keep neighbours together"),
        {.name = "many_row_blocks",
         .default_value = std::string("auto"),
         .minimum = 0,
         .words = {"auto"},
         .unit = "row blocks",
         .help = "CUDA kernels: with fewer blocks of 8 medium rows, a warp takes two and loads three fragments of each ahead; "
                 "auto: 545 for each multiprocessor",
         .for_device = tuned::dasp_many_row_blocks}};
}

LayoutCost predict_dasp(const PatternForecast& pattern, const Parameters&, Precision precision) {
    constexpr double padding = 1.05;
    const auto slots = static_cast<Offset>(static_cast<double>(pattern.nonzeros()) * padding);
    const std::int64_t bytes = slots * (index_bytes + value_bytes(precision)) + 2 * pattern.rows() * index_bytes;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, bytes, 1);
    cost.exact = false;  // depends on how rows of similar lengths fill fragments
    return cost;
}

}  // namespace

LayoutEntry dasp_entry() {
    constexpr auto walk = [](const auto& layout, const auto& visit) {
        with_dasp_shape(layout, [&]<typename Shape>(Shape) { walk_dasp(layout, Shape::row_blocks, visit); });
    };
    return format<DaspLayout>(
               {.summary = "long, medium and short rows, each class stored in fragments of 8 x 4 for tensor cores (f64)",
                .source = "Lu and Liu, 'DASP: Specific Dense Matrix Multiply-Accumulate Units Accelerated General Sparse "
                          "Matrix-Vector "
                          "Multiplication' (SC 2023)",
                .examples = {std::string(usual_example), std::string(all_classes_example)},
                .parameters = parameters(),
                .needs = needs,
                .predict = predict_dasp},
               fill)
        .host<DaspClasses>(
            "classes",
            "long rows, row blocks, quads of short rows and the other rows, one class after another, each in parallel")
        .cuda<DaspTensor>(
            "tensor", "blocks by class of rows; in f64 fragments and irregular entries on tensor cores, in f32 as plain", walk)
        .cuda<DaspPlain>("plain", "the same with ordinary multiply-adds", walk);
}

}  // namespace workbench
