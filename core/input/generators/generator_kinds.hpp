// Functions that the files of the generators share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/input/generators/generators.hpp"
#include "core/input/generators/grid.hpp"

namespace workbench {

[[nodiscard]] std::vector<GeneratorEntry> grid_generators();           // laplace2d, laplace3d, elasticity3d
[[nodiscard]] std::vector<GeneratorEntry> delaunay_generators();       // delaunay
[[nodiscard]] std::vector<GeneratorEntry> finite_volume_generators();  // finite_volume
[[nodiscard]] std::vector<GeneratorEntry> random_generators();         // banded, random_*, rmat

/// Throws MachineError if the machine lacks memory for a matrix of this size and `more` bytes of temporary arrays.
/// Sizes are f64 because no product of parameters overflows it.
void check_generator_memory(double rows, double nonzeros, double more);

/// The entry of a generator that can make any range of rows. kind(parameters) checks the parameters and returns an object with
/// `Index row_count() const`, `CsrMatrix make(RowRange) const` and, for a mesh, `std::vector<NodePlace> places() const`.
template <auto kind>
[[nodiscard]] GeneratorEntry made_by_rows(std::string name, std::string summary, std::vector<ParameterDeclaration> parameters) {
    GeneratorEntry entry{std::move(name),
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
    if constexpr (requires(const Parameters& given) { kind(given).places(); }) {
        entry.places = [](const Parameters& given) { return kind(given).places(); };
    }
    return entry;
}

/// Parameters without a default must be given.
[[nodiscard]] ParameterDeclaration integer_parameter(const std::string& name, std::int64_t minimum, std::int64_t maximum,
                                                     const std::string& help, std::optional<std::int64_t> default_value = {});
[[nodiscard]] ParameterDeclaration real_parameter(const std::string& name, double minimum, double maximum,
                                                  const std::string& help, std::optional<double> default_value = {});
[[nodiscard]] ParameterDeclaration scramble_parameter();
[[nodiscard]] ParameterDeclaration seed_parameter();

/// The parameters nx, ny and, of three dimensions, nz; then `more`.
[[nodiscard]] std::vector<ParameterDeclaration> grid_parameters(int dimensions, std::vector<ParameterDeclaration> more);

/// The grid that nx, ny and nz describe. Throws InputError if the matrix would have 2^31 rows or more.
[[nodiscard]] Grid grid_of(const Parameters& parameters, int dimensions, Index unknowns = 1);

}  // namespace workbench
