#include <rsb.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "benchmarks/clock.hpp"
#include "benchmarks/cpu_peers.hpp"

namespace workbench {
namespace {

void check(rsb_err_t error) {
    if (error != RSB_ERR_NO_ERROR) throw std::runtime_error("librsb: error " + std::to_string(error));
}

bool is_symmetric(const CsrMatrix& matrix) {
    if (matrix.rows != matrix.columns) return false;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Index column = matrix.column_indices[i];
            const auto begin = matrix.column_indices.begin() + matrix.row_offsets[column];
            const auto end = matrix.column_indices.begin() + matrix.row_offsets[column + 1];
            const auto mirror = std::lower_bound(begin, end, row);
            if (mirror == end || *mirror != row) return false;
            if (matrix.values[mirror - matrix.column_indices.begin()] != matrix.values[i]) return false;
        }
    }
    return true;
}

/// lower: only the entries of the lower triangle.
template <ValueType Value>
PeerProduct product_of(const PeerTask<Value>& task, const std::string& name, bool lower) {
    const CsrMatrix& matrix = task.matrix;
    std::vector<rsb_coo_idx_t> rows;
    std::vector<rsb_coo_idx_t> columns;
    std::vector<Value> values;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            if (lower && matrix.column_indices[i] > row) continue;
            rows.push_back(row);
            columns.push_back(matrix.column_indices[i]);
            values.push_back(static_cast<Value>(matrix.values[i]));
        }
    }
    const double begin = now_on(CLOCK_MONOTONIC);
    rsb_err_t error = RSB_ERR_NO_ERROR;
    const rsb_flags_t flags = lower ? RSB_FLAG_LOWER_SYMMETRIC : RSB_FLAG_NOFLAGS;
    constexpr rsb_type_t type = std::is_same_v<Value, double> ? RSB_NUMERICAL_TYPE_DOUBLE : RSB_NUMERICAL_TYPE_FLOAT;
    rsb_mtx_t* made =
        rsb_mtx_alloc_from_coo_const(values.data(), rows.data(), columns.data(), static_cast<rsb_nnz_idx_t>(values.size()),
                                     type, matrix.rows, matrix.columns, 1, 1, flags, &error);
    check(error);
    static constexpr Value one = 1;
    static constexpr Value zero = 0;
    if (task.tune) {
        check(rsb_tune_spmm(&made, nullptr, nullptr, 0, 0, RSB_TRANSPOSITION_N, &one, nullptr, 1,
                            RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, nullptr, 0, &zero, nullptr, 0));
    }
    const double seconds = now_on(CLOCK_MONOTONIC) - begin;
    const std::shared_ptr<rsb_mtx_t> held(made, rsb_mtx_free);
    return {name, seconds,
            [held, x = task.x, y = task.y] { check(rsb_spmv(RSB_TRANSPOSITION_N, &one, held.get(), x, 1, &zero, y, 1)); }};
}

}  // namespace

template <ValueType Value>
std::vector<PeerProduct> librsb_products(const PeerTask<Value>& task) {
    static const bool ready = [] {
        check(rsb_lib_init(RSB_NULL_INIT_OPTIONS));
        return true;
    }();
    (void)ready;
    const std::string tuned = task.tune ? ", tuned" : "";
    std::vector<PeerProduct> products{product_of(task, "librsb" + tuned, false)};
    if (is_symmetric(task.matrix)) products.push_back(product_of(task, "librsb, symmetric" + tuned, true));
    return products;
}

template std::vector<PeerProduct> librsb_products(const PeerTask<float>& task);
template std::vector<PeerProduct> librsb_products(const PeerTask<double>& task);

}  // namespace workbench
