// Splits the nonzeros into two shares, which can have different layouts.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/matrix/host_array.hpp"
#include "pipeline/matrix/host_threads.hpp"
#include "pipeline/matrix/preparer.hpp"
#include "stages/parameters.hpp"
#include "stages/split_marks.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// A criterion of the split: its name, its two shares, and its parameters.
struct Criterion {
    std::string by;
    ShareKind first;   // the nonzeros that satisfy it
    ShareKind second;  // all others
    std::vector<std::string> required = {};
    std::vector<std::string> optional = {};
};

const std::vector<Criterion>& criteria() {
    static const std::vector<Criterion> all{
        {.by = "inside_partition", .first = ShareKind::inside, .second = ShareKind::outside},
        {.by = "first_k", .first = ShareKind::first, .second = ShareKind::rest, .optional = {"k"}},
        {.by = "row_length", .first = ShareKind::long_rows, .second = ShareKind::short_rows, .required = {"longer_than"}},
        {.by = "diagonals", .first = ShareKind::dense_diagonals, .second = ShareKind::sparse_diagonals, .optional = {"fill"}},
        {.by = "blocks",
         .first = ShareKind::dense_blocks,
         .second = ShareKind::sparse_blocks,
         .required = {"size"},
         .optional = {"fill"}},
        {.by = "columns", .first = ShareKind::dense_columns, .second = ShareKind::sparse_columns, .required = {"density"}},
        {.by = "distance", .first = ShareKind::near, .second = ShareKind::far, .required = {"distance"}}};
    return all;
}

bool takes(const Criterion& criterion, const std::string& parameter) {
    const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), parameter) != list.end(); };
    return has(criterion.required) || has(criterion.optional);
}

/// The criteria with a parameter: "by = \"diagonals\" or \"blocks\"".
std::string criteria_with(const std::string& parameter) {
    std::string text;
    for (const Criterion& criterion : criteria()) {
        if (takes(criterion, parameter)) text += (text.empty() ? "by = \"" : " or \"") + criterion.by + '"';
    }
    return text;
}

const Criterion& criterion_of(const Parameters& parameters) {
    const auto named = [&](const Criterion& criterion) { return criterion.by == parameters.text("by"); };
    return *std::find_if(criteria().begin(), criteria().end(), named);
}

/// The share to split; by default all nonzeros.
ShareId parent_of(const Parameters& parameters) {
    if (!parameters.has("share")) return {};
    return single_share(parameters.text("share")).value();
}

ShareId part_of(const ShareId& parent, ShareKind kind) {
    const std::optional<ShareId> id = share_within(parent, kind);
    if (!id) {
        throw ParameterError("share", "share '" + name_of(parent) + "' was split " + std::to_string(most_splits_again) +
                                          " times already, which is the limit");
    }
    return *id;
}

StageContract split_contract(const Parameters& parameters) {
    const Criterion& criterion = criterion_of(parameters);
    for (const char* name : {"k", "longer_than", "fill", "size", "density", "distance"}) {
        if (!parameters.has(name) || takes(criterion, name)) continue;
        throw ParameterError(name,
                             std::string(name) + " is for " + criteria_with(name) + ", but by is \"" + criterion.by + '"');
    }
    for (const std::string& name : criterion.required) {
        if (!parameters.has(name)) throw ParameterError(name, "by = \"" + criterion.by + "\" needs " + name);
    }
    StageContract contract{.gives_shares = {{criterion.first}, {criterion.second}}};
    if (criterion.first == ShareKind::inside) contract.needs = {.square = true, .cuts = {CutKind::partition}};
    const ShareId parent = parent_of(parameters);
    (void)part_of(parent, criterion.first);
    if (parent == ShareId{}) {
        contract.needs.unsplit = true;
    } else {
        contract.needs.shares = {share_choice(name_of(parent)).value()};
        contract.splits = parent;
    }
    return contract;
}

