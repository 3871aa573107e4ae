#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "kernels/biell/layout.hpp"
#include "kernels/common/descending_rows.hpp"
#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/host_loops.hpp"
#include "kernels/common/offsets.hpp"
#include "kernels/common/slices.hpp"
#include "kernels/common/slot_bound.hpp"
#include "kernels/common/value_range.hpp"

namespace workbench {
namespace {

constexpr int strip_chunk = 8;  // strips that a thread of the host takes at a time

constexpr std::string_view biell_drawing = R"(
with strip_height = 4, after row_sort within windows of 4 rows: the rows 0 1 3 2 and 4 5 of the matrix.
A group is steps of 4 lanes; 4, then 2, then 1 of the strip's rows take part in it. A dot is padding: value 0, column 0

group_offsets    0 8 12 12 12 16 20

                 rows 0 1 3 2              rows 4 5
                 group 0         group 1   group 1      group 2
values           1 4 8 7 | 2 5 9 .   3 6 . .   10 13 11 .   12 . . .
column_indices   0 1 3 2 | 1 2 5 .   2 4 . .   0 5 4 .      5 . . .
)";

constexpr std::string_view bijad_drawing = R"(
with strip_height = 4, after row_sort: the rows 0 1 4 3 and 2 5 of the matrix.
A group is steps of 4 lanes; 4, then 2, then 1 of the strip's rows take part in it. A dot is padding: value 0, column 0

group_offsets    0 12 12 12 12 16 16

                 rows 0 1 4 3                      rows 2 5
                 group 0                           group 1
values           1 4 10 8 | 2 5 11 9 | 3 6 12 .   7 13 . .
column_indices   0 1 0 3 | 1 2 4 5 | 2 4 5 .      2 5 . .
)";

/// Widths of all groups, as offsets of slots.
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

