// Shared by the files of the generators.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/input/generators.hpp"

namespace workbench {

[[nodiscard]] std::vector<GeneratorEntry> grid_generators();           // laplace2d, laplace3d, elasticity3d
[[nodiscard]] std::vector<GeneratorEntry> delaunay_generators();       // delaunay
[[nodiscard]] std::vector<GeneratorEntry> finite_volume_generators();  // finite_volume
[[nodiscard]] std::vector<GeneratorEntry> random_generators();         // banded, random_uniform, random_normal, rmat

/// Throws MachineError where a matrix of this size, and `more` bytes on the way to it, are more than the machine has.
/// In f64, which no product of parameters overflows.
void check_generator_memory(double rows, double nonzeros, double more);

/// The entry of a kind whose rows can be made apart from each other. kind(parameters) checks them and gives what has
/// `Index row_count() const` and `CsrMatrix make(RowRange) const`.
template <auto kind>
[[nodiscard]] GeneratorEntry made_by_rows(std::string name, std::string summary, std::vector<ParameterDeclaration> parameters) {
    return {std::move(name),
            std::move(summary),
            std::move(parameters),
            [](const Parameters& given) {
                const auto matrix = kind(given);
                return matrix.make({0, matrix.row_count()});
            },
            [](const Parameters& given) { return kind(given).row_count(); },
            [](const Parameters& given, RowRange range) {
                const auto matrix = kind(given);
                check_range(range, matrix.row_count());
                return matrix.make(range);
            }};
}

/// An integer that has to be given.
[[nodiscard]] ParameterDeclaration integer_parameter(const std::string& name, std::int64_t minimum, std::int64_t maximum,
                                                     const std::string& help);
[[nodiscard]] ParameterDeclaration grid_length_parameter(const std::string& name, bool required);  // nx, ny, nz
[[nodiscard]] ParameterDeclaration scramble_parameter();
[[nodiscard]] ParameterDeclaration seed_parameter();

}  // namespace workbench
