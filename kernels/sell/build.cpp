#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/sell/blocks.hpp"
#include "kernels/sell/layout.hpp"
#include "kernels/sell/storage_size.hpp"

namespace workbench {
namespace {

constexpr std::string_view drawing = R"(
with slice_height = 2; a dot is padding: value 0, column 0

slice_offsets   0 6 10 16

                slice 0           slice 1       slice 2
values          1 4 | 2 5 | 3 6   7 8 | . 9     10 13 | 11 . | 12 .
columns         0 1 | 1 2 | 2 4   2 3 | . 5     0 5 | 4 . | 5 .
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
    layout->split_steps = static_cast<Index>(parameters.integer("split_steps"));
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
std::vector<Offset> SellLayout<Value>::row_lengths() const {
    std::vector<Offset> lengths(this->row_count);
    for (Index row = 0; row < this->row_count; ++row) lengths[row] = origin.length(row);
    return lengths;
}

template <ValueType Value>
std::int64_t SellLayout<Value>::bytes_in_blocks(const SellBlocks& blocks) const {
    const std::int64_t units = static_cast<std::int64_t>(blocks.unit_steps.size());
    const auto steps = std::accumulate(blocks.unit_steps.begin(), blocks.unit_steps.end(), std::int64_t{0});
    const std::int64_t read = std::min<std::int64_t>(steps * sell_unit, static_cast<std::int64_t>(this->values.size()));
    const std::int64_t unread = static_cast<std::int64_t>(this->values.size()) - read;
    constexpr auto value = static_cast<std::int64_t>(sizeof(Value));
    return this->bytes_to_move() - unread * (value + static_cast<std::int64_t>(sizeof(Index))) +
           units * static_cast<std::int64_t>(sizeof(Index)) +
           static_cast<std::int64_t>(blocks.blocks.size() * sizeof(SellBlock)) + 2 * value * blocks.part_count() * sell_unit;
}

template struct SellLayout<float>;
template struct SellLayout<double>;

namespace {

template <ValueType Value>
void walk_slices(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    const auto& sell = dynamic_cast<const SellLayout<Value>&>(layout);
    if (sell.threads_per_row > 0) return walk_reads<Value, SellLayout<Value>, SellThreads>(layout, visit);
    const SellBlocks blocks = share_out(sell.row_lengths(), sell.split_steps, steps_of_sell_warp);
    const SellInBlocks<Sell<Value, ArrayView>> in_blocks{
        view_of(sell.stored()),
        {blocks.unit_steps.data(), static_cast<Offset>(blocks.unit_steps.size())},
        {blocks.blocks.data(), static_cast<Offset>(blocks.blocks.size())}};
    with_sell_block_rows<sell_entries_in_flight>(sell.slice_height, [&]<typename Rows>(Rows) {
        for_each_read<Rows>(in_blocks, array_number(sell.stored(), sell.values), visit);
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
        .drawing = std::string(drawn_matrix).append(drawing),
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
                            "with a slice_height of so many it reads neighbouring slots; auto: of one to eight warps, by the "
                            "longest row of each slice"},
                       {.name = "split_steps",
                        .type = ParameterType::integer,
                        .default_value = std::int64_t{512},
                        .minimum = 1,
                        .maximum = 1048576,
                        .unit = "nonzeros a row",
                        .help = "rows beyond that are shared by several blocks of a GPU, with threads_per_row = auto"}},
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
