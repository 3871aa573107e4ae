#include <fmt/format.h>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/sell/layout.hpp"
#include "kernels/sell/long_rows.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[layout]
use = "sell"
slice_height = 2
)";

/// auto: the rows of a warp with this number of threads per row.
Index slice_height(Index rows, Offset nonzeros, const Parameters& parameters) {
    if (!parameters.is_word("slice_height", "auto")) return static_cast<Index>(parameters.integer("slice_height"));
    const double mean = rows == 0 ? 0 : static_cast<double>(nonzeros) / rows;
    return 32 / (parameters.is_word("threads_per_row", "auto") ? sell_threads_for(mean)
                                                               : static_cast<Index>(parameters.integer("threads_per_row")));
}

template <ValueType Value>
Sell<Value, std::uint16_t, HostArray> with_short_columns(Slices<Value, Index, HostArray>&& slices, const Origin& origin) {
    ShortColumns narrow = shorten_columns(slices.column_indices, slices.slice_offsets, slices.slice_height, [&](Offset lane) {
        return lane < origin.row_count() ? origin.length(static_cast<Index>(lane)) : 0;
    });
    Sell<Value, std::uint16_t, HostArray> sell;
    sell.slice_height = slices.slice_height;
    sell.slice_offsets = std::move(slices.slice_offsets);
    sell.values = std::move(slices.values);
    sell.column_indices = std::move(narrow.column_indices);
    static_cast<SliceColumns<std::uint16_t, HostArray>&>(sell) = std::move(narrow.of_slices);
    return sell;
}

constexpr auto fill = []<ValueType Value>(SellLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    layout.origin = Origin(ShareView(matrix));
    const SlicePlan plan{.slice_height = slice_height(matrix.rows, matrix.nonzeros(), parameters),
                         .group_places = {0, matrix.rows},
                         .column_bounds = {0, matrix.columns}};
    auto slices = build_slices<Value, Index>(matrix, ShareView(matrix), plan, staged.preparer);
    if (parameters.is_word("column_index", "u16")) {
        layout.stored = with_short_columns(std::move(slices), layout.origin);
    } else {
        static_cast<Slices<Value, Index, HostArray>&>(std::get<0>(layout.stored)) = std::move(slices);
    }
    std::visit(
        [&](auto& sell) {
            sell.row_count = matrix.rows;
            sell.column_count = matrix.columns;
            const bool automatic = parameters.is_word("threads_per_row", "auto");
            sell.threads_per_row = automatic ? 0 : static_cast<Index>(parameters.integer("threads_per_row"));
            sell.split_length = static_cast<Index>(parameters.integer("split_length"));
        },
        layout.stored);
};

Needs needs(const Parameters& parameters) {
    const std::int64_t threads = parameters.is_word("threads_per_row", "auto") ? 1 : parameters.integer("threads_per_row");
    if ((threads & (threads - 1)) != 0) {
        throw ParameterError("threads_per_row", fmt::format("found {}; expected a power of two", threads));
    }
    return {.unsplit = true};
}

constexpr auto walk_slices = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& sell) {
        if (!layout.by_lengths()) return walk_in_turn<SellThreads>(sell, visit);
        const HostArray<Index> lengths = layout.row_lengths();
        const SellLongRows long_rows = find_long_rows(lengths, sell.split_length);
        const SellWithLengths<decltype(view_of(sell))> with_lengths{
            view_of(sell),
            {lengths.data(), static_cast<Offset>(lengths.size())},
            {long_rows.parts.data(), static_cast<Offset>(long_rows.parts.size())}};
        with_sell_whole_rows(with_lengths, [&]<typename Rows>(Rows) {
            for_each_read<Rows>(with_lengths, array_number(sell, sell.values), visit);
        });
    });
};

template <typename Sell>
constexpr ColumnKind stored_columns = HasShortColumns<Sell> ? ColumnKind::of_wide_slices : ColumnKind::as_stored;

/// The bytes of padding among the upper halves of columns.
std::int64_t padding_of_high_columns(const auto& sell, const Origin& origin) {
    if constexpr (HasShortColumns<std::remove_cvref_t<decltype(sell)>>) {
        auto padding = static_cast<Offset>(sell.high_columns.size());
        for (Index row = 0; row < sell.row_count; ++row) {
            if (sell.first_columns[row / sell.slice_height] < 0) padding -= origin.length(row);
        }
        return padding * static_cast<std::int64_t>(sizeof(std::uint16_t));
    } else {
        return 0;
    }
}

LayoutCost predict_sell(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Index height = slice_height(pattern.rows(), pattern.nonzeros(), parameters);
    const bool is_short = parameters.is_word("column_index", "u16");
    const std::int64_t slot_bytes = (is_short ? short_bytes : index_bytes) + value_bytes(precision);
    auto [slots, bytes] = forecast_slices(pattern, height, slot_bytes);
    if (is_short) {
        const double wide = pattern.wide_groups(height);
        const Offset slices = pieces_of(pattern.rows(), height);
        bytes += slices * index_bytes + static_cast<std::int64_t>(wide * static_cast<double>(slices * offset_bytes)) +
                 static_cast<std::int64_t>(wide * static_cast<double>(slots * short_bytes));
    }
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, bytes, 1.18);
    cost.exact = cost.exact && (!is_short || pattern.is_exact());
    const Offset split = parameters.integer("split_length");
    const bool reads_padding =
        !parameters.is_word("threads_per_row", "auto") || (slots <= 2 * pattern.nonzeros() && pattern.longest_row() <= split);
    if (!reads_padding) {
        cost.unread_bytes = (slots - pattern.nonzeros()) * slot_bytes - pattern.rows() * index_bytes;
        cost.sectors += sectors_of_idle_lanes(pattern);
    }
    cost.chain = reads_padding ? pattern.longest_row() : std::min(pattern.longest_row(), split);
    const double mean = pattern.mean_length();
    const Index threads =
        parameters.is_word("threads_per_row", "auto") ? 1 : static_cast<Index>(parameters.integer("threads_per_row"));
    // Several threads of a row add their sums, which takes as long as 1.2 slots of each (docs/results/search-h100.md).
    constexpr double slots_of_sum = 1.2;
    if (threads > 1 && mean > 0) cost.bandwidth /= 1 + slots_of_sum * threads / mean;
    return cost;
}

}  // namespace

