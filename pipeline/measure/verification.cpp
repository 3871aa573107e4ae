#include "pipeline/measure/verification.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/contract/kernel.hpp"
#include "core/matrix/random.hpp"

namespace workbench {
namespace {

using Rows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// A bijection of the numbers of `bits` bits (bits >= 1): odd factors and shifted exclusive-ors are invertible.
std::uint32_t scrambled(std::uint32_t number, int bits) {
    const std::uint32_t mask = bits >= 32 ? ~0U : (1U << bits) - 1;
    const int shift = bits / 2 + 1;
    number = (number * 0x9E3779B1U) & mask;
    number ^= shift < 32 ? number >> shift : 0;
    return (number * 0x85EBCA6BU) & mask;
}

/// A number in [0, count), of the upper bits, because a division by a number that is not known takes longer.
std::uint64_t scaled(std::uint64_t bits, std::uint32_t count) { return ((bits >> 32) * count) >> 32; }

/// See ExactProblem::value, which a loop over a matrix does not call, because calls take longer than the hash.
double integer_of(ExactValues kind, bool symmetric, std::uint32_t count, Index row, Index column, double real) {
    if (kind == ExactValues::by_value) {
        return 1.0 + static_cast<double>(scaled(mixed(std::bit_cast<std::uint32_t>(static_cast<float>(real))), count));
    }
    if (symmetric && column < row) std::swap(row, column);
    const auto place = (std::uint64_t(std::uint32_t(row)) << 32) | std::uint32_t(column);
    return 1.0 + static_cast<double>(scaled(mixed(place), count));
}

/// Most vectors x of an ExactProblem: digits of a column of 31 bits.
constexpr int most_digits = 32;

constexpr Offset exact_limit = Offset{1} << 24;  // integers up to here are exact in f32
constexpr Offset start_limit = 256;

/// Compares bits, because a NaN compares unequal to everything.
template <ValueType Value>
bool is_unwritten(Value value) {
    using Bytes = std::array<std::byte, sizeof(Value)>;
    return std::bit_cast<Bytes>(value) == std::bit_cast<Bytes>(unwritten<Value>());
}

/// The bound of a row with these nonzeros, the sum of whose magnitudes is known, see bounded_reference.
template <ValueType Value>
double bound_of(double magnitudes, Offset nonzeros) {
    using Limits = std::numeric_limits<Value>;
    if (magnitudes > static_cast<double>(Limits::max())) return std::numeric_limits<double>::infinity();
    const auto count = static_cast<double>(nonzeros);
    return 8 * (count + 1) * static_cast<double>(Limits::epsilon()) * magnitudes + count * static_cast<double>(Limits::min());
}

}  // namespace

bool is_symmetric(const CsrMatrix& matrix) {
    if (!matrix.square()) return false;
    const auto has_mirror = [&](Index row, Offset entry) {
        const auto columns = matrix.row_columns(matrix.column_indices[entry]);
        const auto found = std::lower_bound(columns.begin(), columns.end(), row);
        if (found == columns.end() || *found != row) return false;
        const double mirror = matrix.values[matrix.row_offsets[matrix.column_indices[entry]] + (found - columns.begin())];
        return std::bit_cast<std::uint64_t>(mirror) == std::bit_cast<std::uint64_t>(matrix.values[entry]);
    };
    std::atomic<bool> symmetric = true;
    Kokkos::parallel_for("is_symmetric", Rows(0, matrix.rows), [&](Index row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            if (!symmetric.load(std::memory_order_relaxed)) return;
            if (!has_mirror(row, i)) symmetric.store(false, std::memory_order_relaxed);
        }
    });
    return symmetric;
}

Offset longest_row(const CsrMatrix& matrix) {
    Offset longest = 0;
    for (Index row = 0; row < matrix.rows; ++row) longest = std::max(longest, matrix.row_length(row));
    return longest;
}

ExactProblem::ExactProblem(const CsrMatrix& input, ExactValues kind)
    : ExactProblem(is_symmetric(input), longest_row(input), input.columns, kind) {}

ExactProblem::ExactProblem(bool symmetric, Offset longest, Index columns, ExactValues kind)
    : kind_(kind), symmetric_(symmetric) {
    longest = std::max<Offset>(longest, 1);
    // value_count * base * longest + start must stay within the limit.
    const Offset budget = (exact_limit - start_limit) / longest;
    if (budget < 2) {
        throw Unsuitable(
            fmt::format("a row of {} nonzeros: sums of integers that show every misplaced entry are exact in f32 for "
                        "at most {} nonzeros",
                        longest, (exact_limit - start_limit) / 2));
    }
    const auto root = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(budget)));
    base_ = std::clamp(root, 2U, 1024U);
    value_count_ = std::clamp(static_cast<std::uint32_t>(budget) / base_, 1U, kind == ExactValues::by_value ? 256U : 1024U);

    column_bits_ = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint32_t>(std::max(columns, 1) - 1))));
    vector_count_ = 2;
    for (double covered = double(base_) * base_; covered < std::ldexp(1.0, column_bits_); covered *= base_) ++vector_count_;
}

