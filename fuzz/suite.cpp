// The text of a suite in fuzz/bases.
#include "pipeline/recipe/suite.hpp"
#include "fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    const std::string_view text = fuzz::text_of(data, size);
    (void)is_suite(fuzz::file_with(text));
    fuzz::act_or_refuse([&] {
        const Suite suite = parse_suite(text, fuzz::source_path("fuzz/bases/suite.toml"));
        if (suite.precisions.empty() || suite.samples < 1 || !(suite.seconds >= 0) || !(suite.limit_seconds >= 0)) {
            fuzz::fail("a suite that cannot be measured");
        }
        for (const SuiteMatrix& matrix : suite.named) {
            const auto again = read_matrix_name(matrix.full_name());
            if (!again || again->full_name() != matrix.full_name()) fuzz::fail("a name that is refused", matrix.full_name());
        }
    });
    return 0;
}
