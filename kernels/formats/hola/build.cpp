#include <fmt/format.h>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/hola/layout.hpp"

namespace workbench {
namespace {

constexpr auto fill = []<ValueType Value>(HolaLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    if (codes_values(parameters)) {  // settled to "one"
        layout.stored.template emplace<Hola<Constant<Value>, HostArray>>().values = {only_value<Value>(matrix),
                                                                                     matrix.nonzeros()};
    } else {
        make_copy(std::get<Hola<Value, HostArray>>(layout.stored).values, matrix.values);
    }
    const auto store = [&](auto& hola) {
        hola.row_count = matrix.rows;
        hola.column_count = matrix.columns;
        hola.threads = static_cast<Index>(parameters.integer("threads"));
        hola.nonzeros_per_thread = static_cast<Index>(parameters.integer("nonzeros_per_thread"));
        hola.most_per_lane = static_cast<Index>(parameters.integer("most_per_lane"));
        hola.row_offsets = matrix.row_offsets;
        hola.first_rows = first_rows_of_shares(matrix.row_offsets, hola.nonzeros_per_share());
        make_copy(hola.column_indices, matrix.column_indices);
    };
    std::visit(store, layout.stored);
};

bool has_shape_of_equal_values(const Parameters& parameters) {
    return parameters.integer("threads") == hola_threads &&
           parameters.integer("nonzeros_per_thread") == hola_nonzeros_per_thread;
}

Parameters settle(const Parameters& parameters, const ValueFacts& facts) {
    if (!parameters.is_word("values", "auto") || has_shape_of_equal_values(parameters)) {
        return settle_equal_values(parameters, facts);
    }
    return parameters.with("values", std::string("full"));
}

Needs needs(const Parameters& parameters) {
    const std::int64_t threads = parameters.integer("threads");
    if (threads != 128 && threads != 256) throw ParameterError("threads", "a block has 128 or 256 threads");
    // An odd number spreads the nonzeros of neighbouring threads over the banks of shared memory.
    if (parameters.integer("nonzeros_per_thread") % 2 == 0) {
        throw ParameterError("nonzeros_per_thread", "a thread has 5, 7, 9 or 11 nonzeros");
    }
    if (parameters.is_word("values", "one") && !has_shape_of_equal_values(parameters)) {
        throw ParameterError("values", fmt::format("equal values require threads = {} and nonzeros_per_thread = {}",
                                                   hola_threads, hola_nonzeros_per_thread));
    }
    return Needs{.unsplit = true};
}

std::vector<ParameterDeclaration> parameters() {
    return {integer_parameter("threads", by_default(256), between(128, 256, "threads"),
                              "threads of the block that multiplies a share: 128 or 256"),
            integer_parameter("nonzeros_per_thread", by_default(7), between(5, 11, "nonzeros"),
                              "nonzeros of a share for each thread of its block: 5, 7, 9 or 11"),
            integer_parameter("most_per_lane", by_default(32), between(0, 1 << 20, "nonzeros"),
                              "a block with a row that would give one lane more of them sums with all its threads together"),
            values_parameter({"full", "one", "auto"})};
}

/// Shares in parallel, like the thread blocks of the CUDA kernel: each writes the rows that end in it, and keeps its sum of the
/// next one, which is added when all shares are done. So no two threads write a row.
template <ValueType Value>
class HolaShares final : public Kernel<Value> {
public:
    explicit HolaShares(const HolaLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        with_stored(layout_, [&](const auto& hola) { multiply(hola, x, y, accumulate); });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    void multiply(const auto& hola, const Value* x, Value* y, bool accumulate) {
        const Offset size = hola.nonzeros_per_share();
        open_.resize(hola.shares());
        for_each_in_parallel(hola.shares(), 1, [&](std::int64_t number) {
            const HolaShare share = share_of(hola, number, size);
            open_[number] = 0;
            for (Index i = 0; i < share.pieces(); ++i) {
                const HolaPiece piece = piece_of(hola, share, i, PlainLoad{});
                Value sum = 0;
                for (Offset k = share.first + piece.begin; k < share.first + piece.end; ++k) {
                    sum += hola.values[k] * x[hola.column_indices[k]];
                }
                if (i < share.rows) {
                    put(y, share.first_row + i, sum, accumulate);
                } else {
                    open_[number] = sum;
                }
            }
        });
        for (Offset number = 0; number + 1 < hola.shares(); ++number) y[hola.first_rows[number + 1]] += open_[number];
    }

    const HolaLayout<Value>& layout_;
    HostArray<Value> open_;  // [shares] the sum of the row that continues in the next share
};

constexpr auto walk_shares = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& hola) {
        with_hola_shape(hola, [&]<typename Shape>(Shape) {
            for (Offset number = 0; number < hola.shares(); ++number) {
                const HolaShare share = share_of(hola, number, Shape::size);
                walk_side_by_side<Shape>(hola, number, share.first, share.first + share.nonzeros, visit);
            }
        });
    });
};

LayoutCost predict_hola(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset nonzeros = pattern.nonzeros();
    const Offset share = parameters.integer("threads") * parameters.integer("nonzeros_per_thread");
    const Offset shares = pattern.rows() == 0 ? 0 : std::max(pieces_of(nonzeros, share), Offset{1});
    const std::int64_t bytes = (Offset{pattern.rows()} + 1) * offset_bytes + (shares + 1) * index_bytes +
                               nonzeros * (index_bytes + bytes_of_values(parameters, precision));
    LayoutCost cost = cost_of_arrays(pattern, precision, nonzeros, bytes, 0.8);
    cost.exact = true;  // in any order
    return cost;
}

}  // namespace

HostArray<Index> first_rows_of_shares(const HostArray<Offset>& row_offsets, Offset nonzeros_per_share) {
    const auto rows = static_cast<Index>(row_offsets.size() - 1);
    HostArray<Index> first_rows{0};
    if (rows == 0) return first_rows;
    Index row = 0;
    for (Offset end = nonzeros_per_share; end < row_offsets.back(); end += nonzeros_per_share) {
        while (row_offsets[row + 1] <= end) ++row;
        first_rows.push_back(row);
    }
    first_rows.push_back(rows);
    return first_rows;
}

template <ValueType Value>
void HolaLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& hola) {
        for_each_stored_slot<CompressedRows<1>>(hola, nonzeros_of(hola.row_offsets, hola.values.size()), visit);
        if (hola.first_rows != first_rows_of_shares(hola.row_offsets, hola.nonzeros_per_share())) {
            throw std::logic_error("hola: first_rows are not the first rows of the shares");
        }
    });
}

LayoutEntry hola_entry() {
    return format<HolaLayout>(
               {.summary = "CSR in equal shares of the nonzeros, one per thread block, with the first row of every share (an "
                           "adaptation)",
                .source = "Steinberger, Zayer and Seidel, 'Globally homogeneous, locally adaptive sparse matrix-vector "
                          "multiplication on the GPU' (ICS 2017)",
                .parameters = parameters(),
                .needs = needs,
                .settle = settle,
                .predict = predict_hola},
               fill)
        .host<HolaShares>("shares", "equal shares of the nonzeros in parallel, then the rows that cross shares")
        .cuda<hola::Shares>("shares",
                            "one block per equal share of the nonzeros, summed by lanes or by segments depending on the rows",
                            walk_shares);
}

template struct HolaLayout<float>;
template struct HolaLayout<double>;

}  // namespace workbench
