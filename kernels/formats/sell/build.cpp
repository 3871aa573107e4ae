#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/contract/errors.hpp"
#include "core/contract/rounding.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/common/storage/round_values.hpp"
#include "kernels/formats/sell/layout.hpp"
#include "kernels/formats/sell/long_rows.hpp"

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

/// Turns slices into the same with values and columns in another form (coded_values.hpp).
template <ValueType Value>
class SellCoder {
public:
    SellCoder(Slices<Value, Index, HostArray>&& slices, const Origin& origin, const CsrMatrix& matrix, Rounding rounding)
        : slices_(std::move(slices)),
          shape_{slices_.slice_offsets, slices_.slice_height,
                 [&origin](Offset lane) { return lane < origin.row_count() ? origin.length(static_cast<Index>(lane)) : 0; }},
          matrix_(matrix),
          rounding_(rounding) {}

    [[nodiscard]] bool is_wide() const {
        return is_mostly_wide(static_cast<double>(wide_slices(slices_.column_indices, shape_)) /
                              static_cast<double>(shape_.slice_offsets.size()));
    }

    template <typename StoredValue, typename StoredColumn>
    Sell<StoredValue, StoredColumn, HostArray> in_form() {
        Sell<StoredValue, StoredColumn, HostArray> sell;
        sell.slice_height = slices_.slice_height;
        if constexpr (std::is_same_v<StoredColumn, InWords>) {
            store_words(sell);
        } else {
            store_columns(sell);
            store(sell.values);
        }
        sell.slice_offsets = std::move(slices_.slice_offsets);
        return sell;
    }

private:
    void store_columns(auto& sell) {
        constexpr bool marks_padding = ConstantMember<decltype(sell.values)>;
        if constexpr (HasShortColumns<std::remove_reference_t<decltype(sell)>>) {
            ShortColumns narrow = shorten_columns(slices_.column_indices, shape_, marks_padding);
            sell.column_indices = std::move(narrow.column_indices);
            static_cast<SliceColumns<std::uint16_t, HostArray>&>(sell) = std::move(narrow.of_slices);
        } else {
            sell.column_indices = std::move(slices_.column_indices);
            if constexpr (marks_padding) mark_padding(sell.column_indices);
        }
    }

    void mark_padding(HostArray<Index>& columns) const {
        for_each_in_parallel(std::ssize(shape_.slice_offsets) - 1, slice_chunk, [&](std::int64_t slice) {
            const Offset begin = shape_.slice_offsets[slice];
            for (Offset slot = begin; slot < shape_.slice_offsets[slice + 1]; ++slot) {
                const Offset lane = slice * shape_.slice_height + (slot - begin) % shape_.slice_height;
                if ((slot - begin) / shape_.slice_height >= shape_.length_of_lane(lane)) columns[slot] = -1;
            }
        });
    }

    template <typename Values>
    void store(Values& values) {
        constexpr bool narrow = std::is_same_v<Value, double> && std::is_same_v<Values, HostArray<float>>;
        if constexpr (std::is_same_v<Values, HostArray<Bf16>>) {
            values = round_to_bf16(slices_.values);
        } else if constexpr (narrow) {
            values = rounding_ == Rounding::f32 ? round_to_f32(slices_.values) : values_in_f32(slices_.values);
        } else {
            store_values(values, std::move(slices_.values), matrix_);
        }
    }

