// The text of a graph in the format of METIS.
#include "core/input/texts/metis_graph.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    fuzz::read_or_refuse([&] {
        LineReader lines("fuzz.graph", bytes_in_memory(fuzz::text_of(data, size)));
        return read_metis_graph(lines);
    });
    return 0;
}
