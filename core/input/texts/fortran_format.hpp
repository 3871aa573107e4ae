// Fortran edit descriptors and the numbers that they describe.
// Source: ISO/IEC 1539-1, "Information technology - Programming languages - Fortran": format specification, edit descriptors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace workbench {

/// A number in a line.
struct FortranField {
    char kind = 'i';   // i; f for F, E, D, G, ES and EN, which are read alike
    int begin = 0;     // the first of its characters in the line, from 0
    int width = 0;     // characters; 0: a word, as all fields of the format are then
    int decimals = 0;  // digits after the implied decimal point of a field without one
    int scale = 0;     // k of kP: a field without an exponent is multiplied by 10^-k
};

/// The fields of the lines of a list: (8I10), (1X,8I9), (1P,4E20.13), (3(1X,D25.16)), (8I).
struct FortranFormat {
    std::vector<FortranField> first;  // of the first line
    std::vector<FortranField> later;  // of every other line, which begins with the last group of the format if it has groups

    [[nodiscard]] const std::vector<FortranField>& of_line(std::int64_t line) const { return line == 0 ? first : later; }
};

/// Parses a format of numbers, repeated ones, skipped characters (X), scale factors (P) and nested groups; none if the text is
/// anything else.
[[nodiscard]] std::optional<FortranFormat> parse_fortran_format(std::string_view text);

/// The real number in a field; the letter of the exponent is E, D, Q or missing. None if it is not a number or exceeds f64.
[[nodiscard]] std::optional<double> parse_fortran_real(std::string_view text, const FortranField& field);

}  // namespace workbench
