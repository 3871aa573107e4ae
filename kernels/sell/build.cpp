#include <fmt/format.h>

#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/sell/layout.hpp"
#include "kernels/sell/long_rows.hpp"
#include "kernels/sell/storage_size.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[layout]
use = "sell"
slice_height = 2
)";

/// auto: as many rows as a warp takes with the threads that each gets.
Index slice_height(const CsrMatrix& matrix, const Parameters& parameters) {
    if (!parameters.is_word("slice_height", "auto")) return static_cast<Index>(parameters.integer("slice_height"));
    const double mean = matrix.rows == 0 ? 0 : static_cast<double>(matrix.nonzeros()) / matrix.rows;
    return 32 / (parameters.is_word("threads_per_row", "auto") ? sell_threads_for(mean)
                                                               : static_cast<Index>(parameters.integer("threads_per_row")));
}

template <ValueType Value, typename ColumnIndex>
std::unique_ptr<Layout<Value>> build_of(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    const SlicePlan plan{.slice_height = slice_height(matrix, parameters),
                         .group_places = {0, matrix.rows},
                         .column_bounds = {0, matrix.columns}};
    auto layout = std::make_unique<SellLayout<Value, ColumnIndex>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    layout->threads_per_row =
        parameters.is_word("threads_per_row", "auto") ? 0 : static_cast<Index>(parameters.integer("threads_per_row"));
    layout->split_length = static_cast<Index>(parameters.integer("split_length"));
    auto slices = build_slices<Value, Index>(matrix, ShareView(matrix), plan, staged.preparer);
    layout->origin = Origin(ShareView(matrix));
    if constexpr (std::is_same_v<ColumnIndex, Index>) {
        static_cast<Slices<Value, Index, HostArray>&>(*layout) = std::move(slices);
    } else {
        ShortColumns narrow = shorten_columns(
            slices.column_indices, slices.slice_offsets, slices.slice_height,
            [&](Offset lane) { return lane < matrix.rows ? layout->origin.length(static_cast<Index>(lane)) : 0; });
        layout->slice_height = slices.slice_height;
        layout->slice_offsets = std::move(slices.slice_offsets);
        layout->values = std::move(slices.values);
        layout->column_indices = std::move(narrow.column_indices);
        static_cast<SliceColumns<std::uint16_t, HostArray>&>(*layout) = std::move(narrow.of_slices);
    }
    return layout;
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    return parameters.is_word("column_index", "u16") ? build_of<Value, std::uint16_t>(staged, parameters)
                                                     : build_of<Value, Index>(staged, parameters);
}

Needs needs(const Parameters& parameters) {
    const std::int64_t threads = parameters.is_word("threads_per_row", "auto") ? 1 : parameters.integer("threads_per_row");
    if ((threads & (threads - 1)) != 0) {
        throw ParameterError("threads_per_row", fmt::format("found {}; expected a power of two", threads));
    }
    return {.unsplit = true};
}

}  // namespace

template <ValueType Value, typename ColumnIndex>
void SellLayout<Value, ColumnIndex>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_offsets(*this);
    if constexpr (HasShortColumns<SellLayout>) require_sound_columns(*this, this->slice_offsets);
    const auto& stored = this->stored();
    const WalkedArrays where{array_number(stored, stored.values), array_number(stored, stored.column_indices)};
    constexpr ColumnKind kind = HasShortColumns<SellLayout> ? ColumnKind::of_wide_slices : ColumnKind::as_stored;
    for_each_stored_slot<SellRows<1, 0, kind>>(
        stored, where, [&](Offset lane, Offset k) { return origin.nonzero(lane, k); }, visit);
}

template <ValueType Value, typename ColumnIndex>
std::vector<std::pair<std::string, std::string>> SellLayout<Value, ColumnIndex>::notes() const {
    if constexpr (HasShortColumns<SellLayout>) return notes_on_columns(*this);
    return {};
}

template <ValueType Value, typename ColumnIndex>
HostArray<Index> SellLayout<Value, ColumnIndex>::row_lengths() const {
    HostArray<Index> lengths(this->row_count);
    for (Index row = 0; row < this->row_count; ++row) lengths[row] = static_cast<Index>(origin.length(row));
    return lengths;
}

template <ValueType Value, typename ColumnIndex>
bool SellLayout<Value, ColumnIndex>::by_lengths() const {
    if (this->threads_per_row > 0) return false;
    const bool fills_warp = this->slice_height == 32 || this->slice_height * sell_threads(*this) == 32;
    if (!fills_warp || static_cast<Offset>(this->values.size()) > 2 * this->nonzero_count) return true;
    for (Index row = 0; row < this->row_count; ++row) {
        if (origin.length(row) > this->split_length) return true;
    }
    return false;
}

namespace {

/// The bytes that padding takes among the upper halves of columns.
std::int64_t padding_of_high_columns(const auto& sell) {
    if constexpr (HasShortColumns<std::remove_cvref_t<decltype(sell)>>) {
        auto padding = static_cast<Offset>(sell.high_columns.size());
        for (Index row = 0; row < sell.row_count; ++row) {
            if (sell.first_columns[row / sell.slice_height] < 0) padding -= sell.origin.length(row);
        }
        return padding * static_cast<std::int64_t>(sizeof(std::uint16_t));
    } else {
        return 0;
    }
}

}  // namespace

