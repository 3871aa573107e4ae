// Numbers in columns, as Fortran's formatted output writes them.
// Source: ISO/IEC 1539-1, "Information technology - Programming languages - Fortran": format specification, edit descriptors.
#pragma once

#include <optional>
#include <string_view>

namespace workbench {

/// A format of one kind of field, repeated: (8I10), (1P,4E20.13), (3(D25.16)).
struct FortranFormat {
    char kind = 'i';   // i; or f, for F, E, D, G, ES and EN, which read alike
    int fields = 1;    // in a line
    int width = 0;     // characters in a field
    int decimals = 0;  // digits behind the point where a field has none
    int scale = 0;     // k of kP: a field without an exponent stands for 10^-k of what it shows
};

/// None where the text is no such format.
[[nodiscard]] std::optional<FortranFormat> parse_fortran_format(std::string_view text);

/// The real number in a field: the exponent may have E, D, Q or none of them. None where it is not a number, or beyond f64.
[[nodiscard]] std::optional<double> parse_fortran_real(std::string_view field, const FortranFormat& format);

}  // namespace workbench
