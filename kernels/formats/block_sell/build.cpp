#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "core/matrix/distinct_blocks.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/schemes/blocks.hpp"
#include "kernels/common/schemes/slices.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/block_sell/host_slices.hpp"
#include "kernels/formats/block_sell/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[layout]
use = "block_sell"
block_size = 2
threads_per_row = 4
)";

/// Throws Unsuitable if no kernel has blocks of the matrix's nodes.
Index block_size_of(const StagedMatrix& staged, const Parameters& parameters) {
    if (!parameters.is_word("block_size", "auto")) return static_cast<Index>(parameters.integer("block_size"));
    if (is_block_size(staged.node_size)) return staged.node_size;
    throw Unsuitable(fmt::format("nodes of {} unknowns, but there are blocks of 1, 2, 3, 4 or 6: set block_size to one of them",
                                 staged.node_size));
}

Index threads_of(const Parameters& parameters, Index size, Offset blocks, Index block_rows) {
    if (!parameters.is_word("threads_per_row", "auto")) return static_cast<Index>(parameters.integer("threads_per_row"));
    return block_sell_threads_for(size, blocks, block_rows);
}

/// The length of each row of blocks, 0 for lanes without a row: [slices * slice_height].
HostArray<Offset> blocks_of_lanes(const HostArray<Index>& block_offsets, Index slice_height) {
    const auto rows = static_cast<Offset>(block_offsets.size()) - 1;
    HostArray<Offset> lengths((rows + slice_height - 1) / slice_height * slice_height, 0);
    for (Offset row = 0; row < rows; ++row) lengths[row] = block_offsets[row + 1] - block_offsets[row];
    return lengths;
}

Index area_of(const auto& sell) { return sell.block_size * sell.block_size; }

template <ValueType Value>
HostArray<Offset> slice_offsets_of(const HostArray<Offset>& lengths, Index slice_height, Index block_size, Offset nonzeros) {
    HostArray<Offset> offsets{0};
    for (std::size_t first = 0; first < lengths.size(); first += slice_height) {
        const auto begin = lengths.begin() + static_cast<std::ptrdiff_t>(first);
        offsets.push_back(offsets.back() + *std::max_element(begin, begin + slice_height) * slice_height);
    }
    const double area = static_cast<double>(block_size) * block_size;
    require_bounded_slots(fmt::format("slices of {} rows of blocks of {} x {}", slice_height, block_size, block_size),
                          static_cast<double>(offsets.back()) * area, nonzeros, sizeof(Value) + sizeof(std::uint16_t),
                          {.advice = "rows sorted by length (row_sort) or smaller blocks (block_size) need less padding"});
    return offsets;
}

/// Fills the values of slices, of which the shape is there.
template <ValueType Value>
class ValueStore {
public:
    ValueStore(BlockSell<Value, HostArray>& sell, const CsrMatrix&) : values_(sell.values), area_(area_of(sell)) {
        make_zeros(values_, sell.slice_offsets.back() * area_);
    }
    /// The block of lane `lane` of a slice that begins at block `begin`, its k-th.
    void store(Offset begin, Offset k, Offset lane, Index height, const Value* block) {
        for (Index j = 0; j < area_; ++j) values_[begin * area_ + (k * area_ + j) * height + lane] = block[j];
    }

private:
    HostArray<Value>& values_;
    Index area_;
};

/// The same for codes.
template <ValueType Value>
class CodeStore {
public:
    CodeStore(BlockSell<CodedBlock<Value>, HostArray>& sell, const CsrMatrix& matrix)
        : values_(sell.values), set_(area_of(sell), most_coded_blocks + 1) {
        const auto blocks = distinct_blocks<Value>(matrix, sell.block_size, most_coded_blocks);
        if (!blocks) {
            throw Unsuitable(
                fmt::format("values = \"dictionary\" requires at most {} distinct blocks of {} x {}, and there are more",
                            most_coded_blocks, sell.block_size, sell.block_size));
        }
        const Index area = area_of(sell);
        (void)set_.insert(std::vector<Value>(area, Value{0}).data());
        for (std::size_t i = 0; i < blocks->size(); i += area) (void)set_.insert(blocks->data() + i);
        make_zeros(values_.codes, sell.slice_offsets.back());
        values_.dictionary.assign(set_.values().begin(), set_.values().end());
        values_.values_of_code = area;
    }
    void store(Offset begin, Offset k, Offset lane, Index height, const Value* block) {
        values_.codes[begin + k * height + lane] = static_cast<std::uint16_t>(set_.find(block));
    }

private:
    CodedBlocks<Value, HostArray>& values_;
    BlockSet<Value> set_;
};