template <ValueType Value>
void SellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&]<typename Sell>(const Sell& sell) {
        require_sound_offsets(sell);
        if constexpr (HasShortColumns<Sell>) require_sound_columns(sell, sell.slice_offsets);
        const WalkedArrays where{array_number(sell, sell.values), array_number(sell, sell.column_indices)};
        const auto nonzero = [&](Offset lane, Offset k) { return origin.nonzero(lane, k); };
        for_each_stored_slot<SellRows<1, 0, stored_columns<Sell>>>(sell, where, nonzero, visit);
    });
}

template <ValueType Value>
std::vector<std::pair<std::string, std::string>> SellLayout<Value>::notes() const {
    const auto* const narrow = std::get_if<1>(&this->stored);
    if (narrow == nullptr) return {};
    return notes_on_columns(*narrow);
}

template <ValueType Value>
HostArray<Index> SellLayout<Value>::row_lengths() const {
    HostArray<Index> lengths(this->rows());
    for (Index row = 0; row < this->rows(); ++row) lengths[row] = static_cast<Index>(origin.length(row));
    return lengths;
}

template <ValueType Value>
bool SellLayout<Value>::by_lengths() const {
    return with_stored(*this, [&](const auto& sell) {
        if (sell.threads_per_row > 0) return false;
        const bool fills_warp = sell.slice_height == 32 || sell.slice_height * sell_threads(sell) == 32;
        if (!fills_warp || static_cast<Offset>(sell.values.size()) > 2 * this->nonzero_count) return true;
        for (Index row = 0; row < sell.row_count; ++row) {
            if (origin.length(row) > sell.split_length) return true;
        }
        return false;
    });
}

template <ValueType Value>
std::int64_t SellLayout<Value>::bytes_by_rows(const SellLongRows& long_rows) const {
    return with_stored(*this, [&](const auto& sell) {
        constexpr auto value = static_cast<std::int64_t>(sizeof(Value));
        constexpr auto column = static_cast<std::int64_t>(sizeof(sell.column_indices[0]));
        const std::int64_t padding = static_cast<std::int64_t>(sell.values.size()) - this->nonzero_count;
        return this->bytes_to_move() - padding_of_high_columns(sell, origin) - padding * (value + column) +
               sell.row_count * static_cast<std::int64_t>(sizeof(Index)) +
               static_cast<std::int64_t>(long_rows.parts.size() * sizeof(SellPart)) + 2 * value * long_rows.sum_count();
    });
}

template struct SellLayout<float>;
template struct SellLayout<double>;

LayoutEntry sell_entry() {
    return format<SellLayout>(
               {.summary = "sliced ELL: slices of equal height, each padded to its longest row and stored column by column",
                .source = "Monakov, Lokhmotov and Avetisyan, 'Automatically tuning sparse matrix-vector multiplication for GPU "
                          "architectures' (2010)",
                .examples = {std::string(example)},
                .parameters =
                    {{.name = "slice_height",
                      .type = ParameterType::integer,
                      .default_value = std::int64_t{32},
                      .minimum = 1,
                      .maximum = 65536,
                      .words = {"auto"},
                      .unit = "rows",
                      .help = "rows stored together (the C of SELL-C-sigma); 32 is a warp; auto: the rows of a warp, which are "
                              "fewer if "
                              "several threads share a row (more than 20 nonzeros per row on average)"},
                     {.name = "threads_per_row",
                      .type = ParameterType::integer,
                      .default_value = std::string("auto"),
                      .minimum = 1,
                      .maximum = 32,
                      .words = {"auto"},
                      .unit = "threads",
                      .help = "threads of a GPU that share a row, a power of two: a warp has 32 / threads_per_row rows, and "
                              "reads neighbouring "
                              "slots if slice_height is that number; auto: chosen by slice_height, two in slices of 32 long "
                              "rows, otherwise one, and "
                              "blocks of threads for rows longer than split_length"},
                     {.name = "split_length",
                      .type = ParameterType::integer,
                      .default_value = std::int64_t{tuned::sell_split_length},
                      .minimum = 1,
                      .maximum = 1048576,
                      .unit = "nonzeros",
                      .help = "with threads_per_row = auto, rows of more nonzeros are split among the threads of one or "
                              "several blocks of a GPU"},
                     {.name = "column_index",
                      .type = ParameterType::choice,
                      .default_value = std::string("u32"),
                      .words = {"u32", "u16"},
                      .help = "u16: columns of 16 bits, counted from the first column of their slice; a slice that reaches "
                              "over more than 65536 keeps 32 bits"}},
                .needs = needs,
                .storage_sizes = sell_storage_sizes,
                .predict = predict_sell},
               fill)
        .host<SellRow>("slices", "slices in parallel, the rows of a slice side by side")
        .cuda<SellSlices>("slices", "one or several threads per row; blocks of threads for rows longer than split_length",
                          walk_slices)
        .with_cuda<sell_cusparse_kernels>();
}

}  // namespace workbench
