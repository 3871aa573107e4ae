#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/jds/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[[stage]]
use = "row_sort"
apply = "rows"

[layout]
use = "jds"
)";

constexpr auto fill = []<ValueType Value>(JdsLayout<Value>& layout, const StagedMatrix& staged, const Parameters&) {
    const CsrMatrix& matrix = staged.matrix;
    const ShareView rows(matrix);
    require_descending(
        rows, {.requirement = "jagged diagonals need rows in descending length", .stage = "row_sort with apply = \"rows\""});
    static_cast<Jagged<Value, Index, HostArray>&>(layout) =
        build_jagged<Value, Index>(matrix, rows, {{0, matrix.rows}, {0, matrix.columns}});
    layout.origin = Origin(rows);
};

LayoutCost predict_jds(const PatternForecast& pattern, const Parameters&, Precision precision) {
    constexpr Offset cost_of_step = 3;  // each also loads the offset of a diagonal
    const Offset nonzeros = pattern.nonzeros();
    const std::int64_t bytes = (pattern.longest_row() + 1) * offset_bytes + nonzeros * (index_bytes + value_bytes(precision));
    LayoutCost cost = cost_of_arrays(pattern, precision, nonzeros, bytes, 0.95);
    cost.exact = true;  // in any order
    cost.chain = cost_of_step * pattern.longest_row();
    return cost;
}

}  // namespace

template <ValueType Value>
void JdsLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_diagonals(this->diagonal_offsets, {0, this->diagonal_count()}, {0, this->row_count}, this->values.size());
    for_each_stored_slot<JdsRows>(this->stored(), nonzeros_of_jagged(origin), visit);
}

LayoutEntry jds_entry() {
    return format<JdsLayout>(
               {.summary =
                    "jagged diagonals: of rows in descending length the first entries, then the second ones, without padding",
                .source = "Saad, 'Krylov subspace methods on supercomputers' (1989)",
                .examples = {std::string(example)},
                .predict = predict_jds},
               fill)
        .host<JdsRows>("rows", "blocks of rows in parallel, diagonal by diagonal")
        .cuda<JdsStreaming, JdsRows>("streaming",
                                     "one thread per row; streaming loads of the matrix, offsets of the diagonals through L1")
        .vectors_on_gpu<JdsRows>()
        .cuda<JdsConstant, JdsRows>(
            "constant",
            "one thread per row; streaming loads of the matrix, offsets of the diagonals in constant memory if they fit")
        .cuda<JdsUncached, JdsRows>(
            "uncached",
            "as in the slides: ld.global.cv for the matrix, st.global.cs for y, offsets in constant memory if they fit");
}

}  // namespace workbench
