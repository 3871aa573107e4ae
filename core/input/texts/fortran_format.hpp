// Fortran edit descriptors and the numbers that they describe.
// Source: ISO/IEC 1539-1, "Information technology - Programming languages - Fortran": format specification, edit descriptors.
#pragma once

#include <optional>
#include <string_view>

namespace workbench {

/// A format with one kind of field, repeated: (8I10), (1P,4E20.13), (3(D25.16)).
struct FortranFormat {
    char kind = 'i';   // i; f for F, E, D, G, ES and EN, which are read alike
    int fields = 1;    // per line
    int width = 0;     // characters per field
    int decimals = 0;  // digits after the implied decimal point of a field without one
    int scale = 0;     // k of kP: a field without an exponent is multiplied by 10^-k
};

/// Parses a format; none if the text is not a format of this form.
[[nodiscard]] std::optional<FortranFormat> parse_fortran_format(std::string_view text);

/// The real number in a field; the letter of the exponent is E, D, Q or missing. None if it is not a number or exceeds f64.
[[nodiscard]] std::optional<double> parse_fortran_real(std::string_view field, const FortranFormat& format);

}  // namespace workbench