    void store_words(Sell<Coded<Value, std::uint32_t>, InWords, HostArray>& sell) {
        const auto codes = codes_for<Value>(matrix_, most_values_of_words, has_padding());
        CountedColumns counted = count_columns(slices_.column_indices, shape_);
        const auto bits_of_code = static_cast<int>(std::bit_width(codes.dictionary().size() - 1));
        if (counted.bits + bits_of_code > 32) {
            throw Unsuitable(
                fmt::format("column_index = \"word\" has 32 bits, but the widest slice needs {} for its columns and {} "
                            "values of the dictionary need {}: an order of less bandwidth (cuthill_mckee) or u16",
                            counted.bits, codes.dictionary().size(), bits_of_code));
        }
        sell.first_columns = std::move(counted.first_columns);
        sell.values.dictionary = codes.dictionary();
        sell.values.column_bits = counted.bits;
        make_room(sell.values.codes, slices_.values.size());
        for_each_in_parallel(std::ssize(slices_.values), slots_of_piece, [&](std::int64_t slot) {
            sell.values.codes[slot] =
                static_cast<std::uint32_t>(counted.columns[slot]) |
                static_cast<std::uint32_t>(std::uint64_t{codes.code_of(slices_.values[slot])} << counted.bits);
        });
    }

    [[nodiscard]] bool has_padding() const { return static_cast<Offset>(slices_.values.size()) > matrix_.nonzeros(); }

    static constexpr std::int64_t slots_of_piece = 4096;

    Slices<Value, Index, HostArray> slices_;
    SliceShape shape_;
    const CsrMatrix& matrix_;
    Rounding rounding_;
};

/// The slices in the form that the parameters name.
template <ValueType Value>
void store(SellLayout<Value>& layout, SellCoder<Value>&& coder, const Parameters& parameters) {
    const std::string& values = parameters.text("values");
    const bool is_auto = parameters.is_word("column_index", "auto");
    const bool short_columns = is_auto ? !coder.is_wide() : !parameters.is_word("column_index", "u32");
    const auto store_in = [&]<typename StoredValue>(std::type_identity<StoredValue>) {
        if (short_columns) {
            layout.stored = coder.template in_form<StoredValue, std::uint16_t>();
        } else {
            layout.stored = coder.template in_form<StoredValue, Index>();
        }
    };
    if (values == "one") return store_in(std::type_identity<Constant<Value>>{});
    if (parameters.is_word("column_index", "word")) {
        layout.stored = coder.template in_form<Coded<Value, std::uint32_t>, InWords>();
    } else if (values == "dictionary") {
        layout.stored = coder.template in_form<Coded<Value, std::uint8_t>, std::uint16_t>();
    } else if (values == "rounded_bf16") {
        if constexpr (std::is_same_v<Value, double>) {
            layout.stored = coder.template in_form<Bf16, std::uint16_t>();
        } else {
            throw Unsuitable("values = \"rounded_bf16\" is for values of f64");
        }
    } else if ((values == "f32" || values == "rounded_f32") && std::is_same_v<Value, double>) {
        layout.stored = coder.template in_form<float, std::uint16_t>();
    } else {
        store_in(std::type_identity<Value>{});
    }
}

constexpr auto fill = []<ValueType Value>(SellLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    layout.origin = Origin(ShareView(matrix));
    const SlicePlan plan{.slice_height = slice_height(matrix.rows, matrix.nonzeros(), parameters),
                         .group_places = {0, matrix.rows},
                         .column_bounds = {0, matrix.columns}};
    store(layout,
          SellCoder<Value>(build_slices<Value, Index>(matrix, ShareView(matrix), plan), layout.origin, matrix,
                           rounding_of(parameters)),
          parameters);
    with_alternative(layout.stored, [&](auto& sell) {
        sell.row_count = matrix.rows;
        sell.column_count = matrix.columns;
        const bool automatic = parameters.is_word("threads_per_row", "auto");
        sell.threads_per_row = automatic ? 0 : static_cast<Index>(parameters.integer("threads_per_row"));
        sell.split_length = static_cast<Index>(parameters.integer("split_length"));
    });
};

/// True if the values are stored with columns of any kind.
bool suits_any_columns(const std::string& values) { return values == "full" || values == "one" || values == "auto"; }

ParameterValue columns_beside(const std::map<std::string, ParameterValue>& given) {
    const auto values = given.find("values");
    const bool any = values == given.end() || suits_any_columns(std::get<std::string>(values->second));
    return std::string(any ? "u32" : "auto");
}

