// Values that a layout stores rounded, if its recipe says so: the product is then that of another matrix. It is
// verified against that matrix, and everything that names such a layout or recipe marks it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/parameters.hpp"
#include "core/contract/precision.hpp"

namespace workbench {

/// From the finest to the coarsest.
enum class Rounding { none, f32, bf16 };

[[nodiscard]] std::string_view name_of(Rounding rounding);

/// As the parameter `values` says: "rounded_f32" or "rounded_bf16".
[[nodiscard]] Rounding rounding_of(const Parameters& parameters);

/// Likewise, for a layout of this precision: f32 holds values that are rounded to f32 in full.
[[nodiscard]] Rounding rounding_of(const Parameters& parameters, Precision precision);

/// To nearest, ties to even.
[[nodiscard]] double rounded(double value, Rounding rounding);

/// The name of a layout or recipe that rounds its values, "~f32 sell"; without rounding the name itself.
[[nodiscard]] std::string marked(const std::string& name, Rounding rounding);
/// The name without such a mark.
[[nodiscard]] std::string unmarked(const std::string& name);
/// The rounding that the mark of a name states; Rounding::none without a mark.
[[nodiscard]] Rounding mark_of(std::string_view name);

/// The meaning of the marks, as a sentence for readers of a table with these names: "~f32: ...". Empty if none is marked.
[[nodiscard]] std::string legend_of_marks(const std::vector<std::string>& names);

/// The difference between a matrix A and the same with rounded values, R, over entries that are finite.
struct RoundingError {
    Rounding to = Rounding::none;
    double norm = 0;     // |A - R|_F / |A|_F; 0 if A is 0
    double largest = 0;  // the largest |a - r| / |a| of an entry a that is not 0

    /// "rounded to f32: |A - R|_F / |A|_F = 2.9e-08, an entry changes by at most 5.9e-08 of itself"
    [[nodiscard]] std::string text() const;
};

/// values, rounded_values: [nonzeros]. `to` is the coarsest rounding among them.
[[nodiscard]] RoundingError error_of_rounding(std::span<const double> values, std::span<const double> rounded_values,
                                              Rounding to);

}  // namespace workbench