/// A share whose entries are still to be listed.
struct ShareOfRows {
    Share share;
    HostArray<Index> stored_rows;  // [rows of the share] their places in the view
};

/// The share with the rows of a view that have length_of(stored row) > 0 entries in it.
template <typename Lengths>
ShareOfRows share_of_lengths(const ShareId& id, const ShareView& view, const Lengths& length_of) {
    const auto count = static_cast<std::size_t>(view.row_count());
    HostArray<Offset> place;  // [stored rows + 1] in the share
    make_zeros(place, count + 1);
    const auto for_rows = [count](const auto& visit) {
        for_pieces(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t stored = begin; stored < end; ++stored) visit(static_cast<Index>(stored));
        });
    };
    for_rows([&](Index stored) { place[stored + 1] = length_of(stored) > 0 ? 1 : 0; });
    sum_up(place);

    ShareOfRows result{.share = {.id = id, .rows = unwritten_array<Index>(place.back())},
                       .stored_rows = unwritten_array<Index>(place.back())};
    Share& share = result.share;
    make_zeros(share.row_offsets, place.back() + 1);
    for_rows([&](Index stored) {
        const Offset present = place[stored];
        if (place[stored + 1] == present) return;
        result.stored_rows[present] = stored;
        share.rows[present] = view.row(stored);
        share.row_offsets[present + 1] = length_of(stored);
    });
    sum_up(share.row_offsets);
    return result;
}

/// lengths: [stored rows] of the first share.
std::array<ShareOfRows, 2> shares_of_lengths(const std::array<ShareId, 2>& ids, const ShareView& view,
                                             std::span<const Index> lengths) {
    return {share_of_lengths(ids[0], view, [&](Index stored) { return Offset{lengths[stored]}; }),
            share_of_lengths(ids[1], view, [&](Index stored) { return view.length(stored) - lengths[stored]; })};
}

/// The entries of a view for which belongs(stored row, k) is true, and all others. Rows keep their order of storage, and shares
/// omit rows without entries.
template <typename Belongs>
std::array<Share, 2> shares_where(const std::array<ShareId, 2>& ids, const ShareView& view, const Belongs& belongs) {
    HostArray<Index> lengths = unwritten_array<Index>(view.row_count());
    Kokkos::parallel_for("count_entries", HostRange<>(0, view.row_count()), [&](Index stored) {
        Index length = 0;
        for (Offset k = 0; k < view.length(stored); ++k) length += belongs(stored, k) ? 1 : 0;
        lengths[stored] = length;
    });
    std::array<ShareOfRows, 2> shares = shares_of_lengths(ids, view, lengths);
    for (const bool wanted : {true, false}) {
        auto& [share, stored_rows] = shares[wanted ? 0 : 1];
        make_room(share.entries, share.row_offsets.back());
        Kokkos::parallel_for("list_entries", HostRange<std::size_t>(0, stored_rows.size()),
                             [&, &share = share, &stored_rows = stored_rows](std::size_t i) {
                                 Offset* place = share.entries.data() + share.row_offsets[i];
                                 const Index stored = stored_rows[i];
                                 const bool whole_row = share.row_offsets[i + 1] - share.row_offsets[i] == view.length(stored);
                                 for (Offset k = 0; k < view.length(stored); ++k) {
                                     if (whole_row || belongs(stored, k) == wanted) *place++ = view.entry(stored, k);
                                 }
                             });
    }
    return {std::move(shares[0].share), std::move(shares[1].share)};
}

/// Like shares_where, by a preparer; none if it declines.
std::optional<std::array<Share, 2>> shares_of_preparer(const std::array<ShareId, 2>& ids, const StagedMatrix& staged,
                                                       const ShareView& view, const Division& division) {
    if (staged.preparer == nullptr) return std::nullopt;
    std::optional<DividedEntries> divided = staged.preparer->divide(staged.matrix, view, division);
    if (!divided) return std::nullopt;
    std::array<ShareOfRows, 2> shares = shares_of_lengths(ids, view, divided->lengths);
    for (const int i : {0, 1}) shares[i].share.entries = std::move(divided->entries[i]);
    return {{std::move(shares[0].share), std::move(shares[1].share)}};
}

