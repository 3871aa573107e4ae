#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/offsets.hpp"
#include "kernels/common/value_range.hpp"
#include "kernels/ehyb/layout.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

constexpr Index warp = 32;

constexpr std::string_view drawing = R"(
with the partitions {0, 1, 2} and {3, 4, 5}; a dot is padding: value 0, column 0.
A slice has 32 lanes; lanes 3 to 31 have no row here and are left out of the picture.

partition_rows          0 3 6
partition_columns       0 3 6

inside_group_slices     0 1 2
inside_slice_offsets    0 96 160

                        partition 0               partition 1
inside_values           1 4 7 | 2 5 . | 3 . .     8 11 13 | 9 12 .
inside_columns          0 1 2 | 1 2 . | 2 . .     0 1 2 | 2 2 .

outside_rows            1 4
outside_slice_offsets   0 32
outside_values          6 10
outside_columns         4 0
)";

/// Everything that must hold before anything is built; the shares and the partition are there, the recipe checker saw to that.
void require_suitable(const StagedMatrix& staged, const Cuts& partition, bool narrow_columns) {
    const Share& inside = *staged.find_share({ShareKind::inside});
    const Share& outside = *staged.find_share({ShareKind::outside});
    const std::size_t split = inside.entries.size() + outside.entries.size();
    if (split != staged.matrix.values.size()) {
        throw Unsuitable(fmt::format("the shares 'inside' and 'outside' hold {} of {} nonzeros, but EHYB stores no other share",
                                     split, staged.matrix.values.size()));
    }
    if (!std::is_sorted(inside.rows.begin(), inside.rows.end())) {
        throw Unsuitable(
            "the rows of share 'inside' are stored in an order of their own, but EHYB stores them in the order of the matrix: "
            "use row_sort with within = \"partition\" instead of share = \"inside\"");
    }
    constexpr Index most = 65536;
    for (Index piece = 0; narrow_columns && piece < partition.count(); ++piece) {
        if (partition.size(piece) <= most) continue;
        throw Unsuitable(
            fmt::format("partition {} has {} columns, but columns of 16 bits reach {}: raise parts of "
                        "metis_partition, or set column_index = \"u32\"",
                        piece, partition.size(piece), most));
    }
}

/// Where each row of the matrix is stored in a share; -1: nowhere. [rows]
std::vector<Index> stored_of_row(const Share& share, Index rows) {
    std::vector<Index> stored(rows, -1);
    for (Index i = 0; i < static_cast<Index>(share.rows.size()); ++i) stored[share.rows[i]] = i;
    return stored;
}

/// Section 3.2 and Algorithm 2, with two corrections: line 7 must store the column relative to its partition, as section 3.4
/// says, and line 14 must index by ER_idx. Partitions need not be of equal size, as Algorithm 1, line 18 takes them to be.
template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const Cuts& partition = *staged.find_cuts(CutKind::partition);
    const bool narrow_columns = parameters.text("column_index") == "u16";
    require_suitable(staged, partition, narrow_columns);
    require_values_in_range<Value>(matrix);

    auto layout = std::make_unique<EhybLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    layout->partition_rows = partition.boundaries;
    layout->partition_columns = partition.boundaries;

    const Share& inside = *staged.find_share({ShareKind::inside});
    const SlicePlan inside_plan{.slice_height = warp,
                                .group_places = partition.boundaries,
                                .column_bounds = partition.boundaries,
                                .stored_rows = stored_of_row(inside, matrix.rows)};
    if (narrow_columns) {
        layout->inside = build_slices<Value, std::uint16_t>(matrix, ShareView(inside), inside_plan);
    } else {
        layout->inside = build_slices<Value, Index>(matrix, ShareView(inside), inside_plan);
    }

    const Share& outside = *staged.find_share({ShareKind::outside});
    const SlicePlan outside_plan{.slice_height = warp,
                                 .group_places = {0, static_cast<Index>(outside.rows.size())},
                                 .column_bounds = {0, matrix.columns}};
    layout->outside = build_slices<Value, Index>(matrix, ShareView(outside), outside_plan);
    layout->outside_rows = outside.rows;
    return layout;
}

/// The partition tiles both axes.
template <ValueType Value>
void require_sound_partition(const EhybLayout<Value>& layout) {
    if (!tiles(layout.partition_rows, layout.row_count) || !tiles(layout.partition_columns, layout.column_count)) {
        throw std::logic_error("ehyb: the partition does not tile the rows and columns");
    }
}

// Numbers in EhybLayout::arrays().
enum ArrayNumber { inside_columns = 4, inside_values = 5, outside_columns = 8, outside_values = 9 };

}  // namespace

template <ValueType Value>
std::vector<LayoutArray> EhybLayout<Value>::arrays() const {
    return std::visit(
        [&](const auto& slices) -> std::vector<LayoutArray> {
            return {layout_array("partition_rows", ArrayRole::structure, partition_rows),
                    layout_array("partition_columns", ArrayRole::structure, partition_columns),
                    layout_array("inside_group_slices", ArrayRole::structure, slices.group_slices),
                    layout_array("inside_slice_offsets", ArrayRole::structure, slices.slice_offsets),
                    layout_array("inside_columns", ArrayRole::column, slices.columns),
                    layout_array("inside_values", ArrayRole::value, slices.values),
                    layout_array("outside_rows", ArrayRole::structure, outside_rows),
                    layout_array("outside_slice_offsets", ArrayRole::structure, outside.slice_offsets),
                    layout_array("outside_columns", ArrayRole::column, outside.columns),
                    layout_array("outside_values", ArrayRole::value, outside.values)};
        },
        inside);
}

template <ValueType Value>
void EhybLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_partition(*this);
    const auto row_inside = [&](Index partition, Offset place) {
        const Offset row = partition_rows[partition] + place;
        return row < partition_rows[partition + 1] ? static_cast<Index>(row) : -1;
    };
    const auto row_outside = [&](Index, Offset place) {
        return place < static_cast<Offset>(outside_rows.size()) ? outside_rows[place] : -1;
    };
    std::visit(
        [&](const auto& slices) {
            workbench::for_each_slot(slices,
                                     {.value_array = inside_values,
                                      .column_array = inside_columns,
                                      .column_bounds = partition_columns,
                                      .row = row_inside},
                                     visit);
            const std::array<Index, 2> all_columns{0, column_count};
            workbench::for_each_slot(outside,
                                     {.value_array = outside_values,
                                      .column_array = outside_columns,
                                      .first_warp = warp_count(slices),
                                      .column_bounds = all_columns,
                                      .row = row_outside},
                                     visit);
        },
        inside);
}

template struct EhybLayout<float>;
template struct EhybLayout<double>;

LayoutEntry ehyb_entry() {
    LayoutEntry entry{
        .name = "ehyb",
        .summary = "sliced ELL by partition, columns local to it and x cached, and extra rows for what lies outside",
        .source = "Chen, 'Explicit caching HYB: a new high-performance SpMV framework on GPGPU', sections 3.2 and 3.4",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = {{.name = "column_index",
                        .type = ParameterType::choice,
                        .default_value = std::string("u16"),
                        .words = {"u16", "u32"},
                        .help = "columns inside the partition: 16 bits, for up to 65536 columns a partition, or 32"}},
        .needs =
            [](const Parameters&) {
                return Needs{
                    .square = true, .cuts = {CutKind::partition}, .shares = {{ShareKind::inside}, {ShareKind::outside}}};
            },
        .build = {build<float>, build<double>},
        .kernels = ehyb_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(ehyb_cuda_kernels());
    return entry;
}

}  // namespace workbench
