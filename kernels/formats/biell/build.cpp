#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/biell/layout.hpp"

namespace workbench {
namespace {

constexpr int strip_chunk = 8;  // strips that a thread of the host takes at a time

constexpr std::string_view biell_example = R"(
[[stage]]
use = "row_sort"
within = "window"
window = 4
apply = "rows"

[layout]
use = "biell"
strip_height = 4
)";

constexpr std::string_view bijad_example = R"(
[[stage]]
use = "row_sort"
apply = "rows"

[layout]
use = "bijad"
strip_height = 4
)";

/// Sets the offsets of all groups from their widths.
template <ValueType Value>
void measure(BiellLayout<Value>& layout) {
    const int groups = layout.group_count();
    layout.group_offsets.assign(std::size_t{1} + static_cast<std::size_t>(layout.strip_count()) * groups, 0);
    for_each_in_parallel(layout.strip_count(), strip_chunk, [&](std::int64_t strip) {
        const auto length = [&](Index place) {
            const Offset row = strip * layout.strip_height + place;
            return row < layout.row_count ? layout.row_offsets[row + 1] - layout.row_offsets[row] : 0;
        };
        Offset stored = 0;
        for (int group = 0; group < groups; ++group) {
            const Offset shares = Offset{1} << group;
            const Offset left = length(layout.strip_height >> (group + 1)) - stored;
            const Offset width = left > 0 ? (left + shares - 1) / shares : 0;
            layout.group_offsets[strip * groups + group + 1] = width * layout.strip_height;
            stored += width * shares;
        }
    });
    std::partial_sum(layout.group_offsets.begin(), layout.group_offsets.end(), layout.group_offsets.begin());
}

/// Calls visit(slot) for the slots of a strip in the order of memory, with everything but the column and the array filled in.
template <ValueType Value, typename Visit>
void walk_strip(const BiellLayout<Value>& layout, Index strip, const Visit& visit) {
    const Offset first_row = Offset{strip} * layout.strip_height;
    const Offset first_group = Offset{strip} * layout.group_count();
    Offset stored = 0;
    Slot slot{.index = layout.group_offsets[first_group]};
    for (int group = 0; group < layout.group_count(); ++group) {
        const Index shares = Index{1} << group;
        const Index rows_of_group = layout.strip_height >> group;  // a power of two: shifts instead of divisions
        const int bits_of_rows = std::countr_zero(static_cast<unsigned>(rows_of_group));
        const Offset width = layout.width(first_group + group);
        for (Offset k = 0; k < width; ++k) {
            for (Index lane = 0; lane < layout.strip_height; ++lane, ++slot.index) {
                const Offset row = first_row + (lane & (rows_of_group - 1));
                const Offset entry = stored + k * shares + (lane >> bits_of_rows);
                const bool exists = row < layout.row_count;
                const bool filled = exists && entry < layout.row_offsets[row + 1] - layout.row_offsets[row];
                slot.column_index = slot.index;
                slot.row = exists ? static_cast<Index>(row) : -1;
                slot.nonzero = filled ? layout.row_offsets[row] + entry : -1;
                visit(slot);
            }
        }
        stored += width * shares;
    }
}

template <ValueType Value>
void bisect(BiellLayout<Value>& layout, const CsrMatrix& matrix, Index strip_height) {
    layout.strip_height = strip_height;
    layout.row_offsets = matrix.row_offsets;
    measure(layout);
    const Offset slots = layout.group_offsets.back();
    constexpr double any = std::numeric_limits<double>::infinity();  // halving bounds the padding, memory bounds the slots
    require_bounded_slots(fmt::format("strips of {} rows", strip_height), static_cast<double>(slots), matrix.nonzeros(),
                          sizeof(Value) + sizeof(Index), {any, "all rows sorted by length (row_sort) need fewer"});
    make_zeros(layout.column_indices, slots);
    make_zeros(layout.values, slots);
    for_each_in_parallel(layout.strip_count(), strip_chunk, [&](std::int64_t strip) {
        walk_strip(layout, static_cast<Index>(strip), [&](const Slot& slot) {
            if (slot.row < 0 || layout.row_offsets[slot.row] == layout.row_offsets[slot.row + 1]) return;
            const Offset last = layout.row_offsets[slot.row + 1] - 1;
            layout.column_indices[slot.index] = matrix.column_indices[slot.nonzero < 0 ? last : slot.nonzero];
            if (slot.nonzero < 0) return;
            layout.values[slot.index] = static_cast<Value>(matrix.values[slot.nonzero]);
        });
    });
}

