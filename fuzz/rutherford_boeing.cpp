// The text of a Rutherford-Boeing file.
#include "core/input/texts/rutherford_boeing.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    fuzz::read_or_refuse([&] {
        LineReader lines("fuzz.rb", bytes_in_memory(fuzz::text_of(data, size)));
        return read_rutherford_boeing(lines);
    });
    return 0;
}
