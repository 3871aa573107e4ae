// What the library does inside, with a planted kernel that no recipe of its callers can have.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "frontends/library/applied_recipe.hpp"
#include "support/layouts/wrong_vectors.hpp"
#include "support/message_of.hpp"

namespace workbench {

TEST_CASE_TEMPLATE("an operator refuses a kernel that is wrong for several vectors alone", Value, float, double) {
    const Catalogue right = catalogue();
    const GeneratorEntry& laplace = *right.find_generator("laplace2d");
    const CsrMatrix matrix = laplace.generate(Parameters(laplace.parameters, {{"nx", std::int64_t{8}}}));
    for (const WrongVectors fault : all_wrong_vectors) {
        const Catalogue faulty = catalogue_with(fault);
        const Recipe recipe = parse_recipe("[layout]\nuse = \"sell\"\n", "sell.toml", faulty);
        for (const bool verify : {true, false}) {
            const KokkosTurn turn;
            const spmv_workbench::Options options{.device = spmv_workbench::Device::host, .verify = verify};
            AppliedRecipe<Value> applied(recipe, matrix, options, {});  // one vector, which is right
            for (const int vectors : {2, 7}) {
                if (!verify) {
                    CHECK_NOTHROW((void)applied.several(vectors));
                    continue;
                }
                const int wrong = fault == WrongVectors::neighbour ? vectors - 1 : vectors;
                const std::string row = fault == WrongVectors::last_element ? ": row 63 " : ": row 0";
                const std::string found = message_of<BrokenKernel>([&] { (void)applied.several(vectors); });
                CHECK_MESSAGE(found.find(": vector " + std::to_string(wrong) + " of " + std::to_string(vectors) + row) !=
                                  std::string::npos,
                              found);
                CHECK_THROWS_AS((void)applied.several(vectors), BrokenKernel);  // again: it is not kept
            }
        }
    }
}

}  // namespace workbench
