#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "core/matrix/distinct_blocks.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/schemes/blocks.hpp"
#include "kernels/common/schemes/slices.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/blocks/host.hpp"
#include "kernels/formats/blocks/layout.hpp"

namespace workbench {

/// The slots of a row ascend. The distance between them is the mean.
template <int known_size, typename Height>
[[nodiscard]] WalkedRun walked_run(const RowInBlocks<known_size, Height>& run) {
    return {run.row, run.count, run.first, run.count < 2 ? 1 : (run.slot(run.count - 1) - run.first) / (run.count - 1)};
}

namespace {

/// Sizes that "auto" chooses from where rows are stored one by one.
constexpr std::array<Index, 7> automatic_sizes{2, 3, 4, 5, 6, 7, 8};

/// Throws Unsuitable if the blocks of the matrix's nodes have no kernel.
Index size_for_nodes(const StagedMatrix& staged) {
    if (is_block_size(staged.node_size)) return staged.node_size;
    throw Unsuitable(fmt::format("nodes of {} unknowns, but there are blocks of 1, 2, 3, 4 or 6: set block_size to one of them",
                                 staged.node_size));
}

Index threads_of(const Parameters& parameters, Index size, Offset blocks, Index block_rows) {
    if (has_dictionary(parameters)) return 1;
    const Index given = parameters.number_unless_auto("threads_per_row");
    return given > 0 ? given : block_sell_threads_for(size, blocks, block_rows);
}

/// Fills the dictionary, and returns the code of each block. With padding, code 0 is a block of zeros.
template <bool padding, ValueType Value>
HostArray<std::uint16_t> code_blocks(const Blocks<Value, HostArray>& blocks, const CsrMatrix& matrix,
                                     CodedBlocks<Value, HostArray>& values) {
    const Index size = blocks.block_size;
    const Index area = size * size;
    const auto distinct = distinct_blocks<Value>(matrix, size, most_coded_blocks);
    if (!distinct) {
        throw Unsuitable(
            fmt::format("values = \"dictionary\" requires at most {} distinct blocks of {} x {}, and there are more",
                        most_coded_blocks, size, size));
    }
    BlockSet<Value> set(area, most_coded_blocks + 1);
    if (padding) (void)set.insert(std::vector<Value>(area, Value{0}).data());
    for (std::size_t i = 0; i < distinct->size(); i += area) (void)set.insert(distinct->data() + i);
    values.dictionary.assign(set.values().begin(), set.values().end());
    values.values_of_code = area;
    HostArray<std::uint16_t> codes;
    make_room(codes, blocks.block_columns.size());
    for_each_in_parallel(std::ssize(codes), 1024, [&](std::int64_t block) {
        codes[block] = static_cast<std::uint16_t>(set.find(blocks.values.data() + block * area));
    });
    return codes;
}

/// Copies what blocks have, `area` elements each, to slices.
template <typename Element>
void to_slices(const auto& sell, const HostArray<Index>& block_offsets, const HostArray<Element>& from, Offset area,
               HostArray<Element>& to, bool repeats_last = false) {
    const Index height = sell.slice_height;
    make_zeros(to, sell.slice_offsets.back() * area);
    for_each_in_parallel(std::ssize(block_offsets) - 1, slice_chunk, [&](std::int64_t row) {
        Offset place = sell.slice_offsets[row / height] * area + row % height;
        for (Offset i = block_offsets[row] * area; i < block_offsets[row + 1] * area; ++i, place += height) to[place] = from[i];
        if (!repeats_last || block_offsets[row] == block_offsets[row + 1]) return;
        for (; place < sell.slice_offsets[row / height + 1]; place += height) to[place] = to[place - height];
    });
}

/// Sets the shape of slices, and stores the columns.
template <ValueType Value>
void fill_slices(auto& sell, const Blocks<Value, HostArray>& blocks, const CsrMatrix& matrix, const Parameters& parameters) {
    const Index size = blocks.block_size;
    const Index rows = blocks.block_rows();
    sell.threads_per_row = threads_of(parameters, size, blocks.block_offsets.back(), rows);
    const Index height = sell.slice_height = 32 / sell.threads_per_row;
    const auto length = [&](Offset lane) {
        return lane < rows ? Offset{blocks.block_offsets[lane + 1]} - blocks.block_offsets[lane] : 0;
    };
    sell.slice_offsets = {0};
    for (Offset first = 0; first < rows; first += height) {
        Offset longest = 0;
        for (Offset lane = first; lane < first + height; ++lane) longest = std::max(longest, length(lane));
        sell.slice_offsets.push_back(sell.slice_offsets.back() + longest * height);
    }
    require_bounded_slots(fmt::format("slices of {} rows of blocks of {} x {}", height, size, size),
                          static_cast<double>(sell.slice_offsets.back()) * static_cast<double>(size) * size, matrix.nonzeros(),
                          sizeof(Value) + sizeof(std::uint16_t),
                          {.advice = "rows sorted by length (row_sort) or smaller blocks (block_size) need less padding"});
    HostArray<Index> columns;
    to_slices(sell, blocks.block_offsets, blocks.block_columns, 1, columns, true);
    ShortColumns narrow = shorten_columns(columns, {sell.slice_offsets, height, length});
    sell.column_indices = std::move(narrow.column_indices);
    static_cast<SliceColumns<std::uint16_t, HostArray>&>(sell) = std::move(narrow.of_slices);
}

constexpr auto fill = []<ValueType Value, typename InSlices>(BlocksLayout<Value, InSlices>& layout, const StagedMatrix& staged,
                                                             const Parameters& parameters) {
    constexpr bool in_slices = InSlices::value;
    const CsrMatrix& matrix = staged.matrix;
    const CsrOnHost<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    const Index given = parameters.number_unless_auto("block_size");
    const Index size = given > 0 ? given : in_slices ? size_for_nodes(staged) : choose_block_size<Value>(view, automatic_sizes);
    const bool has_codes = has_dictionary(parameters);
    if (has_codes && size == 1) {
        throw Unsuitable("values = \"dictionary\" codes blocks, but these have one value; sell has a dictionary of values");
    }
    const SlotBound bound{parameters.real("slots_per_nonzero"),
                          "smaller blocks (block_size) have fewer, and slots_per_nonzero allows more"};
    Blocks<Value, HostArray> blocks = build_blocks<Value>(view, size, bound);
    layout.make_empty(has_codes ? 1 : 0);
    layout.pattern = Pattern(matrix);
    with_alternative(layout.stored, [&]<typename Arrays>(Arrays& arrays) {
        arrays.row_count = matrix.rows;
        arrays.column_count = matrix.columns;
        arrays.block_size = size;
        if constexpr (in_slices) fill_slices(arrays, blocks, matrix, parameters);
        const auto store = [&](auto&& from, Offset area, auto& to) {
            if constexpr (in_slices) {
                to_slices(arrays, blocks.block_offsets, from, area, to);
            } else {
                to = std::move(from);
            }
        };
        if constexpr (Arrays::has_codes) {
            store(code_blocks<in_slices>(blocks, matrix, arrays.values), 1, arrays.values.codes);
        } else {
            store(std::move(blocks.values), arrays.area(), arrays.values);
        }
        if constexpr (!in_slices) {
            arrays.lanes = bsr_lanes(size, blocks.block_rows(), static_cast<Offset>(blocks.block_columns.size()));
            arrays.block_offsets = std::move(blocks.block_offsets);
            arrays.block_columns = std::move(blocks.block_columns);
        }
    });
};

/// values without "auto": codes if the blocks of the matrix's nodes are few.
template <bool in_slices>
Parameters settle(const Parameters& parameters, const ValueFacts& facts) {
    if (!parameters.is_word("values", "auto")) return parameters;
    const Index size = parameters.number_unless_auto("block_size");
    const bool of_nodes = size == 0 ? in_slices : size == facts.node_size;
    const bool one_thread = !in_slices || parameters.number_unless_auto("threads_per_row") <= 1;
    const bool is_few = of_nodes && one_thread && facts.distinct_blocks.has_value();
    return parameters.with("values", std::string(is_few ? "dictionary" : "full"));
}

Needs needs_of_slices(const Parameters& parameters) {
    const Index size = parameters.number_unless_auto("block_size");
    if (size > 0 && !is_block_size(size)) {
        throw ParameterError("block_size", fmt::format("found {}; expected 1, 2, 3, 4 or 6", size));
    }
    const Index threads = parameters.number_unless_auto("threads_per_row");
    if (threads == 3) throw ParameterError("threads_per_row", "found 3; expected 1, 2 or 4");
    if (has_dictionary(parameters) && threads > 1) {
        throw ParameterError("threads_per_row",
                             fmt::format("found {}; with values = \"dictionary\" a row of blocks has one thread", threads));
    }
    return {.unsplit = true};
}

/// Throws std::logic_error unless the offsets tile the arrays.
void require_sound(const auto& blocks) {
    const auto whole = [&](Offset offset) { return offset % blocks.slice_height == 0; };
    const bool sound = tiles(blocks.offsets(), blocks.columns().size()) &&
                       blocks.values.size() == blocks.columns().size() * static_cast<std::size_t>(blocks.area()) &&
                       std::all_of(blocks.offsets().begin(), blocks.offsets().end(), whole);
    if (!sound) throw std::logic_error("blocks: the offsets do not tile the arrays");
    if constexpr (requires { blocks.high_columns; }) {
        require_sound_columns(blocks.first_columns, blocks.wide_offsets, blocks.high_columns.size(), blocks.slice_offsets);
    }
}

/// The steps of a pass, which all lanes of a group make.
Offset steps_of_pass(const auto& bsr, Offset block_row) {
    return pieces_of(bsr.block_offsets[block_row + 1] - bsr.block_offsets[block_row], bsr.lanes.blocks_at_once);
}

constexpr auto walk_groups = [](const auto& layout, const auto& visit) {
    using Groups = BsrGroups<0>;
    if (const auto* const coded = std::get_if<1>(&layout.stored)) {
        return walk_in_turn<RowOfBlocks>(*coded, structure_of(*coded), visit);
    }
    const auto& bsr = std::get<0>(layout.stored);
    Slot slot{.array = array_number(bsr, bsr.values)};
    for (Offset warp = 0; warp < Groups::warps(bsr); ++warp) {
        for (int lane = 0; lane < 32; ++lane) {
            const BsrPlace place = Groups::place(bsr, warp, lane);
            Offset first_step = 0;
            for (int first_row = 0; first_row < bsr.block_size; first_row += bsr.lanes.rows_at_once) {
                const BlockRun run = Groups::run(bsr, place, first_row);
                for (Offset k = 0; k < run.count; ++k) {
                    read_slot<Groups>(bsr, run, k, slot);
                    visit(read_of(slot, warp * 32 + lane, first_step + k));
                }
                if (place.works) first_step += steps_of_pass(bsr, place.block_row);
            }
        }
    }
};

/// Sets the row and the column of value number j of a block; -1: beyond the matrix.
void set_place(const auto& blocks, Offset block_row, Offset first_column, int j, Slot& slot) {
    const Offset row = block_row * blocks.block_size + j / blocks.block_size;
    const Offset column = first_column + j % blocks.block_size;
    slot.row = row < blocks.row_count ? static_cast<Index>(row) : -1;
    slot.column = column < blocks.column_count ? static_cast<Index>(column) : -1;
}

constexpr auto walk_warps = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& sell) {
        using Threads = BlockSellThreads<0, 0>;
        Slot slot{.array = array_number(sell, sell.values)};
        for (Offset thread = 0; thread < Threads::threads(sell); ++thread) {
            const auto run = Threads::run(sell, thread);
            for (Index k = 0; k < run.count; ++k) {
                const Index first_column = Threads::column(sell, run, k, PlainLoad{});
                for (int j = 0; j < sell.area(); ++j) {
                    slot.index = Threads::value(sell, run, k, j);
                    set_place(sell, run.block_row, first_column, j, slot);
                    visit(read_of(slot, thread, Offset{k} * sell.area() + j));
                }
            }
        }
    });
};

