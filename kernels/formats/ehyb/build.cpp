#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/ehyb/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[[stage]]
use = "metis_partition"
parts = 2

[[stage]]
use = "row_sort"
within = "partition"
key = "nonzeros_inside_partition"

[[stage]]
use = "split"
by = "inside_partition"

[layout]
use = "ehyb"
)";

/// Throws Unsuitable. The shares and the partition exist: the recipe checker requires them.
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
            "the rows of share 'inside' are not stored in the order of the matrix, as EHYB requires: use row_sort with within "
            "= \"partition\" instead of share = \"inside\"");
    }
    if (narrow_columns) require_narrow(partition, "raise parts of metis_partition");
}

/// The stored row of each row of the matrix in a share; -1: none. [rows]
HostArray<Index> stored_of_row(const Share& share, Index rows) {
    HostArray<Index> stored(rows, -1);
    for (Index i = 0; i < static_cast<Index>(share.rows.size()); ++i) stored[share.rows[i]] = i;
    return stored;
}

/// Section 3.2 and Algorithm 2, with two corrections: line 7 must store the column relative to its partition, as in
/// section 3.4, and line 14 must index by ER_idx. Partitions may differ in size, unlike in Algorithm 1, line 18.
template <ValueType Value, typename ColumnIndex>
void build_shares(const StagedMatrix& staged, const Cuts& partition, EhybLayout<Value>& layout) {
    const CsrMatrix& matrix = staged.matrix;
    Ehyb<Value, ColumnIndex, HostArray> ehyb;
    ehyb.row_count = matrix.rows;
    ehyb.column_count = matrix.columns;
    make_copy(ehyb.partition_rows, partition.boundaries);
    make_copy(ehyb.partition_columns, partition.boundaries);

    const Share& inside = *staged.find_share({ShareKind::inside});
    const SlicePlan inside_plan{.slice_height = ehyb_height,
                                .group_places = partition.boundaries,
                                .column_bounds = partition.boundaries,
                                .stored_rows = stored_of_row(inside, matrix.rows)};
    ehyb.inside_group_slices = inside_plan.group_slices();
    ehyb.inside = build_slices<Value, ColumnIndex>(matrix, ShareView(inside), inside_plan);
    layout.inside_origin = Origin(ShareView(inside), inside_plan.lane_rows());

    const Share& outside = *staged.find_share({ShareKind::outside});
    const SlicePlan outside_plan{.slice_height = ehyb_height,
                                 .group_places = {0, static_cast<Index>(outside.rows.size())},
                                 .column_bounds = {0, matrix.columns}};
    ehyb.outside = build_slices<Value, Index>(matrix, ShareView(outside), outside_plan);
    ehyb.outside_rows = outside.rows;
    layout.outside_origin = Origin(ShareView(outside));
    layout.stored = std::move(ehyb);
}

constexpr auto fill = []<ValueType Value>(EhybLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const Cuts& partition = *staged.find_cuts(CutKind::partition);
    const bool narrow_columns = parameters.is_word("column_index", "u16");
    require_suitable(staged, partition, narrow_columns);
    const auto build = narrow_columns ? build_shares<Value, std::uint16_t> : build_shares<Value, Index>;
    build(staged, partition, layout);
};

/// The partition tiles both axes, and its slices those of the share inside.
void require_sound_partition(const auto& ehyb) {
    if (!tiles(ehyb.partition_rows, ehyb.row_count) || !tiles(ehyb.partition_columns, ehyb.column_count) ||
        !tiles(ehyb.inside_group_slices, ehyb.inside.slice_count()) ||
        ehyb.inside_group_slices.size() != ehyb.partition_rows.size() ||
        ehyb.partition_columns.size() != ehyb.partition_rows.size()) {
        throw std::logic_error("ehyb: the partition does not tile the rows, columns and slices");
    }
}

/// A thread block reads only the x of its partition.
void require_columns_inside(const auto& ehyb) {
    for (Index p = 0; p < ehyb.partition_count(); ++p) {
        const auto columns = static_cast<Offset>(ehyb.partition_columns[p + 1]) - ehyb.partition_columns[p];
        const auto first = ehyb.inside.column_indices.begin() + ehyb.inside.slice_offsets[ehyb.inside_group_slices[p]];
        const auto end = ehyb.inside.column_indices.begin() + ehyb.inside.slice_offsets[ehyb.inside_group_slices[p + 1]];
        if (std::any_of(first, end, [&](auto column) { return column < 0 || column >= columns; })) {
            throw std::logic_error("ehyb: a slot reads a column outside of its partition");
        }
    }
}

