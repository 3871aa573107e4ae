#include "input/generated.hpp"

#include <doctest/doctest.h>

#include <bit>

#include "core/contract/catalogue.hpp"
#include "core/contract/errors.hpp"
#include "core/input/generators/generators.hpp"
#include "core/matrix/random.hpp"
#include "support/eigen.hpp"

namespace workbench {

namespace {

const GeneratorEntry& generator_named(const std::string& name) {
    static const Catalogue known{.generators = generators()};
    const GeneratorEntry* generator = known.find_generator(name);
    REQUIRE(generator != nullptr);
    return *generator;
}

}  // namespace

std::vector<NodePlace> places_of(const std::string& name, const Given& given) {
    const GeneratorEntry& generator = generator_named(name);
    if (generator.places == nullptr) return {};
    return generator.places(Parameters(generator.parameters, given));
}

CsrMatrix made(const std::string& name, const Given& given) {
    const GeneratorEntry& generator = generator_named(name);
    CsrMatrix matrix = generator.generate(Parameters(generator.parameters, given));
    check_csr(matrix);
    return matrix;
}

std::string refusal(const std::string& name, const Given& given) {
    try {
        static_cast<void>(made(name, given));
        return "made";
    } catch (const ParameterError& error) {
        return error.parameter + ": " + error.what();
    } catch (const UserError& error) {
        return std::to_string(static_cast<int>(error.exit_code)) + " " + error.what();
    }
}

std::uint64_t hash_of(const CsrMatrix& matrix) {
    std::uint64_t hash = mixed(static_cast<std::uint64_t>(matrix.rows)) ^ static_cast<std::uint64_t>(matrix.columns);
    const auto add = [&hash](std::uint64_t bits) { hash = mixed(hash ^ bits); };
    for (const Offset offset : matrix.row_offsets) add(static_cast<std::uint64_t>(offset));
    for (const Index column : matrix.column_indices) add(static_cast<std::uint64_t>(column));
    for (const double value : matrix.values) add(std::bit_cast<std::uint64_t>(value));
    return hash;
}

}  // namespace workbench