std::pair<std::string, std::string> describe(const Share& share) {
    return {name_of(share.id),
            std::to_string(share.entries.size()) + " nonzeros in " + std::to_string(share.rows.size()) + " rows"};
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

/// The mean row length, rounded up so that nothing remains of rows of equal length; at least 1.
Index mean_length(const ShareView& view) {
    if (view.entry_count() == 0) return 1;
    return static_cast<Index>((view.entry_count() + view.row_count() - 1) / view.row_count());
}

Index first_count(const ShareView& view, const Parameters& parameters) {
    if (!parameters.has("k") || parameters.is_word("k", "one_third")) return one_third(view);
    if (parameters.is_word("k", "mean")) return mean_length(view);
    return static_cast<Index>(parameters.integer("k"));
}

/// The split of a view into two shares, and its result.
struct Splitting {
    const StagedMatrix& staged;
    ShareId parent;
    ShareView view;
    const Criterion& criterion;
    StageResult result = {};

    /// Splits into the entries that belong and all others. `division` expresses the same criterion as `belongs`, for a
    /// preparer.
    template <typename Belongs>
    void divide(const Division& division, const Belongs& belongs) {
        const std::array ids{part_of(parent, criterion.first), part_of(parent, criterion.second)};
        std::optional<std::array<Share, 2>> of_preparer = shares_of_preparer(ids, staged, view, division);
        std::array<Share, 2> parts = of_preparer ? std::move(*of_preparer) : shares_where(ids, view, belongs);
        for (const Share& share : parts) result.notes.push_back(describe(share));
        std::vector<Share> shares;
        const auto add_parts = [&] { std::move(parts.begin(), parts.end(), std::back_inserter(shares)); };
        if (parent == ShareId{}) add_parts();
        for (const Share& share : staged.shares) {
            if (share.id == parent) {
                add_parts();
            } else {
                shares.push_back(share);
            }
        }
        result.change.shares = std::move(shares);
    }

    void divide(const Marks& marks, const std::string& regions) {
        result.notes.emplace_back("dense " + regions, std::to_string(marks.dense) + " of " + std::to_string(marks.present));
        divide({.by = Division::By::mark, .marked = marks.marked},
               [&](Index stored, Offset k) { return marks.marked[view.entry(stored, k)] != 0; });
    }
};

double fill_of(const Parameters& parameters) { return parameters.has("fill") ? parameters.real("fill") : 0.7; }

StageResult run_split(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const CsrMatrix& matrix = staged.matrix;
    const ShareId parent = parent_of(parameters);
    Splitting split{staged, parent, staged.share(parent), criterion_of(parameters)};
    const ShareView& view = split.view;
    switch (split.criterion.first) {
        case ShareKind::first: {
            const Index most = first_count(view, parameters);
            split.result.notes.emplace_back("k", std::to_string(most));
            split.divide({.by = Division::By::place, .most = most}, [&](Index, Offset k) { return k < most; });
            break;
        }
        case ShareKind::long_rows: {
            const std::int64_t most = parameters.integer("longer_than");
            split.divide({.by = Division::By::length, .most = most},
                         [&](Index stored, Offset) { return view.length(stored) > most; });
            break;
        }
        case ShareKind::dense_diagonals:
            split.divide(mark_dense_diagonals(matrix, view, fill_of(parameters)), "diagonals");
            break;
        case ShareKind::dense_blocks:
            split.divide(mark_dense_blocks(matrix, view, static_cast<Index>(parameters.integer("size")), fill_of(parameters)),
                         "blocks");
            break;
        case ShareKind::dense_columns:
            split.divide(mark_dense_columns(matrix, view, parameters.real("density")), "columns");
            break;
        case ShareKind::near: {
            const std::int64_t most = parameters.integer("distance");
            split.divide({.by = Division::By::distance, .most = most}, [&](Index stored, Offset k) {
                return std::abs(Offset{matrix.column_indices[view.entry(stored, k)]} - view.row(stored)) <= most;
            });
            break;
        }
        default: {
            const std::vector<Index> piece_of = staged.find_cuts(CutKind::partition)->pieces();
            split.divide({.by = Division::By::partition, .piece_of = piece_of}, [&](Index stored, Offset k) {
                return piece_of[view.row(stored)] == piece_of[matrix.column_indices[view.entry(stored, k)]];
            });
        }
    }
    return std::move(split.result);
}

std::vector<std::string> names_of_criteria() {
    std::vector<std::string> names;
    for (const Criterion& criterion : criteria()) names.push_back(criterion.by);
    return names;
}

/// The shares that can be split again.
std::vector<std::string> names_of_single_shares() {
    std::vector<std::string> names;
    for (const ShareKind kind : kinds_of_shares) {
        if (!has_places(kind)) names.emplace_back(name_of(kind));
    }
    return names;
}

}  // namespace

