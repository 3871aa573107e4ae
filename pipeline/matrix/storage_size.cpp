#include "pipeline/matrix/storage_size.hpp"

#include <algorithm>
#include <limits>

#include "pipeline/matrix/length_groups.hpp"

namespace workbench {
namespace {

/// Both are >= 0.
std::int64_t times(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

Offset rounded_up(Offset count, Index to) { return (count + to - 1) / to * to; }

}  // namespace

std::int64_t coo_size(Offset nonzeros, const ElementSizes& sizes) { return times(nonzeros, 2 * sizes.index + sizes.value); }

std::int64_t csr_size(Index rows, Offset nonzeros, const ElementSizes& sizes) {
    return plus(times(nonzeros, sizes.index + sizes.value), times(Offset{rows} + 1, sizes.offset));
}

std::int64_t bsr_size(Index rows, Offset blocks, Index block_size, const ElementSizes& sizes) {
    const std::int64_t block = times(Offset{block_size} * block_size, sizes.value) + sizes.index;
    return plus(times(blocks, block), times(rounded_up(rows, block_size) / block_size + 1, sizes.offset));
}

std::int64_t ell_size(Index rows, Offset longest_row, const ElementSizes& sizes) {
    return times(times(rows, longest_row), sizes.index + sizes.value);
}

std::int64_t sell_size(Offset slices, Offset slots, const ElementSizes& sizes) {
    return plus(times(slots, sizes.index + sizes.value), times(slices + 1, sizes.offset));
}

std::int64_t staircase_sell_size(Offset slots, const ElementSizes& sizes) { return times(slots, sizes.index + sizes.value); }

Offset count_blocks(const CsrMatrix& matrix, Index block_size) {
    std::vector<Index> last_seen(rounded_up(matrix.columns, block_size) / block_size, -1);  // block row that last had this one
    Offset blocks = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index column : matrix.row_columns(row)) {
            Index& seen = last_seen[column / block_size];
            blocks += seen != row / block_size ? 1 : 0;
            seen = row / block_size;
        }
    }
    return blocks;
}

std::vector<Offset> row_lengths(const CsrMatrix& matrix) {
    std::vector<Offset> lengths(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) lengths[row] = matrix.row_length(row);
    return lengths;
}

Offset sell_slots(std::span<const Offset> lengths, Index slice_height) {
    Offset slots = 0;
    for (std::size_t first = 0; first < lengths.size(); first += slice_height) {
        const auto slice = lengths.subspan(first, std::min<std::size_t>(slice_height, lengths.size() - first));
        slots += *std::max_element(slice.begin(), slice.end()) * slice_height;
    }
    return slots;
}

Offset staircase_sell_slots(std::span<const Offset> ascending_lengths, std::span<const Index> groups, Index slice_height) {
    Offset slots = 0;
    for (std::size_t group = 0; group + 1 < groups.size(); ++group) {
        const Offset rows = rounded_up(Offset{groups[group + 1]} - groups[group], slice_height);
        if (rows > 0) slots += rows * ascending_lengths[groups[group + 1] - 1];
    }
    return slots;
}

std::vector<StorageSize> storage_sizes(const CsrMatrix& matrix, std::span<const Index> slice_heights,
                                       std::span<const double> alphas, const ElementSizes& sizes) {
    const Offset nonzeros = matrix.nonzeros();
    const std::vector<Offset> lengths = row_lengths(matrix);
    std::vector<Offset> ascending = lengths;
    std::sort(ascending.begin(), ascending.end());
    const Offset longest = ascending.empty() ? 0 : ascending.back();

    std::vector<StorageSize> all{{"COO", 0, {}, nonzeros, coo_size(nonzeros, sizes)},
                                 {"CSR", 0, {}, nonzeros, csr_size(matrix.rows, nonzeros, sizes)},
                                 {"CSC", 0, {}, nonzeros, csr_size(matrix.columns, nonzeros, sizes)}};
    for (const Index size : {2, 3, 4}) {
        const Offset blocks = count_blocks(matrix, size);
        all.push_back({"BSR", size, {}, blocks * size * size, bsr_size(matrix.rows, blocks, size, sizes)});
    }
    all.push_back({"ELL", 0, {}, matrix.rows * longest, ell_size(matrix.rows, longest, sizes)});
    for (const Index height : slice_heights) {
        const Offset slices = rounded_up(matrix.rows, height) / height;
        const Offset slots = sell_slots(lengths, height);
        all.push_back({"SELL", height, {}, slots, sell_size(slices, slots, sizes)});
        const Offset fewer = sell_slots(ascending, height);
        all.push_back({"SELL by length", height, {}, fewer, sell_size(slices, fewer, sizes)});
        for (const double alpha : alphas) {
            const Offset wide = staircase_sell_slots(ascending, length_groups(ascending, height, alpha), height);
            all.push_back({"Staircase SELL", height, alpha, wide, staircase_sell_size(wide, sizes)});
        }
    }
    return all;
}

}  // namespace workbench