Index strip_height_of(const Parameters& parameters) { return static_cast<Index>(parameters.integer("strip_height")); }

constexpr auto fill_biell = [](auto& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const Index height = strip_height_of(parameters);
    require_descending(ShareView(staged.matrix),
                       {.requirement = fmt::format("BiELL needs the rows of each strip of {} in descending length", height),
                        .stage = fmt::format("row_sort with within = \"window\", window = {} and apply = \"rows\"", height),
                        .window = height});
    bisect(layout, staged.matrix, height);
};

constexpr auto fill_bijad = [](auto& layout, const StagedMatrix& staged, const Parameters& parameters) {
    require_descending(ShareView(staged.matrix),
                       {.requirement = "BiJAD needs all rows in descending length", .stage = "row_sort with apply = \"rows\""});
    bisect(layout, staged.matrix, strip_height_of(parameters));
};

template <ValueType Value>
void require_sound_offsets(const BiellLayout<Value>& layout) {
    const HostArray<Offset>& offsets = layout.group_offsets;
    const bool sound =
        tiles(offsets, layout.values.size()) && layout.column_indices.size() == layout.values.size() &&
        std::all_of(offsets.begin(), offsets.end(), [&](Offset offset) { return offset % layout.strip_height == 0; });
    if (!sound) throw std::logic_error("biell: the offsets do not tile the arrays");
}

template <int height>
void walk_lanes(const auto& biell, const std::function<void(const Read&)>& visit) {
    using Lanes = BiellLanes<height>;
    Slot slot{.array = array_number(biell, biell.values)};
    for (Offset thread = 0; thread < Lanes::threads(biell); ++thread) {
        Offset step = 0;
        for (int group = Lanes::groups - 1; group >= 0; --group) {
            const Offset* const offsets = biell.group_offsets.data() + Lanes::first_group(thread) + group;
            const auto run = Lanes::run(biell, thread, group, offsets[0], offsets[1]);
            for (Offset k = 0; k < run.count; ++k, ++step) {
                read_slot<Lanes>(biell, run, k, slot);
                visit(read_of(slot, thread, step));
            }
        }
    }
}

constexpr auto walk_strips = [](const auto& layout, const auto& visit) {
    const auto biell = structure_of(layout.stored());
    with_lanes<2>(biell.strip_height, [&](auto height) { walk_lanes<height>(biell, visit); });
};

constexpr Index most_lanes = 32;

/// Strips in parallel, each in the order of a warp: the last group first, in which the whole strip shares the longest row.
/// After each group the sums of pairs of shares are folded, until each lane has a row of its own.
template <ValueType Value>
class BiellStrips final : public Kernel<Value> {
public:
    explicit BiellStrips(const BiellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Index height = layout_.strip_height;
        for_each_in_parallel(layout_.strip_count(), strip_chunk, [&](std::int64_t strip) {
            std::array<Value, most_lanes> sums{};
            for (int group = layout_.group_count() - 1; group >= 0; --group) {
                add_group(strip * layout_.group_count() + group, x, sums);
                if (group > 0) fold(height >> group, sums);
            }
            for (Index lane = 0; lane < height; ++lane) {
                const std::int64_t row = strip * height + lane;
                if (row < layout_.row_count) put(y, static_cast<Index>(row), sums[lane], accumulate);
            }
        });
    }

private:
    void add_group(Offset group, const Value* x, std::array<Value, most_lanes>& sums) const {
        const Index height = layout_.strip_height;
        for (Offset slot = layout_.group_offsets[group]; slot < layout_.group_offsets[group + 1]; slot += height) {
            for (Index lane = 0; lane < height; ++lane) {
                sums[lane] += layout_.values[slot + lane] * x[layout_.column_indices[slot + lane]];
            }
        }
    }

    /// From a group of `rows` rows to the one before it, of twice as many: lanes 0 .. rows - 1 of each share continue with the
    /// sums of two lanes, the others begin another row.
    void fold(Index rows, std::array<Value, most_lanes>& sums) const {
        for (Index lane = 0; lane < layout_.strip_height; lane += rows) {
            for (const Index end = lane + rows; lane < end; ++lane) {
                sums[lane] += sums[lane + rows];
                sums[lane + rows] = 0;
            }
        }
    }