template <ValueType Value, typename ColumnIndex>
std::int64_t SellLayout<Value, ColumnIndex>::bytes_by_rows(const SellLongRows& long_rows) const {
    constexpr auto value = static_cast<std::int64_t>(sizeof(Value));
    const std::int64_t padding = static_cast<std::int64_t>(this->values.size()) - this->nonzero_count;
    return this->bytes_to_move() - padding_of_high_columns(*this) -
           padding * (value + static_cast<std::int64_t>(sizeof(ColumnIndex))) +
           this->row_count * static_cast<std::int64_t>(sizeof(Index)) +
           static_cast<std::int64_t>(long_rows.parts.size() * sizeof(SellPart)) + 2 * value * long_rows.sum_count();
}

template struct SellLayout<float>;
template struct SellLayout<double>;
template struct SellLayout<float, std::uint16_t>;
template struct SellLayout<double, std::uint16_t>;

namespace {

template <ValueType Value>
void walk_slices(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    with_sell(layout, [&]<typename Own>(const Own& sell) {
        if (!sell.by_lengths()) return walk_reads<Value, Own, SellThreads>(layout, visit);
        const HostArray<Index> lengths = sell.row_lengths();
        const SellLongRows long_rows = find_long_rows(lengths, sell.split_length);
        const SellWithLengths<typename Own::Stored::template In<ArrayView>> with_lengths{
            view_of(sell.stored()),
            {lengths.data(), static_cast<Offset>(lengths.size())},
            {long_rows.parts.data(), static_cast<Offset>(long_rows.parts.size())}};
        with_sell_whole_rows(with_lengths, [&]<typename Rows>(Rows) {
            for_each_read<Rows>(with_lengths, array_number(sell.stored(), sell.values), visit);
        });
    });
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_on_host(const Layout<Value>& layout, Device& device) {
    return with_sell(layout, [&]<typename Own>(const Own&) { return prepare_host_rows<SellRow, Value, Own>(layout, device); });
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_rows_on_host(const Layout<Value>& layout, std::span<const Index> rows, Device& device) {
    return with_sell(layout,
                     [&]<typename Own>(const Own&) { return prepare_host_share<SellRow, Value, Own>(layout, rows, device); });
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> empty(const Parameters& parameters) {
    if (parameters.is_word("column_index", "u16")) return std::make_unique<SellLayout<Value, std::uint16_t>>();
    return std::make_unique<SellLayout<Value>>();
}

template <ValueType Value>
FieldLists fields() {
    FieldLists lists = field_lists<SellLayout<Value>>();
    for (auto& list : field_lists<SellLayout<Value, std::uint16_t>>()) lists.push_back(std::move(list));
    return lists;
}

}  // namespace

LayoutEntry sell_entry() {
    LayoutEntry entry{
        .name = "sell",
        .summary = "sliced ELL: slices of equal height, each padded to its longest row and stored column by column",
        .source =
            "Monakov, Lokhmotov and Avetisyan, 'Automatically tuning sparse matrix-vector multiplication for GPU "
            "architectures' (2010)",
        .examples = {std::string(example)},
        .parameters = {{.name = "slice_height",
                        .type = ParameterType::integer,
                        .default_value = std::int64_t{32},
                        .minimum = 1,
                        .maximum = 65536,
                        .words = {"auto"},
                        .unit = "rows",
                        .help = "rows stored together (the C of SELL-C-sigma); 32 is a warp; auto: the rows of a warp, fewer "
                                "where several threads share a row, as they do in rows of more than 20 nonzeros in the mean"},
                       {.name = "threads_per_row",
                        .type = ParameterType::integer,
                        .default_value = std::string("auto"),
                        .minimum = 1,
                        .maximum = 32,
                        .words = {"auto"},
                        .unit = "threads",
                        .help =
                            "threads of a GPU that share a row, a power of two: 32 / threads_per_row rows are a warp's, and "
                            "with a slice_height of so many it reads neighbouring slots; auto: as slice_height gives, two in "
                            "slices of 32 long rows, else one; and blocks of threads where rows are longer than split_length"},
                       {.name = "split_length",
                        .type = ParameterType::integer,
                        .default_value = std::int64_t{512},
                        .minimum = 1,
                        .maximum = 1048576,
                        .unit = "nonzeros",
                        .help = "rows of more nonzeros are split among the threads of a block, or of several, of a GPU, with "
                                "threads_per_row = auto"},
                       {.name = "column_index",
                        .type = ParameterType::choice,
                        .default_value = std::string("u32"),
                        .words = {"u32", "u16"},
                        .help = "u16: columns of 16 bits, counted from the first column of their slice; a slice that reaches "
                                "over more than 65536 keeps 32 bits"}},
        .needs = needs,
        .build = {build<float>, build<double>},
        .empty = {empty<float>, empty<double>},
        .fields = {fields<float>, fields<double>},
        .schedules = {{"slices", {walk_slices<float>, walk_slices<double>}}},
        .storage_sizes = sell_storage_sizes,
        .kernels = {{"slices",
                     Backend::kokkos,
                     "slices in parallel, the rows of a slice side by side",
                     {prepare_on_host<float>, prepare_on_host<double>},
                     {prepare_rows_on_host<float>, prepare_rows_on_host<double>}}},
    };
    if constexpr (WORKBENCH_HAS_CUDA) {
        entry.add(sell_cuda_kernels());
        entry.add(sell_cusparse_kernels());
    }
    return entry;
}

}  // namespace workbench
