// A file of any format, which is recognised by its content.
#include "core/input/read_matrix.hpp"
#include "fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench::fuzz;
    read_or_refuse([&] { return workbench::read_matrix(file_with(text_of(data, size))); });
    return 0;
}
