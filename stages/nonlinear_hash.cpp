// Rows of like length together, by hashing instead of sorting.
#include <atomic>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "stages/length_hash.hpp"
#include "stages/row_placement.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const auto sample = static_cast<Index>(parameters.integer("sample"));
    std::atomic<std::int64_t> tables = 0;
    std::atomic<std::int64_t> rows = 0;
    std::atomic<std::int64_t> probes = 0;
    StageChange change = place_rows(staged, parameters, [&](std::span<const Index> lengths) {
        HashedRows placed = place_by_hash(lengths, fit_length_hash(lengths, sample));
        ++tables;
        rows += static_cast<std::int64_t>(lengths.size());
        probes += placed.probes;
        return std::move(placed.old_of_new);
    });
    const double probes_a_row = rows == 0 ? 0 : static_cast<double>(probes) / static_cast<double>(rows);
    return {.change = std::move(change),
            .notes = {{"tables", std::to_string(tables)}, {"probes a row", fmt::format("{:.3g}", probes_a_row)}}};
}

std::vector<ParameterDeclaration> parameters() {
    std::vector<ParameterDeclaration> all = placement_parameters();
    all.push_back({.name = "sample",
                   .type = ParameterType::integer,
                   .default_value = std::int64_t{512},
                   .minimum = 1,
                   .maximum = std::numeric_limits<Index>::max(),
                   .unit = "rows",
                   .help = "rows that the parameters of each hash table are fitted to; all of them where a table has no more"});
    return all;
}

}  // namespace

StageEntry nonlinear_hash_stage() {
    return {
        .name = "nonlinear_hash",
        .summary = "Place rows by a nonlinear hash of their lengths, shortest first: like lengths together, without sorting",
        .source =
            "HBP: Yan, Diao, Liu, An, Xu, 'A Nonlinear Hash-based Optimization Method for SpMV on GPUs' (2025); the hash "
            "function is a design of this project",
        .parameters = parameters(),
        .contract = placement_contract,
        .run = run};
}

}  // namespace workbench