    const BiellLayout<Value>& layout_;
};

Needs needs(const Parameters& parameters) {
    const auto height = static_cast<std::uint64_t>(parameters.integer("strip_height"));
    if (!std::has_single_bit(height)) {
        throw ParameterError("strip_height",
                             fmt::format("a strip of {} rows cannot be halved down to one: expected a power of two", height));
    }
    return {.unsplit = true};
}

std::vector<ParameterDeclaration> parameters() {
    return {integer_parameter("strip_height", by_default(32), between(2, 32, "rows"),
                              "rows bisected together, a power of two; 32 is a warp")};
}

/// The slots of all strips, and of the longest lane.
struct StripsForecast {
    Offset slots = 0;
    Offset chain = 0;
};

int groups_of(Index strip_height) { return std::bit_width(static_cast<unsigned>(strip_height)); }

StripsForecast forecast_strips(std::span<const Offset> lengths, Index height) {
    const Offset rows = std::ssize(lengths);
    StripsForecast strips;
    for (Offset first = 0; first < rows; first += height) {
        Offset stored = 0;
        Offset steps = 0;
        for (int group = 0; group < groups_of(height); ++group) {
            const Offset row = first + (height >> (group + 1));
            const Offset left = (row < rows ? lengths[row] : 0) - stored;
            const Offset width = left > 0 ? pieces_of(left, Offset{1} << group) : 0;
            stored += width << group;
            steps += width;
        }
        strips.slots += steps * height;
        strips.chain = std::max(strips.chain, steps);
    }
    return strips;
}

Offset slots_of_strips(std::span<const Offset> lengths, Index height) { return forecast_strips(lengths, height).slots; }
Offset chain_of_strips(std::span<const Offset> lengths, Index height) { return forecast_strips(lengths, height).chain; }

LayoutCost predict_biell(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const auto height = static_cast<Index>(parameters.integer("strip_height"));
    const Offset slots = pattern.of_lengths(slots_of_strips, height);
    const Offset groups = pieces_of(pattern.rows(), height) * groups_of(height);
    const std::int64_t bytes = (groups + 1) * offset_bytes + slots * (index_bytes + value_bytes(precision));
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, bytes, 1.05);
    cost.chain = pattern.of_lengths(chain_of_strips, height);
    return cost;
}

/// Both layouts are one storage; they differ in the order of rows that they need.
LayoutEntry bisected(std::string name, std::string summary, std::string_view example, auto fill) {
    return format<BiellLayout>({.name = std::move(name),
                                .summary = std::move(summary),
                                .source = "Zheng, Gu, Gu, Yang and Liu, 'BiELL: a bisection ELLPACK-based storage format for "
                                          "optimizing SpMV on GPUs' "
                                          "(2014)",
                                .examples = {std::string(example)},
                                .parameters = parameters(),
                                .needs = needs,
                                .predict = predict_biell},
                               fill)
        .template host<BiellStrips>("strips", "strips in parallel, the shares of a row folded together at the end")
        .template cuda<BiellKernel>(
            "strips", "one lane per row of a strip; the lanes of short rows help with long ones, sums meet in shuffles",
            walk_strips);
}

}  // namespace

template <ValueType Value>
void BiellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_offsets(*this);
    const WalkedArrays where = {array_number(this->stored(), this->values), array_number(this->stored(), this->column_indices)};
    for (Index strip = 0; strip < this->strip_count(); ++strip) {
        walk_strip(*this, strip, [&](Slot slot) {
            slot.array = where.values;
            slot.column_array = where.columns;
            slot.column = this->column_indices[slot.index];
            if (slot.column < 0 || slot.column >= this->column_count) {
                throw std::logic_error(fmt::format("biell: slot {} reads a column that does not exist", slot.index));
            }
            visit(slot);
        });
    }
}

LayoutEntry biell_entry() {
    return bisected("biell",
                    "bisected ELL: strips as high as a warp, whose lanes share the longer rows once the shorter ones are done",
                    biell_example, fill_biell);
}

LayoutEntry bijad_entry() {
    return bisected("bijad", "bisected ELL with all rows in descending length, not only those of a strip", bijad_example,
                    fill_bijad);
}

}  // namespace workbench
