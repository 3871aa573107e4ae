// The text of a Matrix Market file.
#include "core/input/texts/matrix_market.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    fuzz::read_or_refuse([&] {
        LineReader lines("fuzz.mtx", bytes_in_memory(fuzz::text_of(data, size)));
        return read_matrix_market(lines);
    });
    return 0;
}