/// The forecast for blocks of `size` rows and columns.
template <bool in_slices>
LayoutCost predict_size(const PatternForecast& pattern, const Parameters& parameters, Precision precision, Index size) {
    const Offset blocks = pattern.blocks(size, size);
    const Offset block_rows = pieces_of(pattern.rows(), size);
    const Offset area = Offset{size} * size;
    const bool has_codes = has_dictionary(parameters);
    const std::int64_t bytes_of_block = has_codes ? short_bytes : area * value_bytes(precision);
    LayoutCost cost;
    if constexpr (in_slices) {
        constexpr double sectors_of_block = 0.7;  // a thread reads the x of all unknowns of a node at once
        const std::vector<Offset>& lengths = pattern.blocks_of_rows(size);
        const Offset sampled = std::accumulate(lengths.begin(), lengths.end(), Offset{0});
        const Index height = 32 / threads_of(parameters, size, blocks, static_cast<Index>(block_rows));
        const double padding =
            sampled == 0 ? 1 : static_cast<double>(sell_slots(lengths, height)) / static_cast<double>(sampled);
        const Offset slots = std::llround(static_cast<double>(blocks) * padding);
        const Offset slices = pieces_of(block_rows, height);
        const std::int64_t bytes = slots * (bytes_of_block + short_bytes) + (slices + 1) * offset_bytes + slices * index_bytes;
        cost = cost_of_arrays(pattern, precision, slots * area, bytes, 1.12);
        if (size > 1) cost.sectors *= sectors_of_block;
        for (const Offset length : lengths) cost.chain = std::max(cost.chain, length * size);
    } else {
        cost = cost_of_arrays(pattern, precision, blocks * area,
                              blocks * bytes_of_block + (block_rows + 1 + blocks) * index_bytes, 0.45);
    }
    const bool has_short_columns = pattern.columns() / size <= std::numeric_limits<std::uint16_t>::max();
    cost.exact = !has_codes && pattern.is_exact() && (!in_slices || has_short_columns);
    LayoutCost of_blocks = cost;  // padding of slices is not limited
    of_blocks.slots = blocks * area;
    refuse_slots(of_blocks, parameters, pattern.nonzeros());
    cost.unsuitable = of_blocks.unsuitable;
    return cost;
}