/// Copies compressed rows of blocks to slices, whose padding repeats the last column of its row. Returns the columns, not yet
/// narrowed.
template <typename Store, ValueType Value>
HostArray<Index> copy_blocks(auto& sell, const Blocks<Value, HostArray>& blocks, const CsrMatrix& matrix) {
    const Index height = sell.slice_height;
    HostArray<Index> columns;
    make_zeros(columns, sell.slice_offsets.back());
    Store values(sell, matrix);
    for_each_in_parallel(blocks.block_rows(), slice_chunk, [&](std::int64_t row) {
        const Offset begin = sell.slice_offsets[row / height];
        const Offset lane = row % height;
        Offset k = 0;
        for (Offset block = blocks.block_offsets[row]; block < blocks.block_offsets[row + 1]; ++block, ++k) {
            columns[begin + k * height + lane] = blocks.block_columns[block];
            values.store(begin, k, lane, height, blocks.values.data() + block * area_of(sell));
        }
        if (k == 0) return;
        const Index last = columns[begin + (k - 1) * height + lane];
        for (Offset slot = begin + k * height + lane; slot < sell.slice_offsets[row / height + 1]; slot += height) {
            columns[slot] = last;
        }
    });
    return columns;
}

template <typename Store, ValueType Value, typename StoredValue>
void fill_sell(BlockSell<StoredValue, HostArray>& sell, const Blocks<Value, HostArray>& blocks, const CsrMatrix& matrix,
               const Parameters& parameters) {
    sell.row_count = matrix.rows;
    sell.column_count = matrix.columns;
    sell.block_size = blocks.block_size;
    sell.threads_per_row =
        sell.has_codes ? 1 : threads_of(parameters, blocks.block_size, blocks.block_offsets.back(), blocks.block_rows());
    sell.slice_height = 32 / sell.threads_per_row;
    const HostArray<Offset> lengths = blocks_of_lanes(blocks.block_offsets, sell.slice_height);
    sell.slice_offsets = slice_offsets_of<Value>(lengths, sell.slice_height, blocks.block_size, matrix.nonzeros());
    ShortColumns narrow = shorten_columns(copy_blocks<Store>(sell, blocks, matrix),
                                          {sell.slice_offsets, sell.slice_height, [&](Offset lane) { return lengths[lane]; }});
    sell.column_indices = std::move(narrow.column_indices);
    static_cast<SliceColumns<std::uint16_t, HostArray>&>(sell) = std::move(narrow.of_slices);
}

constexpr auto fill = []<ValueType Value>(BlockSellLayout<Value>& layout, const StagedMatrix& staged,
                                          const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const CsrOnHost<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    const Index size = block_size_of(staged, parameters);
    const bool has_codes = parameters.is_word("values", "dictionary");
    if (has_codes && size == 1) {
        throw Unsuitable("values = \"dictionary\" codes blocks, but these have one value; sell has a dictionary of values");
    }
    const SlotBound bound{parameters.real("slots_per_nonzero"),
                          "smaller blocks (block_size) have fewer, and slots_per_nonzero allows more"};
    const Blocks<Value, HostArray> blocks = build_blocks<Value>(view, size, bound);
    if (has_codes) {
        fill_sell<CodeStore<Value>>(layout.stored.template emplace<1>(), blocks, matrix, parameters);
    } else {
        fill_sell<ValueStore<Value>>(layout.stored.template emplace<0>(), blocks, matrix, parameters);
    }
    layout.pattern = Pattern(matrix);
};

/// values without "auto": codes if the blocks of the matrix's nodes are few.
Parameters settle(const Parameters& parameters, const ValueFacts& facts) {
    if (!parameters.is_word("values", "auto")) return parameters;
    const bool of_nodes = parameters.is_word("block_size", "auto") || parameters.integer("block_size") == facts.node_size;
    const bool one_thread = parameters.is_word("threads_per_row", "auto") || parameters.integer("threads_per_row") == 1;
    const bool is_few = of_nodes && one_thread && facts.distinct_blocks.has_value();
    return parameters.with("values", std::string(is_few ? "dictionary" : "full"));
}

Needs needs(const Parameters& parameters) {
    if (!parameters.is_word("block_size", "auto")) {
        const std::int64_t size = parameters.integer("block_size");
        if (!is_block_size(size)) {
            throw ParameterError("block_size", fmt::format("found {}; expected 1, 2, 3, 4 or 6", size));
        }
    }
    if (!parameters.is_word("threads_per_row", "auto") && parameters.integer("threads_per_row") == 3) {
        throw ParameterError("threads_per_row", "found 3; expected 1, 2 or 4");
    }
    if (parameters.is_word("values", "dictionary") && !parameters.is_word("threads_per_row", "auto") &&
        parameters.integer("threads_per_row") != 1) {
        throw ParameterError("threads_per_row",
                             fmt::format("found {}; with values = \"dictionary\" a row of blocks has one thread",
                                         parameters.integer("threads_per_row")));
    }
    return {.unsplit = true};
}

