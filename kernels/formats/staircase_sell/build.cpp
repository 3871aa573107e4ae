#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/text/words.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/staircase_sell/layout.hpp"
#include "kernels/formats/staircase_sell/length_groups.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[[stage]]
use = "row_sort"
order = "ascending"
apply = "rows"

[[stage]]
use = "length_groups"
slice_height = 2
alpha = 0

[layout]
use = "staircase_sell"
slice_height = 2
)";

/// Sets the groups that have rows, and their widths.
template <ValueType Value>
void cut_into_groups(StaircaseSellLayout<Value>& layout, const Cuts& groups) {
    layout.group_rows = {0};
    layout.group_slots = {0};
    for (Index piece = 0; piece < groups.count(); ++piece) {
        Offset width = 0;
        for (Index row = groups.begin(piece); row < groups.end(piece); ++row) {
            width = std::max(width, layout.row_offsets[row + 1] - layout.row_offsets[row]);
        }
        if (groups.size(piece) == 0) continue;
        layout.group_rows.push_back(groups.end(piece));
        layout.group_widths.push_back(static_cast<Index>(width));
        const Index group = layout.group_count() - 1;
        layout.group_slots.push_back(layout.slice_slot(group, layout.slice_count(group)));
    }
}

template <ValueType Value>
void fill_groups(StaircaseSellLayout<Value>& layout, const CsrMatrix& matrix) {
    make_filled(layout.column_indices, layout.group_slots.back(), -1);
    make_zeros(layout.values, layout.group_slots.back());
    const Index height = layout.slice_height;
    for (Index group = 0; group < layout.group_count(); ++group) {
        const Index first_row = layout.group_rows[group];
        for_each_in_parallel(layout.group_rows[group + 1] - first_row, 256, [&](std::int64_t place) {
            Offset slot = layout.slice_slot(group, place / height) + place % height;
            const std::int64_t row = first_row + place;
            for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k, slot += height) {
                layout.column_indices[slot] = matrix.column_indices[k];
                layout.values[slot] = static_cast<Value>(matrix.values[k]);
            }
        });
    }
}

constexpr auto fill = []<ValueType Value>(StaircaseSellLayout<Value>& layout, const StagedMatrix& staged,
                                          const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    layout.slice_height = static_cast<Index>(parameters.integer("slice_height"));
    layout.row_offsets = matrix.row_offsets;
    cut_into_groups(layout, *staged.find_cuts(CutKind::length_group));
    require_bounded_slots(
        fmt::format("{} in slices of height {}", counted(layout.group_count(), "length group"), layout.slice_height),
        static_cast<double>(layout.group_slots.back()), matrix.nonzeros(), sizeof(Value) + sizeof(Index),
        {.advice = "a lower alpha of length_groups or smaller slices (slice_height) need less padding"});
    fill_groups(layout, matrix);
};

/// Throws std::logic_error unless the groups tile the rows and the slots.
template <ValueType Value>
void require_sound_groups(const StaircaseSellLayout<Value>& layout) {
    bool sound = tiles(layout.group_rows, layout.row_count) && layout.group_slots.front() == 0 &&
                 layout.group_slots.back() == static_cast<Offset>(layout.values.size()) &&
                 layout.column_indices.size() == layout.values.size();
    for (Index group = 0; sound && group < layout.group_count(); ++group) {
        sound = layout.group_widths[group] >= 0 &&
                layout.group_slots[group + 1] == layout.slice_slot(group, layout.slice_count(group));
    }
    if (!sound) throw std::logic_error("staircase_sell: the groups do not tile the rows and the slots");
}

/// Calls use(group, its first slot) for each group.
template <ValueType Value>
void for_each_group(const StaircaseSell<Value, HostArray>& stored, const auto& use) {
    for (Index group = 0; group < stored.group_count(); ++group) {
        use(group_of(stored, group, stored.column_indices, stored.values), stored.group_slots[group]);
    }
}

