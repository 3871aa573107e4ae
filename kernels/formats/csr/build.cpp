#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/csr/adaptive.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr/merge_path.hpp"

namespace workbench {
namespace {

/// Stores one value for each row or column, or one for all.
template <ValueType Value>
void store_line_values(CsrPattern<Value, HostArray>& csr, const CsrMatrix& matrix, const Parameters& parameters) {
    csr.values = {1, matrix.nonzeros()};
    if (parameters.is_word("values", "by_row")) {
        csr.row_values = values_of_rows<Value>(matrix);
    } else if (parameters.is_word("values", "by_column")) {
        csr.column_values = values_of_columns<Value>(matrix);
    } else {
        csr.values.value = only_value<Value>(matrix);
    }
}

constexpr auto fill = []<ValueType Value>(CsrLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const bool in_f32 = parameters.is_word("values", "f32");
    if (parameters.is_word("values", "dictionary")) {
        layout.stored.template emplace<coding::codes>();
    } else if (codes_values(parameters) && !in_f32) {
        store_line_values(layout.stored.template emplace<coding::one>(), matrix, parameters);
    } else if constexpr (std::is_same_v<Value, double>) {
        if (in_f32) layout.stored.template emplace<coding::f32>();
    }
    with_alternative(layout.stored, [&](auto& csr) {
        csr.row_count = matrix.rows;
        csr.column_count = matrix.columns;
        csr.row_offsets = matrix.row_offsets;
        make_copy(csr.column_indices, matrix.column_indices);
        if constexpr (!HasLineValues<decltype(csr)>) {
            HostArray<Value> values;
            make_copy(values, matrix.values);
            store_values(csr.values, std::move(values), matrix);
        }
    });
};

Parameters settle(const Parameters& parameters, const ValueFacts& facts) {
    return settle_values(parameters, facts, {.most_distinct = most_values_of_bytes, .f32 = true, .lines = true});
}

template <typename Shape>
void walk_tile(const auto& csr, const RowTile& tile, Offset number, const auto& visit) {
    const int array = array_number(csr, csr.values);
    const Offset end = tile.first + tile.nonzeros;
    std::int64_t step = 0;
    for (Offset round = aligned_down(tile.first); round < end; round += Shape::capacity) {
        for (int load = 0; load < Shape::loads; ++load) {
            for (int i = 0; i < Shape::width; ++i, ++step) {
                for (int lane = 0; lane < 32; ++lane) {
                    const Offset nonzero = round + Shape::place(load, lane) + i;
                    if (nonzero < tile.first || nonzero >= end) continue;
                    visit(read_of_nonzero(csr, array, nonzero, 32 * number + lane, step));
                }
            }
        }
    }
}

constexpr auto walk_tiles = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& csr) {
        with_tile_shape(csr, [&]<typename Shape>(Shape) {
            Offset number = 0;
            for (const RowTile& tile : cut_into_tiles(csr.row_offsets, Shape::capacity, Shape::limits).tiles) {
                walk_tile<Shape>(csr, tile, number++, visit);
            }
        });
    });
};

constexpr auto walk_merge_path = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& csr) {
        const MergeShares shares{csr.row_count, layout.nonzeros(), Merge::size};
        const auto first_nonzero = [&](Offset share) {
            return shares.begin(share) - shares.first_row(csr.row_offsets.data() + 1, share);
        };
        for (Offset share = 0; share < shares.count(); ++share) {
            walk_side_by_side<Merge>(csr, share, first_nonzero(share), first_nonzero(share + 1), visit);
        }
    });
};

constexpr auto compile_merge = []<ValueType Value>(const CsrLayout<Value>& layout, int vectors,
                                                   const std::string& architecture) {
    with_stored(layout, [&]<typename Stored>(const Stored&) {
        (void)compile_instance(merge_instance<InStorage<Stored, ArrayView>, Value>(vectors), architecture);
    });
};

