// The expression for the number of threads of a kernel beside the recipe.
#include "core/contract/errors.hpp"
#include "core/contract/kernel_source.hpp"
#include "fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    static const std::map<std::string, Offset> names{
        {"rows", 7}, {"columns", 5}, {"slots", 1000}, {"zero", 0}, {"many", Offset{1} << 62}, {"values_size", 1 << 20}};
    const std::string expression(fuzz::text_of(data, size));
    try {
        const Offset count = thread_count(expression, names);
        if (count < 0 || count > Offset{1} << 62) fuzz::fail("a number of threads out of range", std::to_string(count));
        if (thread_count(expression + " ", names) != count) fuzz::fail("another number with a blank behind it");
    } catch (const Unsuitable&) {  // the reader of recipes makes its text printable
    }
    return 0;
}