StageEntry split_stage() {
    return {
        .name = "split",
        .summary = "Split the nonzeros, or one share of them, into two shares, each of which can have its own layout",
        .source =
            "by partition: Chen, 'Explicit caching HYB: a new high-performance SpMV framework on GPGPU' (EHYB), arXiv 2022, "
            "section "
            "3.2; by the first k of each row: Bell, Garland, 'Implementing sparse matrix-vector multiplication on "
            "throughput-oriented "
            "processors' (HYB), SC 2009",
        .parameters =
            {choice_parameter(
                 "by", required, names_of_criteria(),
                 "inside_partition: share 'inside' if row and column are in the same partition, else 'outside'; "
                 "first_k: 'first' for the first k nonzeros of each row, else 'rest'; "
                 "row_length: 'long' for rows with more than longer_than nonzeros, else 'short'; "
                 "diagonals: 'dense_diagonals' for diagonals filled to at least the fraction fill, else 'sparse_diagonals'; "
                 "blocks: 'dense_blocks' for blocks of size x size filled to at least fill, else 'sparse_blocks'; "
                 "columns: 'dense_columns' for columns with nonzeros in more than the fraction density of the rows, else "
                 "'sparse_columns'; "
                 "distance: 'near' if |row - column| <= distance, else 'far'"),
             declare("share", ParameterType::share, not_required, {.words = names_of_single_shares()},
                     "split this share again, considering only its nonzeros; first_k of \"short\" makes 'short/first' and "
                     "'short/rest'"),
             integer_parameter(
                 "k", not_required, between(1, largest_index, "nonzeros", {"one_third", "mean"}),
                 "first_k: the number of nonzeros; one_third: the largest k such that at least a third of the rows have "
                 "k nonzeros or more; mean: the mean row length, rounded up; default: one_third"),
             integer_parameter("longer_than", not_required, between(0, largest_index, "nonzeros"),
                               "row_length: rows with more nonzeros are long"),
             real_parameter(
                 "fill", not_required, between(0, 1, "share"),
                 "diagonals and blocks: the fraction of the places that must hold nonzeros; default: 0.7, above which dense "
                 "f64 values take less memory than sparse ones with columns"),
             integer_parameter("size", not_required, between(1, 65536, "rows"), "blocks: the rows and columns of a block"),
             real_parameter("density", not_required, between(0, 1, "share"),
                            "columns: a dense column has nonzeros in more than this fraction of the rows"),
             integer_parameter("distance", not_required, between(0, largest_index, "columns"),
                               "distance: the maximum difference of row and column of a near nonzero")},
        .contract = split_contract,
        .run = run_split};
}

}  // namespace workbench