template <bool in_slices>
LayoutCost predict(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const auto cost_of = [&](Index size) { return predict_size<in_slices>(pattern, parameters, precision, size); };
    if (const Index given = parameters.number_unless_auto("block_size"); given > 0) return cost_of(given);
    if (in_slices) return cost_of(pattern.node_size());
    const Parameters in_full = parameters.with("values", std::string("full"));  // as choose_block_size compares sizes
    const auto bytes_of = [&](Index size) { return predict_size<in_slices>(pattern, in_full, precision, size).array_bytes; };
    Index best = automatic_sizes.front();
    for (const Index size : automatic_sizes) best = bytes_of(size) < bytes_of(best) ? size : best;
    return cost_of(best);
}

ParameterDeclaration coding_parameter() {
    return choice_parameter("values", by_default(std::string("full")), {"full", "dictionary", "auto"},
                            "how values are stored, always exactly: dictionary: a code of 16 bits for each block, and every "
                            "distinct block once; auto: so if the nodes of the matrix have at most 4095 distinct blocks, "
                            "otherwise full");
}

}  // namespace

template <ValueType Value, typename InSlices>
void BlocksLayout<Value, InSlices>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&]<typename Arrays>(const Arrays& blocks) {
        require_sound(blocks);
        PatternWalk walk(pattern);
        Slot slot{.array = array_number(blocks, blocks.values), .column_array = array_number(blocks, blocks.columns())};
        const Offset area = blocks.area();
        const Offset height = blocks.slice_height;
        for (Offset slice = 0; slice < blocks.slice_count(); ++slice) {
            const auto of_slice = with_columns_of_slice<widest_kind<Arrays>>(blocks, Run<int>{}, slice);
            for (Offset first = blocks.offsets()[slice]; first < blocks.offsets()[slice + 1]; first += height) {
                for (Offset i = 0; i < area * height; ++i, ++slot.index) {
                    const Offset lane = Arrays::has_codes ? i / area : i % height;
                    slot.column_index = first + lane;
                    const auto column = block_column<Offset>(blocks, of_slice, slot.column_index, PlainLoad{});
                    if (column < 0 || column * blocks.block_size >= blocks.column_count) {
                        throw std::logic_error(fmt::format("blocks: block {} begins outside the matrix", slot.column_index));
                    }
                    set_place(blocks, slice * height + lane, column * blocks.block_size,
                              static_cast<int>(Arrays::has_codes ? i % area : i / height), slot);
                    slot.nonzero = walk.nonzero_at(slot.row, slot.column);
                    visit(slot);
                }
            }
        }
    });
}

