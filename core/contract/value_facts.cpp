#include "core/contract/value_facts.hpp"

#include "core/matrix/block_rows.hpp"
#include "core/matrix/distinct_blocks.hpp"
#include "core/matrix/distinct_values.hpp"
#include "core/matrix/line_values.hpp"

namespace workbench {

ValueFacts value_facts(const CsrMatrix& matrix, Precision precision, Index node_size) {
    ValueFacts facts{.precision = precision, .columns = matrix.columns, .node_size = node_size};
    const auto note = [&](const auto& distinct) {
        if (distinct) facts.distinct = static_cast<Offset>(distinct->size());
    };
    if (precision == Precision::f32) {
        note(distinct_values_in_f32(matrix.values, most_coded_values));
    } else {
        note(distinct_values<double>(matrix.values, most_coded_values));
        facts.exact_in_f32 = are_exact_in_f32(matrix.values);
    }
    if (node_size > 1 && node_size <= largest_block) {
        const auto note_blocks = [&](const auto& blocks) {
            if (blocks) facts.distinct_blocks = static_cast<Offset>(blocks->size()) / (Offset{node_size} * node_size);
        };
        if (precision == Precision::f32) {
            note_blocks(distinct_blocks<float>(matrix, node_size, most_coded_blocks));
        } else {
            note_blocks(distinct_blocks<double>(matrix, node_size, most_coded_blocks));
        }
    }
    const auto are_equal = precision == Precision::f32 ? have_equal_values<float> : have_equal_values<double>;
    const bool all_equal = facts.distinct.value_or(2) <= 1;
    facts.one_a_row = all_equal || are_equal(matrix, Line::row);
    facts.one_a_column = all_equal || are_equal(matrix, Line::column);
    return facts;
}

std::string reason_against_coding(const Parameters& parameters, const ValueFacts& facts) {
    if (!parameters.has("values")) return {};
    if (parameters.is_word("values", "one") && facts.distinct.value_or(2) > 1) return "the values are not all equal";
    if (parameters.is_word("values", "dictionary")) {
        const bool of_blocks = parameters.has("block_size");
        if (!of_blocks && !facts.distinct) return "too many distinct values for a dictionary";
        if (of_blocks && !facts.distinct_blocks) return "too many distinct blocks for a dictionary";
    }
    if (parameters.is_word("values", "by_row") && !facts.one_a_row) return "the values of a row are not all equal";
    if (parameters.is_word("values", "by_column") && !facts.one_a_column) return "the values of a column are not all equal";
    if (parameters.is_word("values", "rounded_bf16") && facts.precision == Precision::f32) {
        return "rounded_bf16 is for values of f64";
    }
    const bool narrow = parameters.is_word("values", "f32") && facts.precision == Precision::f64;
    return narrow && !facts.exact_in_f32 ? "f32 does not represent all values exactly" : "";
}

}  // namespace workbench
