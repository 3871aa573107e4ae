#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/ell/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view column_major_example = R"(
[layout]
use = "ell"
)";

constexpr std::string_view row_major_example = R"(
[layout]
use = "ell"
order = "row_major"
)";

constexpr auto fill = []<ValueType Value>(EllLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const ShareView rows(staged.matrix);
    const EllOrder order = parameters.text("order") == "row_major" ? EllOrder::row_major : EllOrder::column_major;
    layout.origin = Origin(rows);
    fill_in_coding<Value>(layout, staged.matrix, parameters, [&](auto& arrays) {
        Ell<Value, HostArray> ell = build_ell<Value>(staged.matrix, rows, order, parameters.real("slots_per_nonzero"));
        static_cast<EllColumns<HostArray>&>(arrays) = std::move(ell);
        return std::move(ell.values);
    });
};

LayoutCost predict_ell(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset slots = pattern.longest_row() * pattern.rows();
    LayoutCost cost =
        cost_of_arrays(pattern, precision, slots, slots * (index_bytes + bytes_of_values(parameters, precision)), 1.05);
    cost.exact = !has_dictionary(parameters);  // in any order
    refuse_slots(cost, parameters, pattern.nonzeros());
    return cost;
}

std::optional<DeviceStorage> on_device(const Parameters& parameters) {
    const auto values = values_on_device(parameters);
    if (!values) return std::nullopt;
    return PaddedRows{.row_major = parameters.text("order") == "row_major",
                      .with_lengths = false,
                      .slots_per_nonzero = parameters.real("slots_per_nonzero"),
                      .values = *values};
}

}  // namespace

LayoutEntry ell_entry() {
    return format<EllLayout>(
               {.summary = "ELL: every row padded to the longest one, stored column by column or row by row",
                .source =
                    "Kincaid, Oppe and Young, 'ITPACKV 2D user's guide' (1989); kernels after Wikberg, 'Unstructured mesh FVM "
                    "with GPU' (2025), section 4.2.3",
                .examples = {std::string(column_major_example), std::string(row_major_example)},
                .parameters = {{.name = "order",
                                .type = ParameterType::choice,
                                .default_value = "column_major",
                                .words = {"column_major", "row_major"},
                                .help = "which slots are neighbours: the k-th of all rows, or those of one row"},
                               slots_per_nonzero_parameter(10),
                               any_coding_parameter()},
                .settle = settle_any_coding,
                .storage_sizes = ell_storage_sizes,
                .predict = predict_ell,
                .on_device = on_device,
                .kernel_on_device = "rows"},
               fill)
        .host<EllRow>("rows", "blocks of rows in parallel, all slots of a row")
        .cuda<EllRow>("rows", "one thread per row")
        .cuda<EllReduction, EllReduce>("reduce",
                                       "several threads per row, by the width, whose sums meet in shared memory or by shuffles")
        .cuda<EllEachSlot>("atomic", "one thread per slot, which adds to y atomically");
}

}  // namespace workbench