LayoutEntry bsr_entry() {
    return format<BsrLayout>(
               {.name = "bsr",
                .summary =
                    "block compressed sparse rows: square blocks that hold a nonzero, stored whole, with one column per block",
                .source = "Im and Yelick, 'Optimizing sparse matrix computations for register reuse in SPARSITY' (2001)",
                .examples = {"\n[layout]\nuse = \"bsr\"\nblock_size = 2\n"},
                .parameters = {integer_parameter(
                                   "block_size", by_default(std::string("auto")), between(2, largest_block, "rows", {"auto"}),
                                   "rows and columns of a block; auto: the size from 2 to 8 that takes least memory"),
                               slots_per_nonzero_parameter(4), coding_parameter()},
                .rows_of_share = RowsOfShare::all,
                .settle = settle<false>,
                .storage_sizes = bsr_storage_sizes,
                .predict = predict<false>},
               fill)
        .host<BsrOnHost>("block_rows", "block rows in parallel")
        .vectors<RowOfBlocks>()
        .cuda<BsrKernel>("groups", "one group of lanes per block row, neighbouring lanes on neighbouring values of its blocks",
                         walk_groups)
        .with_cuda<bsr_cusparse_kernels>();
}

LayoutEntry block_sell_entry() {
    return format<BlockSellLayout>(
               {.name = "block_sell",
                .summary =
                    "sliced ELL over rows of square blocks, the unknowns of a mesh node, with one column of 16 bits per block",
                .source = "made here; blocks: Im and Yelick (2001), slices: Kreutzer et al. (2014)",
                .examples = {"\n[layout]\nuse = \"block_sell\"\nblock_size = 2\nthreads_per_row = 4\n"},
                .parameters =
                    {integer_parameter(
                         "block_size", by_default(std::string("auto")), between(1, largest_node, "rows", {"auto"}),
                         "rows and columns of a block, 1, 2, 3, 4 or 6; auto: the unknowns of a node, from [matrix] or stage "
                         "node_blocks"),
                     integer_parameter(
                         "threads_per_row", by_default(std::string("auto")), between(1, 4, "threads", {"auto"}),
                         "threads of a GPU that share a row of blocks, 1, 2 or 4; a slice has the rows of a warp; auto: 1 up "
                         "to "
                         "8 blocks a row in the mean, 2 up to 20, otherwise 4; for blocks of one value, up to 20 and 48"),
                     slots_per_nonzero_parameter(4), coding_parameter()},
                .needs = needs_of_slices,
                .rows_of_share = RowsOfShare::all,
                .settle = settle<true>,
                .predict = predict<true>,
                .on_device = [](const Parameters& parameters) -> std::optional<DeviceStorage> {
                    return BlockSlices{.block_size = parameters.number_unless_auto("block_size"),
                                       .threads_per_row = parameters.number_unless_auto("threads_per_row"),
                                       .slots_per_nonzero = parameters.real("slots_per_nonzero"),
                                       .values = values_on_device(parameters)};
                },
                .kernel_on_device = "warps"},
               fill)
        .host<BlockSellOnHost>("slices", "slices in parallel, row of blocks by row of blocks")
        .vectors<RowOfBlocks>()
        .cuda<BlockSellWarps>("warps", "one warp per slice, threads_per_row threads per block row", walk_warps);
}

}  // namespace workbench
