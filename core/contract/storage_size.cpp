#include "core/contract/storage_size.hpp"

#include <algorithm>
#include <limits>

#include "core/contract/catalogue.hpp"

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

std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

Offset rounded_up(Offset count, Index unit) { return (count + unit - 1) / unit * unit; }

}  // namespace workbench
