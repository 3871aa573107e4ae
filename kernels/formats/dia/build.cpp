#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/dia/layout.hpp"

namespace workbench {
namespace {

constexpr std::int64_t rows_at_once = 1024;  // of a product: their part of y stays in the L1 cache

/// The offsets of the diagonals that hold a nonzero, ascending.
HostArray<Index> find_diagonals(const CsrMatrix& matrix) {
    const std::int64_t before_main = std::max<std::int64_t>(matrix.rows, 1) - 1;  // diagonals below the main one
    std::vector<unsigned char> used(std::size_t(matrix.rows) + std::size_t(matrix.columns), 0);
    for_each_in_parallel(matrix.rows, rows_of_chunk, [&](std::int64_t row) {
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
void fill_diagonals(DiaLayout<Value>& layout, const CsrMatrix& matrix) {
    for_each_in_parallel(matrix.rows, rows_of_chunk, [&](std::int64_t row) {
        auto diagonal = layout.offsets.begin();
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            diagonal = std::lower_bound(diagonal, layout.offsets.end(), matrix.column_indices[k] - row);
            layout.values[(diagonal - layout.offsets.begin()) * matrix.rows + row] = static_cast<Value>(matrix.values[k]);
        }
    });
}

constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    layout.offsets = find_diagonals(matrix);
    const std::size_t diagonals = layout.offsets.size();
    require_bounded_slots(fmt::format("{} diagonals of {} rows", diagonals, matrix.rows),
                          static_cast<double>(diagonals) * static_cast<double>(matrix.rows), matrix.nonzeros(),
                          sizeof(layout.values[0]),
                          {parameters.real("slots_per_nonzero"),
                           "an order with fewer diagonals has fewer (natural on a grid), and slots_per_nonzero allows more"});
    make_zeros(layout.values, diagonals * std::size_t(matrix.rows));
    layout.pattern = Pattern(matrix);
    fill_diagonals(layout, matrix);
};

template <ValueType Value>
class DiaDiagonals final : public Kernel<Value> {
public:
    explicit DiaDiagonals(const DiaLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const std::int64_t rows = layout_.row_count;
        const bool may_use_padding = !accumulate || is_finite_vector(x, layout_.column_count);
        for_each_in_parallel((rows + rows_at_once - 1) / rows_at_once, 1, [&](std::int64_t share) {
            const std::int64_t begin = share * rows_at_once;
            const std::int64_t end = std::min(begin + rows_at_once, rows);
            if (!may_use_padding) return add_nonzeros(begin, end, x, y);
            if (!accumulate) std::fill(y + begin, y + end, Value{0});
            const Value* values = layout_.values.data();
            for (const Index offset : layout_.offsets) {
                const std::int64_t first = std::max<std::int64_t>(begin, -std::int64_t{offset});
                const std::int64_t last = std::min<std::int64_t>(end, std::int64_t{layout_.column_count} - offset);
                for (std::int64_t row = first; row < last; ++row) y[row] += values[row] * x[row + offset];
                values += rows;
            }
            if (accumulate || are_finite(y + begin, end - begin)) return;
            std::fill(y + begin, y + end, Value{0});
            add_nonzeros(begin, end, x, y);
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    /// Adds the products of rows to y, without padding.
    [[gnu::cold, gnu::noinline]] void add_nonzeros(std::int64_t begin, std::int64_t end, const Value* x, Value* y) const {
        for (std::int64_t row = begin; row < end; ++row) {
            auto diagonal = layout_.offsets.begin();
            for (const Index column : layout_.pattern.columns_of(static_cast<Index>(row))) {
                diagonal = std::lower_bound(diagonal, layout_.offsets.end(), column - row);
                y[row] += layout_.values[(diagonal - layout_.offsets.begin()) * layout_.row_count + row] * x[column];
            }
        }
    }

    const DiaLayout<Value>& layout_;
};

LayoutCost predict_dia(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const auto [first, last, diagonals] = pattern.diagonals();
    const Offset slots = diagonals * pattern.rows();
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, diagonals * index_bytes + slots * value_bytes(precision), 1);
    cost.exact = pattern.is_exact();
    // At most: the places outside the matrix, which no kernel reads. The outermost diagonals have fewest places inside.
    const auto inside = [&](Offset diagonal) {
        const Offset end = std::min(Offset{pattern.rows()}, pattern.columns() - diagonal);
        return std::max(end - std::max(-diagonal, Offset{0}), Offset{0});
    };
    const Offset outside = pattern.rows() - std::min(inside(first), inside(last));
    cost.unread_bytes = diagonals * outside * value_bytes(precision);
    cost.sectors = static_cast<double>(diagonals) * static_cast<double>(vector_sectors(pattern, precision));
    refuse_slots(cost, parameters, pattern.nonzeros());
    return cost;
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

LayoutEntry dia_entry() {
    return format<DiaLayout>(
               {.summary = "diagonals: every diagonal that holds a nonzero is stored whole, without columns",
                .source =
                    "Saad, 'SPARSKIT' (1990); Bell and Garland, 'Efficient sparse matrix-vector multiplication on CUDA' (2008)",
                .parameters = {slots_per_nonzero_parameter(4)},
                .rows_of_share = RowsOfShare::all,
                .predict = predict_dia},
               fill)
        .host<DiaDiagonals>("rows", "chunks of rows in parallel, diagonal by diagonal")
        .vectors<DiaRows>()
        .cuda<DiaRows>("rows", "one thread per row, neighbouring threads read neighbouring values and neighbouring x");
}

// For cuda.cu.
template struct DiaLayout<float>;
template struct DiaLayout<double>;

}  // namespace workbench