/// The offsets must tile the arrays.
void require_sound(const auto& sell) {
    const auto whole = [&](Offset offset) { return offset % sell.slice_height == 0; };
    const bool of_values = [&] {
        if constexpr (std::remove_cvref_t<decltype(sell)>::has_codes) {
            return sell.values.codes.size() == sell.column_indices.size() && sell.values.values_of_code == area_of(sell);
        } else {
            return sell.values.size() == sell.column_indices.size() * static_cast<std::size_t>(area_of(sell));
        }
    }();
    const bool sound = tiles(sell.slice_offsets, sell.column_indices.size()) && of_values &&
                       std::all_of(sell.slice_offsets.begin(), sell.slice_offsets.end(), whole);
    if (!sound) throw std::logic_error("block_sell: the offsets do not tile the arrays");
    require_sound_columns(sell, sell.slice_offsets);
}

/// The column whose x value number j of a block multiplies; -1: beyond the matrix.
Index column_in_block(const auto& sell, Offset first_column, int j) {
    const Offset column = first_column + j % sell.block_size;
    return column < sell.column_count ? static_cast<Index>(column) : -1;
}

constexpr auto walk_warps = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& sell) {
        using Threads = BlockSellThreads<0, 0>;
        const int area = area_of(sell);
        Slot slot{.array = array_number(sell, sell.values)};
        for (Offset thread = 0; thread < Threads::threads(sell); ++thread) {
            const BlockSellRun run = Threads::run(sell, thread);
            for (Index k = 0; k < run.count; ++k) {
                const Index first_column = Threads::column(sell, run, k, PlainLoad{});
                for (int j = 0; j < area; ++j) {
                    const Offset row = run.block_row * sell.block_size + j / sell.block_size;
                    slot.index = Threads::value(sell, run, k, j);
                    slot.row = row < sell.row_count ? static_cast<Index>(row) : -1;
                    slot.column = column_in_block(sell, first_column, j);
                    visit(read_of(slot, thread, Offset{k} * area + j));
                }
            }
        }
    });
};

LayoutCost predict_block_sell(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    constexpr double sectors_of_block = 0.7;  // a thread reads the x of all unknowns of a node at once
    const Index size =
        parameters.is_word("block_size", "auto") ? pattern.node_size() : static_cast<Index>(parameters.integer("block_size"));
    const std::vector<Offset>& lengths = pattern.blocks_of_rows(size);
    Offset sampled = 0;
    for (const Offset length : lengths) sampled += length;
    const Offset blocks = pattern.blocks(size, size);
    const bool has_codes = parameters.is_word("values", "dictionary");
    const Index threads =
        has_codes ? 1 : threads_of(parameters, size, blocks, static_cast<Index>(pieces_of(pattern.rows(), size)));
    const Index height = 32 / threads;
    const double padding = sampled == 0 ? 1 : static_cast<double>(sell_slots(lengths, height)) / static_cast<double>(sampled);
    const auto slots = static_cast<Offset>(static_cast<double>(blocks) * padding + 0.5);
    const Offset slices = pieces_of(pieces_of(pattern.rows(), size), height);
    const Offset area = Offset{size} * size;
    const std::int64_t bytes = slots * ((has_codes ? short_bytes : area * value_bytes(precision)) + short_bytes) +
                               (slices + 1) * offset_bytes + slices * index_bytes;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots * area, bytes, 1.12);
    cost.exact = !has_codes && pattern.is_exact() && pattern.columns() / size <= std::numeric_limits<std::uint16_t>::max();
    if (size > 1) cost.sectors *= sectors_of_block;
    for (const Offset length : lengths) cost.chain = std::max(cost.chain, length * size);
    LayoutCost of_blocks = cost;  // padding of slices is not limited
    of_blocks.slots = blocks * area;
    refuse_slots(of_blocks, parameters, pattern.nonzeros());
    cost.unsuitable = of_blocks.unsuitable;
    return cost;
}

}  // namespace