/// The reads of both kernels: every group begins a new warp.
constexpr auto walk_groups = [](const auto& layout, const auto& visit) {
    const auto& stored = layout.stored();
    std::int64_t first_warp = 0;
    for_each_group(stored, [&](const auto& group, Offset first_slot) {
        for_each_read(
            walked<StaircaseRows>(group), array_number(stored, stored.values),
            [&](Read read) {
                read.index += first_slot;
                visit(read);
            },
            first_warp);
        first_warp += (StaircaseRows::threads(group) + 31) / 32;
    });
};

template <ValueType Value>
class StaircaseSlices final : public Kernel<Value> {
public:
    explicit StaircaseSlices(const StaircaseSellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        for (Index group = 0; group < layout_.group_count(); ++group) {
            const auto slots = group_of(layout_.stored(), group, layout_.column_indices, layout_.values);
            multiply_on_host<StaircaseRows, Value>(slots, {x, y, accumulate});
        }
    }

private:
    const StaircaseSellLayout<Value>& layout_;
};

Offset slots_by_length(std::span<const Offset> lengths, Index slice_height) {
    return sell_slots(ascending_lengths(lengths), slice_height);
}

LayoutCost predict_staircase_sell(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset slots = pattern.of_lengths(slots_by_length, static_cast<Index>(parameters.integer("slice_height")));
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, slots * (index_bytes + value_bytes(precision)), 1.25);
    cost.exact = false;  // the stage length_groups lengthens some rows
    cost.launches = 2;
    cost.chain = pattern.longest_row();
    return cost;
}

/// With each alpha.
std::vector<StorageSize> storage_sizes(const StorageQuestion& question) {
    const Index height = question.slice_height;
    std::vector<StorageSize> all;
    for (const double alpha : question.alphas) {
        const std::vector<Index> groups = length_groups(question.ascending_lengths, height, alpha);
        const Offset slots = staircase_sell_slots(question.ascending_lengths, groups, height);
        all.push_back({"Staircase SELL", "table 5.2", height, alpha, slots, staircase_sell_size(slots, question.sizes)});
    }
    return all;
}

}  // namespace

template <ValueType Value>
void StaircaseSellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_groups(*this);
    for_each_group(this->stored(), [&](const auto& group, Offset first_slot) {
        const WalkedArrays where{array_number(this->stored(), this->values),
                                 array_number(this->stored(), this->column_indices)};
        for_each_stored_slot(
            walked<StaircaseRows>(group), where,
            [&](const Slot&, Offset place, Offset k) {
                const Offset row = group.first_row + place;
                if (place >= group.rows || row_offsets[row] + k >= row_offsets[row + 1]) return Offset{-1};
                return row_offsets[row] + k;
            },
            [&](Slot slot) {
                slot.index += first_slot;
                slot.column_index += first_slot;
                visit(slot);
            });
    });
}

LayoutEntry staircase_sell_entry() {
    return format<StaircaseSellLayout>(
               {.summary = "sliced ELL over rows of ascending length, in groups of one width each: no slice needs a pointer",
                .source = "Wikberg, 'Unstructured Mesh FVM with GPU' (2025), section 4.3, algorithm 4",
                .examples = {std::string(example)},
                .parameters = {integer_parameter(
                    "slice_height", by_default(512), between(1, 65536, "rows"),
                    "rows stored together, and on a GPU a block of threads if it is a multiple of 32 up to "
                    "1024; use that of the stage length_groups, or groups are padded to it")},
                .needs = [](const Parameters&) { return Needs{.cuts = {CutKind::length_group}, .unsplit = true}; },
                .rows_of_share = RowsOfShare::all,
                .storage_sizes = storage_sizes,
                .predict = predict_staircase_sell},
               fill)
        .host<StaircaseSlices>("groups", "group after group, its slices in parallel, the rows of a slice side by side")
        .cuda<StaircaseStreams>("streams",
                                "one thread per row, each group a launch on a stream of its own, forked and joined by events",
                                walk_groups)
        .cuda<StaircaseGraph>("graph", "the same launches, replayed as one CUDA graph", walk_groups)
        .with_cuda<staircase_sell_cusparse_kernels>();
}

}  // namespace workbench
