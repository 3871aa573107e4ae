// The lines of a bench, or the JSON of a run, as `summary` reads them.
#include <cstdlib>
#include <vector>

#include "fuzz/target.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/bench/records.hpp"
#include "studies/bench/rule.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace workbench;
    const std::filesystem::path file = fuzz::file_with(fuzz::text_of(data, size));
    fuzz::act_or_refuse([&] {
        std::vector<Record> records;
        add_records({file}, records);
        const std::size_t count = records.size();
        add_records({file}, records);  // the same measurements again
        if (records.size() != count) std::abort();
        if (ranking_text(records).empty()) std::abort();
        (void)ranking_tex(records);
        (void)cover_tables(records, TableFormat::text);
        (void)rule_tables(records, 3, TableFormat::text);
    });
    return 0;
}