double ExactProblem::value(Index row, Index column, double real) const {
    return integer_of(kind_, symmetric_, value_count_, row, column, real);
}

double ExactProblem::x(int vector, Index column) const {
    std::uint32_t digits = scrambled(static_cast<std::uint32_t>(column), column_bits_);
    for (int i = 0; i < vector; ++i) digits /= base_;
    return 1.0 + digits % base_;
}

double ExactProblem::start(Index row, int vector) {
    const auto place = std::uint64_t(row) | (std::uint64_t(vector) << 32);
    return static_cast<double>(mixed(~place) % static_cast<std::uint64_t>(start_limit));
}

HostArray<double> ExactProblem::values_of(const CsrMatrix& matrix, const Permutation& row_order,
                                          const Permutation& column_order) const {
    HostArray<double> values;
    make_room(values, matrix.values.size());
    Kokkos::parallel_for("exact values", Rows(0, matrix.rows), [&](Index row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            values[i] = integer_of(kind_, symmetric_, value_count_, row_order.old_of_new(row),
                                   column_order.old_of_new(matrix.column_indices[i]), matrix.values[i]);
        }
    });
    return values;
}

std::vector<std::vector<double>> ExactProblem::products(const CsrMatrix& input) const {
    const auto count = static_cast<std::size_t>(vector_count_);
    HostArray<float> elements = unwritten_array<float>(static_cast<std::size_t>(input.columns) * count);  // [column][vector]
    Kokkos::parallel_for("exact x", Rows(0, input.columns), [&](Index column) {
        for (int vector = 0; vector < vector_count_; ++vector) {
            elements[column * count + vector] = static_cast<float>(x(vector, column));
        }
    });
    std::vector<std::vector<double>> products(count, std::vector<double>(input.rows));
    Kokkos::parallel_for("exact products", Rows(0, input.rows), [&](Index row) {
        std::array<double, most_digits> sums{};
        for (Offset i = input.row_offsets[row]; i < input.row_offsets[row + 1]; ++i) {
            const Index column = input.column_indices[i];
            const double value = integer_of(kind_, symmetric_, value_count_, row, column, input.values[i]);
            for (std::size_t vector = 0; vector < count; ++vector) sums[vector] += value * elements[column * count + vector];
        }
        for (std::size_t vector = 0; vector < count; ++vector) products[vector][row] = sums[vector];
    });
    return products;
}

template <ValueType Value>
Value unwritten() {
    std::array<std::byte, sizeof(Value)> bytes{};
    bytes.fill(unwritten_byte);
    return std::bit_cast<Value>(bytes);
}

template <ValueType Value>
Comparison compare_exactly(const std::vector<Value>& y, const std::vector<double>& expected) {
    const auto is_right = [&](std::size_t row) { return is_exactly(y[row], expected[row]); };
    Index wrong_rows = 0;
    Kokkos::parallel_reduce(
        "compare", Rows(0, static_cast<Index>(expected.size())),
        [&](Index row, Index& wrong) { wrong += is_right(row) ? 0 : 1; }, wrong_rows);
    if (wrong_rows == 0) return {};
    for (std::size_t row = 0; row < expected.size(); ++row) {
        if (is_right(row)) continue;
        const auto wanted = static_cast<Value>(expected[row]);
        return {false, std::numeric_limits<double>::infinity(),
                is_unwritten(y[row]) ? fmt::format("row {} was never written", row)
                                     : fmt::format("row {}: y = {}, expected exactly {}", row, y[row], wanted)};
    }
    return {};
}

template <ValueType Value>
BoundedReference bounded_reference(const CsrMatrix& input, const std::vector<double>& x) {
    BoundedReference reference{std::vector<double>(input.rows), std::vector<double>(input.rows)};
    Kokkos::parallel_for("reference", Rows(0, input.rows), [&](Index row) {
        double sum = 0;
        double magnitudes = 0;
        for (Offset i = input.row_offsets[row]; i < input.row_offsets[row + 1]; ++i) {
            const double product = input.values[i] * x[input.column_indices[i]];
            sum += product;
            magnitudes += std::abs(product);
        }
        reference.r[row] = sum;
        reference.bound[row] = bound_of<Value>(magnitudes, input.row_length(row));
    });
    return reference;
}