Needs needs(const Parameters& parameters) {
    const std::int64_t threads = parameters.is_word("threads_per_row", "auto") ? 1 : parameters.integer("threads_per_row");
    if ((threads & (threads - 1)) != 0) {
        throw ParameterError("threads_per_row", fmt::format("found {}; expected a power of two", threads));
    }
    const std::string& values = parameters.text("values");
    const std::string& columns = parameters.text("column_index");
    if (columns == "word" && values != "dictionary" && values != "auto") {
        throw ParameterError("column_index",
                             fmt::format("\"word\" holds a column and the code of a value, but values = \"{}\"; "
                                         "expected values = \"dictionary\" or \"auto\"",
                                         values));
    }
    if (columns == "u32" && !suits_any_columns(values)) {
        throw ParameterError("column_index", fmt::format("values = \"{}\" takes \"u16\"{} or \"auto\"", values,
                                                         values == "dictionary" ? ", \"word\"" : ""));
    }
    return {.unsplit = true};
}

/// values without "auto". column_index = "auto" becomes word if 32 bits suffice whatever the columns of a slice, and u16 for
/// values that require it; otherwise it remains "auto", and the widths of the slices decide. Words have no place for a code if
/// all values are equal: their columns have 16 bits.
Parameters settle(const Parameters& parameters, const ValueFacts& facts) {
    if (parameters.is_word("column_index", "u32")) return settle_values(parameters, facts, {});
    const auto distinct = static_cast<std::uint64_t>(facts.distinct.value_or(0));
    const auto bits = std::bit_width(static_cast<std::uint64_t>(facts.columns)) + std::bit_width(distinct);
    const bool in_words =
        parameters.is_word("column_index", "word") || (parameters.is_word("column_index", "auto") && bits <= 32);
    Parameters settled = settle_values(parameters, facts,
                                       {.most_distinct = in_words ? most_values_of_words : most_values_of_bytes, .f32 = true});
    const bool is_one = settled.is_word("values", "one");
    if (is_one && parameters.is_word("column_index", "word")) return settled.with("column_index", std::string("u16"));
    const bool any_columns = is_one || settled.is_word("values", "full");
    if (!parameters.is_word("column_index", "auto") || any_columns) return settled;
    const bool word = in_words && settled.is_word("values", "dictionary");
    return settled.with("column_index", std::string(word ? "word" : "u16"));
}

std::optional<DeviceStorage> on_device(const Parameters& parameters) {
    const std::string& columns = parameters.text("column_index");
    return RowSlices{.slice_height = parameters.number_unless_auto("slice_height"),
                     .threads_per_row = parameters.number_unless_auto("threads_per_row"),
                     .split_length = static_cast<Index>(parameters.integer("split_length")),
                     .columns = columns == "u32"    ? DeviceColumns::of_32_bits
                                : columns == "u16"  ? DeviceColumns::of_16_bits
                                : columns == "word" ? DeviceColumns::in_words
                                                    : DeviceColumns::automatic,
                     .values = values_on_device(parameters)};
}

constexpr auto walk_slices = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& sell) {
        if (!layout.by_lengths()) return walk_in_turn<SellThreads>(sell, visit);
        const HostArray<Index> lengths = layout.row_lengths();
        const SellLongRows long_rows = find_long_rows(lengths, sell.split_length);
        const SellWithLengths<decltype(structure_of(sell))> with_lengths{
            structure_of(sell),
            {lengths.data(), static_cast<Offset>(lengths.size())},
            {long_rows.parts.data(), static_cast<Offset>(long_rows.parts.size())}};
        const WalkedSchedule schedule =
            with_sell_whole_rows(with_lengths, [&]<typename Rows>(Rows) { return walked<Rows>(with_lengths); });
        for_each_read(schedule, array_number(sell, sell.values), visit);
    });
};

