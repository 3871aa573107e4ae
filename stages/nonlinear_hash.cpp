// Rows of like length together, by hashing instead of sorting.
#include <atomic>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "pipeline/matrix/preparer.hpp"
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
    const auto place = [&](std::span<const Index> lengths) {
        HashedRows placed = workbench::place_by_hash(lengths, fit_length_hash(lengths, sample));
        ++tables;
        rows += static_cast<std::int64_t>(lengths.size());
        probes += placed.probes;
        return std::move(placed.old_of_new);
    };
    bool elsewhere = false;
    PlaceTables place_tables;
    if (staged.preparer != nullptr) {
        place_tables = [&](std::span<const Index> lengths, std::span<const Offset> first) {
            std::optional<std::vector<Index>> placed = staged.preparer->place_by_hash({lengths, first, sample});
            elsewhere = placed.has_value();
            if (elsewhere) tables = std::ssize(first) - 1;
            return placed;
        };
    }
    StageChange change = place_rows(staged, parameters, place, place_tables);
    StageResult result{.change = std::move(change), .notes = {{"tables", std::to_string(tables)}}};
    // Who places rows at the same time probes otherwise, and comes to the same places.
    if (!elsewhere) {
        const double probes_a_row = rows == 0 ? 0 : static_cast<double>(probes) / static_cast<double>(rows);
        result.notes.emplace_back("probes a row", fmt::format("{:.3g}", probes_a_row));
    }
    return result;
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