template <ValueType Value>
Comparison compare_within(const std::vector<Value>& y, const BoundedReference& reference) {
    Comparison comparison;
    // A bound of 0 (no nonzeros, or only zeros) allows only the exact result.
    const auto ratio_of = [&](Index row) {
        const double error = std::abs(static_cast<double>(y[row]) - reference.r[row]);
        return error == 0 ? 0 : error / reference.bound[row];
    };
    Index doubtful_rows = 0;  // whose products are not finite, or not right
    double largest = 0;
    Kokkos::parallel_reduce(
        "compare", Rows(0, static_cast<Index>(reference.r.size())),
        [&](Index row, Index& doubtful, double& most) {
            const double ratio = ratio_of(row);
            doubtful += ratio <= 1 && !is_unwritten(y[row]) ? 0 : 1;  // also if the ratio is NaN
            most = std::max(most, ratio);
        },
        doubtful_rows, Kokkos::Max<double>(largest));
    if (doubtful_rows == 0) {
        comparison.error_over_bound = largest;
        return comparison;
    }
    const auto wrong = [&comparison](const std::string& sentence) {
        comparison.right = false;
        if (comparison.first_wrong.empty()) comparison.first_wrong = sentence;
    };
    for (std::size_t row = 0; row < reference.r.size(); ++row) {
        const double r = reference.r[row];
        const double bound = reference.bound[row];
        const auto found = static_cast<double>(y[row]);
        if (is_unwritten(y[row])) {
            wrong(fmt::format("row {} was never written", row));
        } else if (!std::isfinite(r)) {
            const bool same_class = std::isnan(r) ? std::isnan(found) : found == r;
            if (!same_class) wrong(fmt::format("row {}: y = {}, expected {}", row, found, r));
        } else if (std::isfinite(bound)) {
            const double ratio = ratio_of(static_cast<Index>(row));
            if (!(ratio <= 1)) {  // negated so that NaN fails
                wrong(fmt::format("row {}: |{} - {}| = {} exceeds the bound {}", row, found, r, std::abs(found - r), bound));
            }
            comparison.error_over_bound =
                std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(comparison.error_over_bound, ratio);
        }
    }
    return comparison;
}

template <ValueType Value>
std::optional<double> error_of_several(const CsrMatrix& matrix, const SeveralProducts<Value>& products) {
    const int vectors = products.vectors;
    Index doubtful_rows = 0;
    double largest = 0;
    Kokkos::parallel_reduce(
        "compare several", Rows(0, matrix.rows),
        [&](Index place, Index& doubtful, double& most) {
            const Index row = products.row_of_place.empty() ? place : products.row_of_place[place];
            std::array<double, most_vectors> sums;        // NOLINT: the first `vectors` elements are set below
            std::array<double, most_vectors> magnitudes;  // NOLINT: likewise
            std::fill_n(sums.begin(), vectors, 0.0);
            std::fill_n(magnitudes.begin(), vectors, 0.0);
            for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
                const Index column = matrix.column_indices[i];
                const Value* const x =
                    products.x + Offset{products.place_of_column.empty() ? column : products.place_of_column[column]} * vectors;
                const double value = matrix.values[i];
                for (int j = 0; j < vectors; ++j) {
                    const double product = value * static_cast<double>(x[j]);
                    sums[j] += product;
                    magnitudes[j] += std::abs(product);
                }
            }
            const Value* const y = products.y + Offset{place} * vectors;
            bool is_right = true;
            double most_here = 0;
            for (int j = 0; j < vectors; ++j) {
                const double r = products.times * sums[j];
                const double bound = (2 * products.times - 1) * bound_of<Value>(magnitudes[j], matrix.row_length(row));
                const double error = std::abs(static_cast<double>(y[j]) - r);
                const double ratio = error == 0 ? 0 : error / bound;
                is_right = is_right && std::isfinite(r) && std::isfinite(bound) && ratio <= 1;  // false if the ratio is NaN
                most_here = std::max(most_here, ratio);
            }
            doubtful += is_right ? 0 : 1;
            most = std::max(most, most_here);
        },
        doubtful_rows, Kokkos::Max<double>(largest));
    return doubtful_rows == 0 ? std::optional(std::max(largest, 0.0)) : std::nullopt;
}

double real_element(Index column, std::uint32_t seed) {
    const std::uint64_t bits = mixed((std::uint64_t{seed} << 32) | std::uint32_t(column));
    return static_cast<double>(bits % (1U << 21)) * 0x1p-20 - 1.0;
}

std::vector<double> real_vector(Index columns, std::uint32_t seed) {
    std::vector<double> x(columns);
    Kokkos::parallel_for("real x", Rows(0, columns), [&](Index column) { x[column] = real_element(column, seed); });
    return x;
}

template float unwritten<float>();
template double unwritten<double>();
template Comparison compare_exactly<float>(const std::vector<float>&, const std::vector<double>&);
template Comparison compare_exactly<double>(const std::vector<double>&, const std::vector<double>&);
template BoundedReference bounded_reference<float>(const CsrMatrix&, const std::vector<double>&);
template BoundedReference bounded_reference<double>(const CsrMatrix&, const std::vector<double>&);
template Comparison compare_within<float>(const std::vector<float>&, const BoundedReference&);
template Comparison compare_within<double>(const std::vector<double>&, const BoundedReference&);
template std::optional<double> error_of_several<float>(const CsrMatrix&, const SeveralProducts<float>&);
template std::optional<double> error_of_several<double>(const CsrMatrix&, const SeveralProducts<double>&);

}  // namespace workbench