LayoutCost predict_sell(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Index height = slice_height(pattern.rows(), pattern.nonzeros(), parameters);
    const bool is_short = parameters.is_word("column_index", "auto") ? !is_mostly_wide(pattern.wide_groups(height))
                                                                     : parameters.is_word("column_index", "u16");
    const bool is_word = parameters.is_word("column_index", "word");
    const std::int64_t slot_bytes =
        is_word ? index_bytes : (is_short ? short_bytes : index_bytes) + bytes_of_values(parameters, precision);
    auto [slots, bytes] = forecast_slices(pattern, height, slot_bytes);
    if (is_word) bytes += pieces_of(pattern.rows(), height) * index_bytes;
    if (is_short) {
        const double wide = pattern.wide_groups(height);
        const Offset slices = pieces_of(pattern.rows(), height);
        bytes += slices * index_bytes + static_cast<std::int64_t>(wide * static_cast<double>(slices * offset_bytes)) +
                 static_cast<std::int64_t>(wide * static_cast<double>(slots * short_bytes));
    }
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, bytes, 1.18);
    cost.exact = cost.exact && !has_dictionary(parameters) && (!is_short || pattern.is_exact());
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
        WalkedArrays where{array_number(sell, sell.values), -1};
        if constexpr (!HasColumns<decltype(sell.values)>) where.columns = array_number(sell, sell.column_indices);
        const auto structure = structure_of(sell);
        for_each_stored_slot(walked<SellRows<1, 0, widest_kind<Sell>>>(structure), where, nonzeros_of(origin), visit);
    });
}

template <ValueType Value>
std::vector<std::pair<std::string, std::string>> SellLayout<Value>::notes() const {
    return with_stored(*this, []<typename Sell>(const Sell& sell) {
        std::vector<std::pair<std::string, std::string>> notes;
        if constexpr (HasShortColumns<Sell>) notes = notes_on_columns(sell);
        for (auto& note : notes_on_values(sell.values)) notes.push_back(std::move(note));
        return notes;
    });
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
        Offset longest = 0;
        for (Index row = 0; row < sell.row_count; ++row) longest = std::max(longest, Offset{origin.length(row)});
        return reads_lengths(sell, this->nonzero_count, longest);
    });
}

template <ValueType Value>
std::int64_t SellLayout<Value>::bytes_by_rows(const SellLongRows& long_rows) const {
    return with_stored(*this, [&](const auto& sell) {
        HostArray<Index> first_columns;
        if constexpr (HasShortColumns<std::remove_cvref_t<decltype(sell)>>) first_columns = sell.first_columns;
        return workbench::bytes_by_rows<Value>(sell, row_lengths(), first_columns, long_rows, this->bytes_to_move());
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
                      .words = {"u32", "u16", "word", "auto"},
                      .help = "u16: columns of 16 bits, counted from the first column of their slice; a slice that reaches "
                              "over more than 65536 keeps 32 bits; word: 32 bits for the column and the code of the value "
                              "(values = "
                              "\"dictionary\"); auto: word for a dictionary, otherwise u16, or u32 if many slices are wide; "
                              "it is the default for codes and values of fewer bytes",
                      .default_beside = columns_beside},
                     values_parameter({"full", "one", "dictionary", "f32", "auto", "rounded_f32", "rounded_bf16"})},
                .needs = needs,
                .settle = settle,
                .storage_sizes = sell_storage_sizes,
                .predict = predict_sell,
                .on_device = on_device,
                .kernel_on_device = "slices"},
               fill)
        .with({sell_host_kernel()})
        .cuda<SellSlices>("slices", "one or several threads per row; blocks of threads for rows longer than split_length",
                          walk_slices)
        .vectors_on_gpu<SellRowsOfVectors>()
        .with_cuda<sell_cusparse_kernels>();
}

}  // namespace workbench