template <ValueType Value>
void BlockSellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&]<typename Sell>(const Sell& sell) {
        using Lanes = BlockSellThreads<0, 0>;
        require_sound(sell);
        PatternWalk walk(pattern);
        Slot slot{.array = array_number(sell, sell.values), .column_array = array_number(sell, sell.column_indices)};
        const auto visit_value = [&](Offset slice, const BlockSellRun& of_slice, Offset first, Index lane, int j) {
            slot.column_index = first + lane;
            Offset block_column = sell.column_indices[slot.column_index];
            if (of_slice.wide) block_column |= Offset{sell.high_columns[slot.column_index + of_slice.to_high]} << 16;
            block_column += of_slice.first_column;
            if (block_column * sell.block_size >= sell.column_count) {
                throw std::logic_error(fmt::format("block_sell: block {} begins outside the matrix", slot.column_index));
            }
            const Offset row = (slice * sell.slice_height + lane) * sell.block_size + j / sell.block_size;
            slot.row = row < sell.row_count ? static_cast<Index>(row) : -1;
            slot.column = column_in_block(sell, block_column * sell.block_size, j);
            slot.nonzero = walk.nonzero_at(slot.row, slot.column);
            visit(slot);
            ++slot.index;
        };
        for (Offset slice = 0; slice < sell.slice_count(); ++slice) {
            const BlockSellRun of_slice = Lanes::run(sell, slice * 32);
            for (Offset first = sell.slice_offsets[slice]; first < sell.slice_offsets[slice + 1]; first += sell.slice_height) {
                const int area = area_of(sell);
                for (int i = 0; i < area * sell.slice_height; ++i) {
                    if constexpr (Sell::has_codes) {
                        visit_value(slice, of_slice, first, i / area, i % area);
                    } else {
                        visit_value(slice, of_slice, first, i % sell.slice_height, i / sell.slice_height);
                    }
                }
            }
        }
    });
}

template <ValueType Value>
std::vector<std::pair<std::string, std::string>> BlockSellLayout<Value>::notes() const {
    return with_stored(*this, [](const auto& sell) {
        auto notes = notes_on_columns(sell);
        for (auto& note : notes_on_values(sell.values)) notes.push_back(std::move(note));
        return notes;
    });
}

template struct BlockSellLayout<float>;
template struct BlockSellLayout<double>;

LayoutEntry block_sell_entry() {
    return format<BlockSellLayout>(
               {.summary =
                    "sliced ELL over rows of square blocks, the unknowns of a mesh node, with one column of 16 bits per block",
                .source = "made here; blocks: Im and Yelick (2001), slices: Kreutzer et al. (2014)",
                .examples = {std::string(example)},
                .parameters =
                    {{.name = "block_size",
                      .type = ParameterType::integer,
                      .default_value = std::string("auto"),
                      .minimum = 1,
                      .maximum = largest_node,
                      .words = {"auto"},
                      .unit = "rows",
                      .help =
                          "rows and columns of a block, 1, 2, 3, 4 or 6; auto: the unknowns of a node, from [matrix] or stage "
                          "node_blocks"},
                     {.name = "threads_per_row",
                      .type = ParameterType::integer,
                      .default_value = std::string("auto"),
                      .minimum = 1,
                      .maximum = 4,
                      .words = {"auto"},
                      .unit = "threads",
                      .help = "threads of a GPU that share a row of blocks, 1, 2 or 4; a slice has the rows of a warp; auto: 1 "
                              "up to "
                              "8 blocks a row in the mean, 2 up to 20, otherwise 4; for blocks of one value, up to 20 and 48"},
                     slots_per_nonzero_parameter(4),
                     {.name = "values",
                      .type = ParameterType::choice,
                      .default_value = std::string("full"),
                      .words = {"full", "dictionary", "auto"},
                      .help = "how values are stored, always exactly: dictionary: a code of 16 bits for each block, and every "
                              "distinct block once; auto: so if the nodes of the matrix have at most 4095 distinct blocks, "
                              "otherwise "
                              "full"}},
                .needs = needs,
                .rows_of_share = RowsOfShare::all,
                .settle = settle,
                .predict = predict_block_sell,
                .on_device = [](const Parameters& parameters) -> std::optional<DeviceStorage> {
                    return BlockSlices{.block_size = parameters.number_unless_auto("block_size"),
                                       .threads_per_row = parameters.number_unless_auto("threads_per_row"),
                                       .slots_per_nonzero = parameters.real("slots_per_nonzero"),
                                       .values = values_on_device(parameters)};
                },
                .kernel_on_device = "warps"},
               fill)
        .host<BlockSellSlices>("slices", "slices in parallel, row of blocks by row of blocks")
        .vectors<BlockSellRow>()
        .cuda<BlockSellWarps>("warps", "one warp per slice, threads_per_row threads per block row", walk_warps);
}

}  // namespace workbench
