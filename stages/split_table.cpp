#include "stages/split_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <utility>

#include "core/matrix/host_threads.hpp"
#include "stages/row_lengths.hpp"
#include "stages/split_bounds.hpp"
#include "stages/split_marks.hpp"

namespace workbench {
namespace {

using MakeTable = std::function<SplitTable(const SplitFacts&)>;

/// share_of: of the keys 0 .. keys - 1.
template <typename ShareOf>
SplitTable table_of(Offset keys, const ShareOf& share_of) {
    SplitTable table;
    table.shares.reserve(static_cast<std::size_t>(keys));
    for (Offset key = 0; key < keys; ++key) table.shares.push_back(static_cast<std::uint8_t>(share_of(key)));
    return table;
}

/// The largest k such that at least a third of the rows have k nonzeros or more; at least 1.
Index one_third(const ShareView& view) {
    std::vector<Offset> lengths(view.row_count());
    for (Index row = 0; row < view.row_count(); ++row) lengths[row] = view.length(row);
    if (lengths.empty()) return 1;
    // The last row of the first third in descending order of length.
    const auto last_of_third = lengths.begin() + (std::ssize(lengths) + 2) / 3 - 1;
    std::nth_element(lengths.begin(), last_of_third, lengths.end(), std::greater<>());
    return static_cast<Index>(std::max<Offset>(*last_of_third, 1));
}

SplitTable first_places(const Parameters& parameters, const SplitFacts& facts) {
    const std::int64_t most = first_count(facts.view, parameters);
    Offset longest = 0;
    for (Index row = 0; row < facts.view.row_count(); ++row) longest = std::max(longest, facts.view.length(row));
    SplitTable table = table_of(longest, [&](Offset place) { return place < most ? 0 : 1; });
    table.notes.emplace_back("k", std::to_string(most));
    return table;
}

SplitTable long_rows(const Parameters& parameters, const SplitFacts& facts) {
    const RelativeLength longer_than = relative_length(parameters, "longer_than");
    const std::int64_t most = threshold_among(longer_than, facts.view);
    SplitTable table =
        table_of(facts.view.row_count(), [&](Offset row) { return facts.view.length(static_cast<Index>(row)) > most ? 0 : 1; });
    if (longer_than.of != RelativeLength::Of::number) table.notes.emplace_back("longer_than", std::to_string(most));
    return table;
}

/// The number of bounds that a length exceeds, or that a place reaches.
SplitTable bins(const Parameters& parameters, const SplitFacts& facts) {
    const std::string& by = parameters.text("by");
    const std::vector<std::int64_t> bounds = bounds_among(parameters, facts);
    const auto bin_of_place = [&](Offset place) {
        return std::upper_bound(bounds.begin(), bounds.end(), place) - bounds.begin();
    };
    const ShareView& lengths = facts.view;
    SplitTable table =
        by == "columns" ? table_of(facts.matrix.columns, bin_of_place) : table_of(lengths.row_count(), [&](Offset row) {
            const auto stored = static_cast<Index>(row);
            if (by == "rows") return bin_of_place(lengths.row(stored));
            return std::lower_bound(bounds.begin(), bounds.end(), lengths.length(stored)) - bounds.begin();
        });
    table.notes.emplace_back("bounds", text_of_bounds(bounds));
    return table;
}

/// is_dense(key, nonzeros)
template <typename IsDense>
SplitTable dense_regions(const SplitFacts& facts, const std::string& regions, const IsDense& is_dense) {
    Offset dense = 0;
    Offset present = 0;
    SplitTable table = table_of(std::ssize(facts.counts), [&](Offset key) {
        const Offset count = facts.counts[static_cast<std::size_t>(key)];
        if (count == 0) return 1;
        ++present;
        if (!is_dense(key, count)) return 1;
        ++dense;
        return 0;
    });
    table.notes.emplace_back("dense " + regions, std::to_string(dense) + " of " + std::to_string(present));
    return table;
}

/// Column - row of a diagonal.
Offset distance_of(Offset diagonal, const SplitFacts& facts) { return diagonal - (std::max<Offset>(facts.matrix.rows, 1) - 1); }

SplitTable dense_diagonals(const Parameters& parameters, const SplitFacts& facts) {
    const double fill = fill_of_split(parameters);
    return dense_regions(facts, "diagonals", [&](Offset key, Offset count) {
        const Offset diagonal = distance_of(key, facts);
        const Offset first_row = std::max<Offset>(0, -diagonal);
        const Offset end_row = std::min<Offset>(facts.matrix.rows, facts.matrix.columns - diagonal);
        return static_cast<double>(count) >= fill * static_cast<double>(end_row - first_row);
    });
}

SplitTable dense_columns(const Parameters& parameters, const SplitFacts& facts) {
    const double density = parameters.real("density");
    return dense_regions(facts, "columns",
                         [&](Offset, Offset count) { return static_cast<double>(count) > density * facts.matrix.rows; });
}

SplitTable near_diagonals(const Parameters& parameters, const SplitFacts& facts) {
    const std::int64_t most = parameters.integer("distance");
    return table_of(std::max<Offset>(facts.matrix.rows, 1) - 1 + facts.matrix.columns,
                    [&](Offset key) { return std::abs(distance_of(key, facts)) <= most ? 0 : 1; });
}

SplitTable parts_chosen(const Parameters& parameters, const SplitFacts& facts) {
    const Cuts partition{CutKind::partition, {facts.partition.begin(), facts.partition.end()}};
    const std::vector<bool> is_chosen = chosen_partitions(parameters, partition.count());
    const std::vector<Index> piece_of = partition.pieces();
    return table_of(facts.view.row_count(),
                    [&](Offset row) { return is_chosen[piece_of[facts.view.row(static_cast<Index>(row))]] ? 0 : 1; });
}

/// [nonzeros of the matrix] 0 for those of the view that belong, 1 for all others. belongs(entry)
template <typename Belongs>
std::vector<std::uint8_t> entries_that(const SplitFacts& facts, const Belongs& belongs) {
    std::vector<std::uint8_t> shares(static_cast<std::size_t>(facts.matrix.nonzeros()), 1);
    Kokkos::parallel_for("divide_entries", HostRange<>(0, facts.view.row_count()), [&](Index stored) {
        for (Offset k = 0; k < facts.view.length(stored); ++k) {
            const Offset entry = facts.view.entry(stored, k);
            if (belongs(entry)) shares[static_cast<std::size_t>(entry)] = 0;
        }
    });
    return shares;
}

SplitTable dense_blocks(const Parameters& parameters, const SplitFacts& facts) {
    const auto [height, width] = shape_of_blocks(parameters);
    const Marks marks = mark_dense_blocks(facts.matrix, facts.view, {height, width, fill_of_split(parameters)});
    return {entries_that(facts, [&](Offset entry) { return marks.marked[static_cast<std::size_t>(entry)] != 0; }),
            {{"dense blocks", std::to_string(marks.dense) + " of " + std::to_string(marks.present)}}};
}

SplitTable chosen_values(const Parameters& parameters, const SplitFacts& facts) {
    const auto value = [&](Offset entry) { return facts.matrix.values[static_cast<std::size_t>(entry)]; };
    if (parameters.has("larger_than")) {
        const double threshold = parameters.real("larger_than");
        return {entries_that(facts, [&](Offset entry) { return std::abs(value(entry)) > threshold; })};
    }
    const bool commonest = parameters.is_word("value", "commonest");
    const double chosen = commonest ? commonest_value(facts.view, facts.matrix.values) : parameters.real("value");
    SplitTable table{entries_that(facts, [&](Offset entry) { return value(entry) == chosen; })};
    if (commonest) table.notes.emplace_back("commonest value", to_text(ParameterValue(chosen)));
    return table;
}

}  // namespace

std::int64_t first_count(const ShareView& view, const Parameters& parameters) {
    if (!parameters.has("k") || parameters.is_word("k", "one_third")) return one_third(view);
    return count_among(relative_length(parameters, "k"), view);
}

std::array<Index, 2> shape_of_blocks(const Parameters& parameters) {
    const auto number = [&](const char* name) { return static_cast<Index>(parameters.integer(name)); };
    if (parameters.has("size")) return {number("size"), number("size")};
    return {number("height"), number("width")};
}

SplitNonzeros split_rule(const Parameters& parameters) {
    const std::string& by = parameters.text("by");
    const auto rule = [&](SplitKey key, SplitTable (*make)(const Parameters&, const SplitFacts&),
                          SplitReads reads = SplitReads::nothing) {
        return SplitNonzeros{.key = key,
                             .table = [make, parameters](const SplitFacts& facts) { return make(parameters, facts); },
                             .reads = reads,
                             .needs_parts = make == parts_chosen};
    };
    if (by == "inside_partition") return SplitNonzeros{};
    if (parameters.has("bounds")) return rule(by == "columns" ? SplitKey::column : SplitKey::row, bins);
    if (by == "first_k") return rule(SplitKey::place, first_places);
    if (by == "row_length") return rule(SplitKey::row, long_rows);
    if (by == "diagonals") return rule(SplitKey::diagonal, dense_diagonals, SplitReads::counts);
    if (by == "columns") return rule(SplitKey::column, dense_columns, SplitReads::counts);
    if (by == "distance") return rule(SplitKey::diagonal, near_diagonals);
    if (by == "partition") return rule(SplitKey::row, parts_chosen);
    if (by == "blocks") return rule(SplitKey::nonzero, dense_blocks, SplitReads::columns);
    return rule(SplitKey::nonzero, chosen_values, SplitReads::values);
}

}  // namespace workbench
