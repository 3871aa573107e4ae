// Places rows of similar length together by hashing instead of sorting.
#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "stages/length_hash.hpp"
#include "stages/parameters.hpp"
#include "stages/row_placement.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_nonlinear_hash(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
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
    StageChange change = place_rows(staged, parameters, place);
    const double probes_a_row = rows == 0 ? 0 : static_cast<double>(probes) / static_cast<double>(rows);
    return {.change = std::move(change),
            .notes = {{"tables", std::to_string(tables)}, {"probes a row", fmt::format("{:.3g}", probes_a_row)}}};
}

}  // namespace

StageEntry nonlinear_hash_stage() {
    return {
        .name = "nonlinear_hash",
        .summary = "Place rows by a nonlinear hash of their lengths, shortest first: similar lengths together without sorting",
        .source =
            "Yan, Diao, Liu, An, Xu, 'A Nonlinear Hash-based Optimization Method for SpMV on GPUs' (HBP), arXiv 2025; the hash "
            "function is a design of this project",
        .parameters = placement_parameters(integer_parameter("sample", by_default(512), between(1, largest_index, "rows"),
                                                             "rows per hash table to which its parameters are fitted")),
        .contract = placement_contract,
        .run = run_nonlinear_hash,
        .on_device = [](const Parameters& parameters) -> std::optional<DeviceStep> {
            const RowPlacing hashed{
                .window = {}, .descending = false, .sample = static_cast<Index>(parameters.integer("sample")), .key = {}};
            if (parameters.text("within") == "tile") return PlaceInTiles{hashed, {}};
            return SortRows{hashed, parameters.text("within") == "partition", axes_of(parameters)};
        }};
}

}  // namespace workbench