/// Calls visit(slot) for the slots of a strip in the order of memory, with everything but the column filled in. The step is
/// that of a kernel which takes the last group first.
template <ValueType Value, typename Visit>
void walk_strip(const BiellLayout<Value>& layout, Index strip, const Visit& visit) {
    const Offset first_row = Offset{strip} * layout.strip_height;
    const Offset first_group = Offset{strip} * layout.group_count();
    const Offset end_slot = layout.group_offsets[first_group + layout.group_count()];
    Offset stored = 0;
    Slot slot{.array = 2, .column_array = 1, .index = layout.group_offsets[first_group]};
    for (int group = 0; group < layout.group_count(); ++group) {
        const Index shares = Index{1} << group;
        const Index rows_of_group = layout.strip_height >> group;
        const Offset width = layout.width(first_group + group);
        const Offset steps_before = (end_slot - layout.group_offsets[first_group + group + 1]) / layout.strip_height;
        for (Offset k = 0; k < width; ++k) {
            slot.step = steps_before + k;
            for (Index lane = 0; lane < layout.strip_height; ++lane, ++slot.index) {
                const Offset row = first_row + lane % rows_of_group;
                const Offset entry = stored + k * shares + lane / rows_of_group;
                const bool exists = row < layout.row_count;
                const bool filled = exists && entry < layout.row_offsets[row + 1] - layout.row_offsets[row];
                slot.column_index = slot.index;
                slot.row = exists ? static_cast<Index>(row) : -1;
                slot.nonzero = filled ? layout.row_offsets[row] + entry : -1;
                slot.warp = (first_row + lane) / 32;
                slot.lane = static_cast<int>((first_row + lane) % 32);
                visit(slot);
            }
        }
        stored += width * shares;
    }
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> bisect(const CsrMatrix& matrix, Index strip_height) {
    auto layout = std::make_unique<BiellLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->strip_height = strip_height;
    layout->row_offsets = matrix.row_offsets;
    measure(*layout);
    const Offset slots = layout->group_offsets.back();
    constexpr double any = std::numeric_limits<double>::infinity();  // halving bounds the padding, memory bounds the slots
    require_bounded_slots(fmt::format("strips of {} rows", strip_height), static_cast<double>(slots), matrix.nonzeros(),
                          sizeof(Value) + sizeof(Index), {any, "all rows sorted by length (row_sort) need fewer"});
    layout->column_indices.assign(slots, 0);
    layout->values.assign(slots, 0);
    for_each_in_parallel(layout->strip_count(), strip_chunk, [&](std::int64_t strip) {
        walk_strip(*layout, static_cast<Index>(strip), [&](const Slot& slot) {
            if (slot.nonzero < 0) return;
            layout->column_indices[slot.index] = matrix.column_indices[slot.nonzero];
            layout->values[slot.index] = static_cast<Value>(matrix.values[slot.nonzero]);
        });
    });
    return layout;
}

Index strip_height_of(const Parameters& parameters) { return static_cast<Index>(parameters.integer("strip_height")); }

template <ValueType Value>
std::unique_ptr<Layout<Value>> build_biell(const StagedMatrix& staged, const Parameters& parameters) {
    require_values_in_range<Value>(staged.matrix);
    const Index height = strip_height_of(parameters);
    require_descending(ShareView(staged.matrix),
                       {.wish = fmt::format("BiELL needs the rows of each strip of {} in descending length", height),
                        .stage = fmt::format("row_sort with within = \"window\", window = {} and apply = \"rows\"", height),
                        .window = height});
    return bisect<Value>(staged.matrix, height);
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build_bijad(const StagedMatrix& staged, const Parameters& parameters) {
    require_values_in_range<Value>(staged.matrix);
    require_descending(ShareView(staged.matrix),
                       {.wish = "BiJAD needs all rows in descending length", .stage = "row_sort with apply = \"rows\""});
    return bisect<Value>(staged.matrix, strip_height_of(parameters));
}

template <ValueType Value>
void require_sound_offsets(const BiellLayout<Value>& layout) {
    const std::vector<Offset>& offsets = layout.group_offsets;
    const bool sound =
        tiles(offsets, layout.values.size()) && layout.column_indices.size() == layout.values.size() &&
        std::all_of(offsets.begin(), offsets.end(), [&](Offset offset) { return offset % layout.strip_height == 0; });
    if (!sound) throw std::logic_error("biell: the offsets do not tile the arrays");
}

Needs needs(const Parameters& parameters) {
    const auto height = static_cast<std::uint64_t>(parameters.integer("strip_height"));
    if (!std::has_single_bit(height)) {
        throw ParameterError("strip_height",
                             fmt::format("a strip of {} rows cannot be halved down to one: expected a power of two", height));
    }
    return {.unsplit = true};
}

std::vector<ParameterDeclaration> parameters() {
    return {{.name = "strip_height",
             .type = ParameterType::integer,
             .default_value = std::int64_t{32},
             .minimum = 2,
             .maximum = 32,
             .unit = "rows",
             .help = "rows bisected together, a power of two; 32 is a warp"}};
}

/// Both layouts are one storage; they differ in the order of rows that they ask for.
LayoutEntry bisected(std::string name, std::string summary, std::string_view drawing,
                     const ForEachPrecision<BuildLayout>& build) {
    LayoutEntry entry{
        .name = std::move(name),
        .summary = std::move(summary),
        .source =
            "Zheng, Gu, Gu, Yang and Liu, 'BiELL: a bisection ELLPACK-based storage format for optimizing SpMV on GPUs' "
            "(2014)",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = parameters(),
        .needs = needs,
        .build = build,
        .kernels = biell_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(biell_cuda_kernels());
    return entry;
}

}  // namespace

template <ValueType Value>
int BiellLayout<Value>::group_count() const {
    return std::bit_width(static_cast<std::uint32_t>(strip_height));
}

template <ValueType Value>
std::vector<LayoutArray> BiellLayout<Value>::arrays() const {
    return {layout_array("group_offsets", ArrayRole::structure, group_offsets),
            layout_array("column_indices", ArrayRole::column, column_indices),
            layout_array("values", ArrayRole::value, values)};
}

template <ValueType Value>
void BiellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_offsets(*this);
    for (Index strip = 0; strip < strip_count(); ++strip) {
        walk_strip(*this, strip, [&](Slot slot) {
            slot.column = column_indices[slot.index];
            if (slot.column < 0 || slot.column >= column_count) {
                throw std::logic_error(fmt::format("biell: slot {} reads a column that does not exist", slot.index));
            }
            visit(slot);
        });
    }
}

template struct BiellLayout<float>;
template struct BiellLayout<double>;

LayoutEntry biell_entry() {
    return bisected("biell",
                    "bisected ELL: strips as high as a warp, whose lanes share the longer rows once the shorter ones are done",
                    biell_drawing, {build_biell<float>, build_biell<double>});
}

LayoutEntry bijad_entry() {
    return bisected("bijad", "bisected ELL with all rows in descending length, not only those of a strip", bijad_drawing,
                    {build_bijad<float>, build_bijad<double>});
}

}  // namespace workbench