/// Inside slices in parallel, each with x addressed from its partition's first column, then the outside slices. Each of the two
/// writes a row at most once, so that threads cannot race.
template <ValueType Value>
class EhybPartitions final : public Kernel<Value> {
public:
    explicit EhybPartitions(const EhybLayout<Value>& layout)
        : layout_(layout), rows_without_inside_(layout.rows_without_inside()), before_(rows_without_inside_.size()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        with_stored(layout_, [&](const auto& stored) {
            const auto view = view_of(stored);
            for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = accumulate ? y[rows_without_inside_[i]] : 0;
            multiply_on_host<EhybInside, Value>(view, {x, y, accumulate});
            for (std::size_t i = 0; i < before_.size(); ++i) y[rows_without_inside_[i]] = before_[i];
            multiply_on_host<EhybOutside, Value>(view, {x, y, true});
        });
    }

private:
    const EhybLayout<Value>& layout_;
    std::vector<Index> rows_without_inside_;  // padding alone adds to them, perhaps NaN
    std::vector<Value> before_;               // y of these rows
};

LayoutCost predict_ehyb(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const PatternForecast& inside = pattern.share(ShareKind::inside);
    const PatternForecast& outside = pattern.share(ShareKind::outside);
    const std::int64_t value = value_bytes(precision);
    const std::int64_t column = parameters.is_word("column_index", "u16") ? short_bytes : index_bytes;
    const SlicesForecast slices = forecast_slices(inside, ehyb_height, column + value);
    const SlicesForecast rest = forecast_slices(outside, ehyb_height, index_bytes + value);
    LayoutCost cost = cost_of_arrays(pattern, precision, slices.slots + rest.slots,
                                     slices.bytes + rest.bytes + outside.rows() * index_bytes, 0.95);
    cost.exact = false;  // each partition begins a slice
    cost.sectors = outside.sectors(precision) + static_cast<double>(vector_sectors(pattern, precision));
    cost.chain = inside.longest_row() + outside.longest_row();
    return cost;
}

}  // namespace

template <ValueType Value>
std::vector<Index> EhybLayout<Value>::rows_without_inside() const {
    return with_stored(*this, [&](const auto& ehyb) {
        std::vector<Index> rows;
        for (Index lane = 0; lane < inside_origin.row_count(); ++lane) {
            if (inside_origin.length(lane) > 0) continue;
            const Index row = EhybInside::run(ehyb, lane, PlainLoad{}).row;
            if (row >= 0) rows.push_back(row);
        }
        return rows;
    });
}

template <ValueType Value>
std::vector<Index> EhybLayout<Value>::rows_of_padding() const {
    std::vector<Index> rows = rows_without_inside();
    with_stored(*this, [&](const auto& ehyb) {
        std::vector<Index> outside(ehyb.outside_rows.begin(), ehyb.outside_rows.end());
        std::ranges::sort(outside);
        std::erase_if(rows, [&](Index row) { return std::ranges::binary_search(outside, row); });
    });
    return rows;
}

template <ValueType Value>
void EhybLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& ehyb) {
        require_sound_offsets(ehyb.inside);
        require_sound_offsets(ehyb.outside);
        require_sound_partition(ehyb);
        require_columns_inside(ehyb);
        for_each_stored_slot<EhybInside>(ehyb, nonzeros_of(inside_origin), visit);
        for_each_stored_slot<EhybOutside>(ehyb, nonzeros_of(outside_origin), visit);
    });
}

LayoutEntry ehyb_entry() {
    return format<EhybLayout>(
               {.summary = "sliced ELL by partition with local columns and cached x, and extra rows for entries outside",
                .source = "Chen, 'Explicit caching HYB: a new high-performance SpMV framework on GPGPU', sections 3.2 and 3.4",
                .examples = {std::string(example)},
                .parameters = {choice_parameter(
                    "column_index", by_default("u16"), {"u16", "u32"},
                    "columns inside the partition: 16 bits, for up to 65536 columns a partition, or 32")},
                .needs =
                    [](const Parameters&) {
                        return Needs{.square = true,
                                     .cuts = {CutKind::partition},
                                     .shares = {{ShareKind::inside}, {ShareKind::outside}}};
                    },
                .rows_of_share = RowsOfShare::all,
                .predict = predict_ehyb,
                .on_device = [](const Parameters& parameters) -> std::optional<DeviceStorage> {
                    return PartSlices{parameters.is_word("column_index", "u16")};
                },
                .kernel_on_device = "fused"},
               fill)
        .host<EhybPartitions>("partitions", "slices in parallel with x of their partition, then the rows outside")
        .vectors<EhybInside, EhybOutside>()
        .cuda<EhybFused, EhybInside, EhybOutside>("fused",
                                                  "one launch: a block per partition, then the outside rows; an atomic swap "
                                                  "combines a row's two shares (Algorithm 3)")
        .vectors_on_gpu<EhybInside, EhybOutside>()
        .cuda<EhybTwoLaunch, EhybInside, EhybOutside>("two_launch",
                                                      "one block per partition; a second launch adds the outside rows");
}

}  // namespace workbench
