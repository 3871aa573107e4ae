#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "kernels/common/refusal/slot_bound.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/walk.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/dia/layout.hpp"
#include "pipeline/matrix/host_array.hpp"

namespace workbench {
namespace {

constexpr int row_chunk = 256;  // rows that a thread of the host takes at a time

/// The offsets of the diagonals that hold a nonzero, ascending.
HostArray<Index> find_diagonals(const CsrMatrix& matrix) {
    const std::int64_t before_main = std::max<std::int64_t>(matrix.rows, 1) - 1;  // diagonals below the main one
    std::vector<unsigned char> used(std::size_t(matrix.rows) + std::size_t(matrix.columns), 0);
    for_each_in_parallel(matrix.rows, row_chunk, [&](std::int64_t row) {
        for (const Index column : matrix.row_columns(static_cast<Index>(row))) {
            const std::atomic_ref<unsigned char> mark(used[before_main + column - row]);
            if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
        }
    });
    HostArray<Index> offsets;
    for (std::size_t diagonal = 0; diagonal < used.size(); ++diagonal) {
        if (used[diagonal] != 0) offsets.push_back(static_cast<Index>(static_cast<std::int64_t>(diagonal) - before_main));
    }
    return offsets;
}

template <ValueType Value>
void fill(DiaLayout<Value>& layout, const CsrMatrix& matrix) {
    for_each_in_parallel(matrix.rows, row_chunk, [&](std::int64_t row) {
        auto diagonal = layout.offsets.begin();
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            diagonal = std::lower_bound(diagonal, layout.offsets.end(), matrix.column_indices[k] - row);
            layout.values[(diagonal - layout.offsets.begin()) * matrix.rows + row] = static_cast<Value>(matrix.values[k]);
        }
    });
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    auto layout = std::make_unique<DiaLayout<Value>>();
    layout->nonzero_count = matrix.nonzeros();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->offsets = find_diagonals(matrix);
    const std::size_t diagonals = layout->offsets.size();
    require_bounded_slots(fmt::format("{} diagonals of {} rows", diagonals, matrix.rows),
                          static_cast<double>(diagonals) * static_cast<double>(matrix.rows), matrix.nonzeros(), sizeof(Value),
                          {parameters.real("slots_per_nonzero"),
                           "an order with fewer diagonals has fewer (natural on a grid), and slots_per_nonzero allows more"});
    make_zeros(layout->values, diagonals * std::size_t(matrix.rows));
    layout->pattern = Pattern(matrix);
    fill(*layout, matrix);
    return layout;
}

}  // namespace

template <ValueType Value>
std::int64_t DiaLayout<Value>::bytes_of_product() const {
    Offset inside = 0;
    for (const Index offset : this->offsets) {
        const Offset first_row = std::max(Offset{0}, -Offset{offset});
        const Offset end_row = std::min(Offset{this->row_count}, Offset{this->column_count} - offset);
        inside += std::max(end_row - first_row, Offset{0});
    }
    const Offset outside = static_cast<Offset>(this->values.size()) - inside;
    return this->bytes_to_move() - outside * static_cast<std::int64_t>(sizeof(Value));
}

template <ValueType Value>
void DiaLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    PatternWalk walk(pattern);
    for_each_stored_slot<DiaRows>(
        this->stored(), WalkedArrays::of<DiaRows>(this->stored()),
        [&](Offset row, Offset k) {
            const Index column = DiaRows::column(*this, DiaRows::run(*this, row), RunSlot{k, 0}, PlainLoad{});
            return walk.nonzero_at(static_cast<Index>(row), column);
        },
        visit);
}

template struct DiaLayout<float>;
template struct DiaLayout<double>;

LayoutEntry dia_entry() {
    LayoutEntry entry{
        .name = "dia",
        .summary = "diagonals: every diagonal that holds a nonzero is stored whole, without columns",
        .source = "Saad, 'SPARSKIT' (1990); Bell and Garland, 'Efficient sparse matrix-vector multiplication on CUDA' (2008)",
        .parameters = {slots_per_nonzero_parameter(4)},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .rows_of_share = RowsOfShare::all,
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<DiaLayout>(),
        .fields = field_lists_of<DiaLayout>(),
        .schedules = {schedule_of<DiaLayout, DiaRows>("rows")},
        .kernels = dia_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(dia_cuda_kernels());
    return entry;
}

}  // namespace workbench
