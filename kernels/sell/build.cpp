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

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    const SlicePlan plan{.slice_height = static_cast<Index>(parameters.integer("slice_height")),
                         .group_places = {0, matrix.rows},
                         .column_bounds = {0, matrix.columns}};
    auto layout = std::make_unique<SellLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    layout->threads_per_row =
        parameters.is_word("threads_per_row", "auto") ? 0 : static_cast<Index>(parameters.integer("threads_per_row"));
    layout->split_length = static_cast<Index>(parameters.integer("split_length"));
    static_cast<Slices<Value, Index, HostArray>&>(*layout) = build_slices<Value, Index>(matrix, ShareView(matrix), plan);
    layout->origin = Origin(ShareView(matrix));
    return layout;
}

Needs needs(const Parameters& parameters) {
    const std::int64_t threads = parameters.is_word("threads_per_row", "auto") ? 1 : parameters.integer("threads_per_row");
    if ((threads & (threads - 1)) != 0) {
        throw ParameterError("threads_per_row", fmt::format("found {}; expected a power of two", threads));
    }
    return {.unsplit = true};
}

}  // namespace

template <ValueType Value>
void SellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_offsets(*this);
    for_each_stored_slot<SellRows<1, 0>>(this->stored(), origin, visit);
}

template <ValueType Value>
std::vector<Index> SellLayout<Value>::row_lengths() const {
    std::vector<Index> lengths(this->row_count);
    for (Index row = 0; row < this->row_count; ++row) lengths[row] = static_cast<Index>(origin.length(row));
    return lengths;
}

template <ValueType Value>
bool SellLayout<Value>::by_lengths() const {
    if (this->threads_per_row > 0) return false;
    if (this->slice_height != 32 || static_cast<Offset>(this->values.size()) > 2 * this->nonzero_count) return true;
    for (Index row = 0; row < this->row_count; ++row) {
        if (origin.length(row) > this->split_length) return true;
    }
    return false;
}

template <ValueType Value>
std::int64_t SellLayout<Value>::bytes_by_rows(const SellLongRows& long_rows) const {
    constexpr auto value = static_cast<std::int64_t>(sizeof(Value));
    constexpr auto index = static_cast<std::int64_t>(sizeof(Index));
    const std::int64_t padding = static_cast<std::int64_t>(this->values.size()) - this->nonzero_count;
    return this->bytes_to_move() - padding * (value + index) + this->row_count * index +
           static_cast<std::int64_t>(long_rows.parts.size() * sizeof(SellPart)) + 2 * value * long_rows.sum_count();
}

template struct SellLayout<float>;
template struct SellLayout<double>;

namespace {

template <ValueType Value>
void walk_slices(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    const auto& sell = dynamic_cast<const SellLayout<Value>&>(layout);
    if (!sell.by_lengths()) return walk_reads<Value, SellLayout<Value>, SellThreads>(layout, visit);
    const std::vector<Index> lengths = sell.row_lengths();
    const SellLongRows long_rows = find_long_rows(lengths, sell.split_length);
    const SellWithLengths<Sell<Value, ArrayView>> with_lengths{
        view_of(sell.stored()),
        {lengths.data(), static_cast<Offset>(lengths.size())},
        {long_rows.parts.data(), static_cast<Offset>(long_rows.parts.size())}};
    with_sell_whole_rows(sell.slice_height, [&]<typename Rows>(Rows) {
        for_each_read<Rows>(with_lengths, array_number(sell.stored(), sell.values), visit);
    });
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
                        .unit = "rows",
                        .help = "rows stored together (the C of SELL-C-sigma); 32 is a warp"},
                       {.name = "threads_per_row",
                        .type = ParameterType::integer,
                        .default_value = std::string("auto"),
                        .minimum = 1,
                        .maximum = 32,
                        .words = {"auto"},
                        .unit = "threads",
                        .help =
                            "threads of a GPU that share a row, a power of two: 32 / threads_per_row rows are a warp's, and "
                            "with a slice_height of so many it reads neighbouring slots; auto: one, and "
                            "blocks of threads where rows are longer than split_length"},
                       {.name = "split_length",
                        .type = ParameterType::integer,
                        .default_value = std::int64_t{512},
                        .minimum = 1,
                        .maximum = 1048576,
                        .unit = "nonzeros",
                        .help = "rows of more nonzeros are split among the threads of a block, or of several, of a GPU, with "
                                "threads_per_row = auto"}},
        .needs = needs,
        .build = {build<float>, build<double>},
        .fields = field_lists_of<SellLayout>(),
        .schedules = {{"slices", {walk_slices<float>, walk_slices<double>}}},
        .storage_sizes = sell_storage_sizes,
        .kernels = {host_rows<SellLayout, SellRow>("slices", "slices in parallel, the rows of a slice side by side")},
    };
    if constexpr (WORKBENCH_HAS_CUDA) {
        entry.add(sell_cuda_kernels());
        entry.add(sell_cusparse_kernels());
    }
    return entry;
}

}  // namespace workbench
