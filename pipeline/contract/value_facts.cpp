#include "pipeline/contract/value_facts.hpp"

#include "pipeline/matrix/distinct_values.hpp"

namespace workbench {

ValueFacts value_facts(const CsrMatrix& matrix, Precision precision) {
    ValueFacts facts{.precision = precision, .columns = matrix.columns};
    const auto note = [&](const auto& distinct) {
        if (distinct) facts.distinct = static_cast<Offset>(distinct->size());
    };
    if (precision == Precision::f32) {
        note(distinct_values_in_f32(matrix.values, most_coded_values));
    } else {
        note(distinct_values<double>(matrix.values, most_coded_values));
        facts.exact_in_f32 = are_exact_in_f32(matrix.values);
    }
    return facts;
}

std::string reason_against_coding(const Parameters& parameters, const ValueFacts& facts) {
    if (!parameters.has("values")) return {};
    if (parameters.is_word("values", "one") && facts.distinct.value_or(2) > 1) return "the values are not all equal";
    if (parameters.is_word("values", "dictionary") && !facts.distinct) return "too many distinct values for a dictionary";
    const bool narrow = parameters.is_word("values", "f32") && facts.precision == Precision::f64;
    return narrow && !facts.exact_in_f32 ? "f32 does not represent all values exactly" : "";
}

}  // namespace workbench
