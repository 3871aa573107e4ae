// Shares of the nonzeros that are stored, and multiplied with, in different ways.
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include "stages/stages.hpp"

namespace workbench {
namespace {

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// The share of all entries for which `belongs(row, entry)`. Rows that have none are not present in it.
template <typename Belongs>
Share share_where(ShareKind kind, const CsrMatrix& matrix, const Belongs& belongs) {
    std::vector<Offset> lengths(matrix.rows, 0);
    Kokkos::parallel_for("count_entries", Range(0, matrix.rows), [&](Index row) {
        for (Offset entry = matrix.row_offsets[row]; entry < matrix.row_offsets[row + 1]; ++entry) {
            lengths[row] += belongs(row, entry) ? 1 : 0;
        }
    });

    Share share{{kind}, {}, {0}, {}};
    for (Index row = 0; row < matrix.rows; ++row) {
        if (lengths[row] == 0) continue;
        share.rows.push_back(row);
        share.row_offsets.push_back(share.row_offsets.back() + lengths[row]);
    }

    share.entries.resize(share.row_offsets.back());
    Kokkos::parallel_for("list_entries", Range(0, static_cast<Index>(share.rows.size())), [&](Index stored) {
        const Index row = share.rows[stored];
        Offset place = share.row_offsets[stored];
        for (Offset entry = matrix.row_offsets[row]; entry < matrix.row_offsets[row + 1]; ++entry) {
            if (belongs(row, entry)) share.entries[place++] = entry;
        }
    });
    return share;
}

std::pair<std::string, std::string> describe(const Share& share) {
    return {name_of(share.id),
            std::to_string(share.entries.size()) + " nonzeros in " + std::to_string(share.rows.size()) + " rows"};
}

/// The largest k such that at least a third of the rows have k nonzeros or more; 1 where it would be less.
Index one_third(const CsrMatrix& matrix) {
    std::vector<Offset> lengths(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) lengths[row] = matrix.row_length(row);
    if (lengths.empty()) return 1;
    // The row that completes a third, counted from the longest.
    const auto last_of_third = lengths.begin() + (std::ssize(lengths) + 2) / 3 - 1;
    std::nth_element(lengths.begin(), last_of_third, lengths.end(), std::greater<>());
    return static_cast<Index>(std::max<Offset>(*last_of_third, 1));
}

/// The mean length of a row, rounded up, so that rows which are all of one length leave nothing over; at least 1.
Index mean_length(const CsrMatrix& matrix) {
    if (matrix.nonzeros() == 0) return 1;
    return static_cast<Index>((matrix.nonzeros() + matrix.rows - 1) / matrix.rows);
}

Index first_count(const CsrMatrix& matrix, const Parameters& parameters) {
    if (!parameters.has("k") || parameters.is_word("k", "one_third")) return one_third(matrix);
    if (parameters.is_word("k", "mean")) return mean_length(matrix);
    return static_cast<Index>(parameters.integer("k"));
}

StageContract contract(const Parameters& parameters) {
    if (parameters.text("by") == "first_k") {
        return {.needs = {.unsplit = true}, .gives_shares = {{ShareKind::first}, {ShareKind::rest}}};
    }
    if (parameters.has("k")) throw ParameterError("k", "k is for by = \"first_k\", here by is \"inside_partition\"");
    return {.needs = {.square = true, .cuts = {CutKind::partition}, .unsplit = true},
            .gives_shares = {{ShareKind::inside}, {ShareKind::outside}}};
}

/// Two shares: the entries that belong, and the others.
template <typename Belongs>
StageResult split_in_two(const CsrMatrix& matrix, ShareKind with, ShareKind without, const Belongs& belongs) {
    std::vector<Share> shares;
    shares.push_back(share_where(with, matrix, belongs));
    shares.push_back(share_where(without, matrix, [&](Index row, Offset entry) { return !belongs(row, entry); }));
    StageResult result{.change = {}, .notes = {describe(shares[0]), describe(shares[1])}};
    result.change.shares = std::move(shares);
    return result;
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const CsrMatrix& matrix = staged.matrix;
    if (parameters.text("by") == "first_k") {
        const Index k = first_count(matrix, parameters);
        StageResult result = split_in_two(matrix, ShareKind::first, ShareKind::rest,
                                          [&](Index row, Offset entry) { return entry - matrix.row_offsets[row] < k; });
        result.notes.insert(result.notes.begin(), {"k", std::to_string(k)});
        return result;
    }
    const std::vector<Index> piece_of = staged.find_cuts(CutKind::partition)->pieces();
    return split_in_two(matrix, ShareKind::inside, ShareKind::outside,
                        [&](Index row, Offset entry) { return piece_of[row] == piece_of[matrix.column_indices[entry]]; });
}

}  // namespace

StageEntry split_stage() {
    return {
        .name = "split",
        .summary =
            "Split the nonzeros into shares: inside and outside the diagonal blocks of the partition, or the first k of "
            "each row and the rest",
        .source =
            "EHYB section 3.2: sliced ELL for what finds x in the cache, extra rows for the rest; Bell and Garland (2009): "
            "ELL for the first k of each row, COO for the rest",
        .parameters = {{.name = "by",
                        .type = ParameterType::choice,
                        .words = {"inside_partition", "first_k"},
                        .help = "inside_partition: share 'inside' if row and column are in one partition, else 'outside'; "
                                "first_k: share 'first' for the first k nonzeros of each row, 'rest' for the others"},
                       {.name = "k",
                        .type = ParameterType::integer,
                        .optional = true,
                        .minimum = 1,
                        .maximum = 2147483647,
                        .words = {"one_third", "mean"},
                        .unit = "nonzeros",
                        .help = "with by = \"first_k\"; one_third, where nothing is said: the largest k such that at least a "
                                "third of the rows have k nonzeros or more; mean: of the rows' lengths, rounded up"}},
        .contract = contract,
        .run = run};
}

}  // namespace workbench
