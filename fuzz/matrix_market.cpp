// The text of a Matrix Market file.
#include "pipeline/input/matrix_market.hpp"
#include "fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench::fuzz;
    read_or_refuse([&] { return workbench::read_matrix_market(file_with(text_of(data, size))); });
    return 0;
}
