#include "kernels/common/storage/literature_sizes.hpp"

#include <algorithm>
#include <limits>

namespace workbench {
namespace {

bool has_slices(const LayoutEntry& layout) {
    return std::any_of(layout.parameters.begin(), layout.parameters.end(),
                       [](const ParameterDeclaration& parameter) { return parameter.name == "slice_height"; });
}

void add_answers(std::vector<StorageSize>& all, const Catalogue& catalogue, bool slices, const StorageQuestion& question) {
    std::vector<StorageSize> answers;
    for (const LayoutEntry& layout : catalogue.layouts) {
        if (layout.storage_sizes == nullptr || has_slices(layout) != slices) continue;
        for (StorageSize& size : layout.storage_sizes(question)) answers.push_back(std::move(size));
    }
    std::stable_sort(answers.begin(), answers.end(),
                     [](const StorageSize& a, const StorageSize& b) { return a.source < b.source; });
    all.insert(all.end(), std::make_move_iterator(answers.begin()), std::make_move_iterator(answers.end()));
}

/// a * b and a + b for a, b >= 0, saturated at 2^63 - 1.
std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

/// The smallest multiple of `unit` that is at least `count`.
Offset rounded_up(Offset count, Index unit) { return (count + unit - 1) / unit * unit; }

std::int64_t bytes_of(Offset values, Offset indices, Offset pointers, const ElementSizes& sizes) {
    return bounded_sum(bounded_sum(bounded_product(values, sizes.value), bounded_product(indices, sizes.index)),
                       bounded_product(pointers, sizes.offset));
}

}  // namespace

std::vector<StorageSize> storage_sizes(const Catalogue& catalogue, const CsrMatrix& matrix,
                                       std::span<const Index> slice_heights, std::span<const double> alphas,
                                       const ElementSizes& sizes) {
    const std::vector<Offset> lengths = row_lengths(matrix);
    std::vector<Offset> ascending = lengths;
    std::sort(ascending.begin(), ascending.end());
    StorageQuestion question{matrix, lengths, ascending, 0, alphas, sizes};
    std::vector<StorageSize> all;
    add_answers(all, catalogue, false, question);
    for (const Index height : slice_heights) {
        question.slice_height = height;
        add_answers(all, catalogue, true, question);
    }
    return all;
}

std::vector<Offset> row_lengths(const CsrMatrix& matrix) {
    std::vector<Offset> lengths(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) lengths[row] = matrix.row_length(row);
    return lengths;
}

std::int64_t coo_size(Offset nonzeros, const ElementSizes& sizes) {
    return bytes_of(nonzeros, bounded_product(nonzeros, 2), 0, sizes);
}

std::int64_t csr_size(Index rows, Offset nonzeros, const ElementSizes& sizes) {
    return bytes_of(nonzeros, nonzeros, Offset{rows} + 1, sizes);
}

std::int64_t bsr_size(Index rows, Offset blocks, Index block_size, const ElementSizes& sizes) {
    return bytes_of(bounded_product(blocks, Offset{block_size} * block_size), blocks,
                    rounded_up(rows, block_size) / block_size + 1, sizes);
}

Offset count_blocks(const CsrMatrix& matrix, Index block_size) {
    HostArray<Index> last_seen(rounded_up(matrix.columns, block_size) / block_size, -1);  // block row that last had this one
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

std::int64_t ell_size(Index rows, Offset longest_row, const ElementSizes& sizes) {
    const std::int64_t slots = bounded_product(rows, longest_row);
    return bytes_of(slots, slots, 0, sizes);
}

std::int64_t sell_size(Offset slices, Offset slots, const ElementSizes& sizes) {
    return bytes_of(slots, slots, slices + 1, sizes);
}

Offset sell_slots(std::span<const Offset> lengths, Index slice_height) {
    Offset slots = 0;
    for (std::size_t first = 0; first < lengths.size(); first += slice_height) {
        const auto slice = lengths.subspan(first, std::min<std::size_t>(slice_height, lengths.size() - first));
        slots += *std::max_element(slice.begin(), slice.end()) * slice_height;
    }
    return slots;
}

std::int64_t staircase_sell_size(Offset slots, const ElementSizes& sizes) { return bytes_of(slots, slots, 0, sizes); }

Offset staircase_sell_slots(std::span<const Offset> ascending_lengths, std::span<const Index> groups, Index slice_height) {
    Offset slots = 0;
    for (std::size_t group = 0; group + 1 < groups.size(); ++group) {
        const Offset rows = rounded_up(Offset{groups[group + 1]} - groups[group], slice_height);
        if (rows > 0) slots += rows * ascending_lengths[groups[group + 1] - 1];
    }
    return slots;
}

std::vector<StorageSize> coo_storage_sizes(const StorageQuestion& question) {
    const Offset nonzeros = question.matrix.nonzeros();
    return {{"COO", "eq. 4.1", 0, {}, nonzeros, coo_size(nonzeros, question.sizes)}};
}

std::vector<StorageSize> csr_storage_sizes(const StorageQuestion& question) {
    const Offset nonzeros = question.matrix.nonzeros();
    return {{"CSR", "eq. 4.2", 0, {}, nonzeros, csr_size(question.matrix.rows, nonzeros, question.sizes)}};
}

std::vector<StorageSize> csc_storage_sizes(const StorageQuestion& question) {
    const Offset nonzeros = question.matrix.nonzeros();
    return {{"CSC", "eq. 4.2, by columns", 0, {}, nonzeros, csr_size(question.matrix.columns, nonzeros, question.sizes)}};
}

std::vector<StorageSize> bsr_storage_sizes(const StorageQuestion& question) {
    std::vector<StorageSize> all;
    for (const Index size : {2, 3, 4}) {
        const Offset blocks = count_blocks(question.matrix, size);
        all.push_back(
            {"BSR", "eq. 4.3", size, {}, blocks * size * size, bsr_size(question.matrix.rows, blocks, size, question.sizes)});
    }
    return all;
}

std::vector<StorageSize> ell_storage_sizes(const StorageQuestion& question) {
    const Index rows = question.matrix.rows;
    const Offset longest = rows == 0 ? 0 : question.ascending_lengths.back();
    return {{"ELL", "eq. 4.4", 0, {}, rows * longest, ell_size(rows, longest, question.sizes)}};
}

std::vector<StorageSize> sell_storage_sizes(const StorageQuestion& question) {
    const Index height = question.slice_height;
    const Offset slices = rounded_up(question.matrix.rows, height) / height;
    const Offset slots = sell_slots(question.lengths, height);
    const Offset fewer = sell_slots(question.ascending_lengths, height);
    return {{"SELL", "eq. 4.5", height, {}, slots, sell_size(slices, slots, question.sizes)},
            {"SELL by length", "eq. 4.5, by length", height, {}, fewer, sell_size(slices, fewer, question.sizes)}};
}

}  // namespace workbench