LayoutCost predict_csr(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset nonzeros = pattern.nonzeros();
    const Index values_of_lines = parameters.is_word("values", "by_row")      ? pattern.rows()
                                  : parameters.is_word("values", "by_column") ? pattern.columns()
                                                                              : 0;
    const std::int64_t bytes = (Offset{pattern.rows()} + 1) * offset_bytes +
                               nonzeros * (index_bytes + bytes_of_values(parameters, precision)) +
                               values_of_lines * value_bytes(precision);
    LayoutCost cost = cost_of_arrays(pattern, precision, nonzeros, bytes, 0.92);
    cost.exact = cost.exact && !has_dictionary(parameters);
    return cost;
}

std::optional<DeviceStorage> on_device(const Parameters& parameters) {
    return WholeRows{.short_columns = false, .values = values_on_device(parameters)};
}

}  // namespace

template <ValueType Value>
void CsrLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& csr) {
        for_each_stored_slot<CompressedRows<1>>(csr, nonzeros_of(csr.row_offsets, csr.values.size()), visit);
    });
}

template <ValueType Value>
std::vector<LayoutField> CsrLayout<Value>::fields() const {
    std::vector<LayoutField> fields = CsrStorage<Value>::fields();
    const auto* const csr = std::get_if<coding::one>(&this->stored);
    if (csr == nullptr || csr->row_values.size() + csr->column_values.size() == 0) return fields;
    LayoutField& values = fields[array_number(*csr, csr->values)];
    const bool by_row = csr->column_values.empty();
    const auto& of_lines = by_row ? csr->row_values : csr->column_values;
    values.type = by_row ? ElementType::i64 : ElementType::i32;
    values.data = by_row ? static_cast<const void*>(csr->row_offsets.data()) : csr->column_indices.data();
    values.dictionary = {of_lines.data(), element_type<Value>(), of_lines.size(), 0};
    return fields;
}

template <ValueType Value>
std::vector<std::pair<std::string, std::string>> CsrLayout<Value>::notes() const {
    return with_stored(*this, [](const auto& csr) {
        if constexpr (HasLineValues<decltype(csr)>) {
            if (!csr.row_values.empty()) return std::vector{std::pair<std::string, std::string>{"values", "one a row"}};
            if (!csr.column_values.empty()) return std::vector{std::pair<std::string, std::string>{"values", "one a column"}};
        }
        return notes_on_values(csr.values);
    });
}

template <ValueType Value>
const FullCsr<Value>& CsrLayout<Value>::full(const char* kernel) const {
    if (const auto* const csr = std::get_if<coding::full>(&this->stored)) return *csr;
    throw Unsuitable(fmt::format("{} reads values in full, but they are coded (expected values = \"full\")", kernel));
}

template struct CsrLayout<float>;
template struct CsrLayout<double>;

LayoutEntry csr_entry() {
    return format<CsrLayout>(
               {.summary = "compressed sparse rows: the nonzeros row by row",
                .source = "Tinney and Walker, 'Direct solutions of sparse network equations by optimally ordered "
                          "triangular factorization' (1967)",
                .parameters = {values_parameter({"full", "one", "by_row", "by_column", "dictionary", "f32", "auto"})},
                .settle = settle,
                .storage_sizes = csr_storage_sizes,
                .predict = predict_csr,
                .on_device = on_device,
                .kernel_on_device = "adaptive"},
               fill)
        .host<CompressedRows<1>>("rows", "rows in parallel, in chunks to the next idle thread")
        .with(csr_eigen_kernels())
        .cuda<CsrAdaptive>(
            "adaptive",
            "tiles of neighbouring rows, a warp each, through shared memory; long rows by a warp, a block or several",
            walk_tiles)
        .cuda<CsrMerge>("merge",
                        "equal shares of row ends and nonzeros (merge path), a block each; first a search for where they begin",
                        walk_merge_path)
        .compiled_for_vectors(compile_merge)
        .cuda<CsrVector>("vector", "2 to 32 threads per row, by the mean row length")
        .cuda<CompressedRows<1>>("scalar", "one thread per row")
        .with_cuda<csr_cusparse_kernels>();
}

}  // namespace workbench
