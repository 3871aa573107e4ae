#include <fmt/format.h>

#include <algorithm>

#include "core/contract/errors.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/schemes/add_triplets.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/hyb/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[[stage]]
use = "split"
by = "first_k"
k = 2

[layout]
use = "hyb"
)";

void require_no_other_share(const StagedMatrix& staged, const Share& first, const Share& rest) {
    const std::size_t split = first.entries.size() + rest.entries.size();
    if (split == staged.matrix.values.size()) return;
    throw Unsuitable(fmt::format("the shares 'first' and 'rest' hold {} of {} nonzeros, but HYB stores no other share", split,
                                 staged.matrix.values.size()));
}

bool are_all_rows_in_order(const HostArray<Index>& rows, Index row_count) {
    return static_cast<Index>(rows.size()) == row_count && std::is_sorted(rows.begin(), rows.end());
}

constexpr auto fill = []<ValueType Value>(HybLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const Share& first = *staged.find_share({ShareKind::first});
    const Share& rest = *staged.find_share({ShareKind::rest});
    require_no_other_share(staged, first, rest);
    layout.first = build_ell<Value>(matrix, ShareView(first), EllOrder::column_major, parameters.real("slots_per_nonzero"));
    if (!are_all_rows_in_order(first.rows, matrix.rows)) layout.first_rows = first.rows;
    layout.first_origin = Origin(ShareView(first));
    layout.rest_origin = entries_of(ShareView(rest));
    layout.rest = build_triplets<Value>(matrix, ShareView(rest));
};

template <ValueType Value>
class HybRows final : public Kernel<Value> {
public:
    explicit HybRows(const HybLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate && !layout_.first_has_all_rows()) std::fill_n(y, layout_.row_count, Value{0});
        multiply_on_host<HybFirst, Value>(view_of(layout_.stored()), {x, y, accumulate});
        add_triplets(layout_.rest, x, y);
    }

private:
    const HybLayout<Value>& layout_;
};

LayoutCost predict_hyb(const PatternForecast& pattern, const Parameters&, Precision precision) {
    const PatternForecast& first = pattern.share(ShareKind::first);
    const PatternForecast& rest = pattern.share(ShareKind::rest);
    const std::int64_t value = value_bytes(precision);
    const Offset slots = first.longest_row() * first.rows();
    const std::int64_t rows = first.rows() == pattern.rows() ? 0 : first.rows() * index_bytes;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots + rest.nonzeros(),
                                     slots * (index_bytes + value) + rest.nonzeros() * (2 * index_bytes + value) + rows, 1.1);
    cost.exact = true;  // in any order
    cost.launches = 2;
    cost.chain = first.longest_row();
    return cost;
}

}  // namespace

template <ValueType Value>
void HybLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_as_many_rows(this->rest);
    for_each_stored_slot<HybFirst>(this->stored(), nonzeros_of(first_origin), visit);
    for_each_stored_slot<HybRest>(
        this->stored(), [&](const Slot&, Offset stored, Offset) { return rest_origin[stored]; }, visit);
}

LayoutEntry hyb_entry() {
    return format<HybLayout>(
               {.summary = "ELL for the first nonzeros of each row, a coordinate list for the rest of the longer rows",
                .source =
                    "Bell and Garland, 'Implementing sparse matrix-vector multiplication on throughput-oriented processors' "
                    "(2009)",
                .examples = {std::string(example)},
                .parameters = {slots_per_nonzero_parameter(10)},
                .needs =
                    [](const Parameters&) {
                        return Needs{.shares = {{ShareKind::first}, {ShareKind::rest}}};
                    },
                .predict = predict_hyb},
               fill)
        .host<HybRows>("rows", "blocks of rows in parallel, then runs of the rest, added atomically")
        .vectors<HybFirst, HybRest>()
        .cuda<HybSegmented, HybFirst, HybRest>(
            "segmented",
            "one thread per row, then one thread per nonzero of the rest; a warp sums up each of its rows before it adds")
        .vectors_on_gpu<HybFirst, HybRest>()
        .cuda<HybAtomic, HybFirst, HybRest>(
            "atomic", "one thread per row, then one thread per nonzero of the rest, which adds atomically");
}

}  // namespace workbench
