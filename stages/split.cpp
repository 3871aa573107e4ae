// Shares of the nonzeros that are stored, and multiplied with, in different ways.
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/matrix/host_array.hpp"
#include "pipeline/matrix/preparer.hpp"
#include "stages/split_marks.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// One way to split: what it is called, its two shares, and the parameters that it takes.
struct Way {
    std::string by;
    ShareKind with;
    ShareKind without;
    std::vector<std::string> needed = {};
    std::vector<std::string> optional = {};
};

const std::vector<Way>& ways() {
    static const std::vector<Way> all{{"inside_partition", ShareKind::inside, ShareKind::outside},
                                      {"first_k", ShareKind::first, ShareKind::rest, {}, {"k"}},
                                      {"row_length", ShareKind::long_rows, ShareKind::short_rows, {"longer_than"}},
                                      {"diagonals", ShareKind::dense_diagonals, ShareKind::sparse_diagonals, {}, {"fill"}},
                                      {"blocks", ShareKind::dense_blocks, ShareKind::sparse_blocks, {"size"}, {"fill"}},
                                      {"columns", ShareKind::dense_columns, ShareKind::sparse_columns, {"density"}},
                                      {"distance", ShareKind::near, ShareKind::far, {"distance"}}};
    return all;
}

bool takes(const Way& way, const std::string& parameter) {
    const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), parameter) != list.end(); };
    return has(way.needed) || has(way.optional);
}

/// "by = \"diagonals\" or \"blocks\"": the ways that take a parameter.
std::string ways_that_take(const std::string& parameter) {
    std::string text;
    for (const Way& way : ways()) {
        if (takes(way, parameter)) text += (text.empty() ? "by = \"" : " or \"") + way.by + '"';
    }
    return text;
}

const Way& way_of(const Parameters& parameters) {
    const auto named = [&](const Way& way) { return way.by == parameters.text("by"); };
    return *std::find_if(ways().begin(), ways().end(), named);
}

/// The share that is split; all nonzeros where none is named.
ShareId parent_of(const Parameters& parameters) {
    if (!parameters.has("share")) return {};
    const std::optional<ShareId> parent = single_share(parameters.text("share"));
    if (!parent) throw ParameterError("share", "segments and tiles are not split again; expected a share of stage split");
    return *parent;
}

ShareId part_of(const ShareId& parent, ShareKind kind) {
    const std::optional<ShareId> id = share_within(parent, kind);
    if (!id) {
        throw ParameterError("share", "share '" + name_of(parent) + "' was split " + std::to_string(most_splits_again) +
                                          " times already; expected at most so many");
    }
    return *id;
}

StageContract contract(const Parameters& parameters) {
    const Way& way = way_of(parameters);
    for (const char* name : {"k", "longer_than", "fill", "size", "density", "distance"}) {
        if (!parameters.has(name) || takes(way, name)) continue;
        throw ParameterError(name, std::string(name) + " is for " + ways_that_take(name) + ", here by is \"" + way.by + '"');
    }
    for (const std::string& name : way.needed) {
        if (!parameters.has(name)) throw ParameterError(name, "by = \"" + way.by + "\" needs " + name);
    }
    StageContract contract{.gives_shares = {{way.with}, {way.without}}};
    if (way.with == ShareKind::inside) contract.needs = {.square = true, .cuts = {CutKind::partition}};
    const ShareId parent = parent_of(parameters);
    (void)part_of(parent, way.with);
    if (parent == ShareId{}) {
        contract.needs.unsplit = true;
    } else {
        contract.needs.shares = {share_choice(name_of(parent)).value()};
        contract.splits = parent;
    }
    return contract;
}

/// A share with its rows, those of a view that have `lengths(stored row)` entries in it, and without the entries.
/// stored_rows: where they were stored. [present]
template <typename Lengths>
Share share_of_lengths(const ShareId& id, const ShareView& view, const Lengths& length_of, HostArray<Index>& stored_rows) {
    const auto count = static_cast<std::size_t>(view.row_count());
    HostArray<Offset> place;  // [stored rows + 1] among those that are present
    make_zeros(place, count + 1);
    const auto for_rows = [count](const auto& visit) {
        for_pieces(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t stored = begin; stored < end; ++stored) visit(static_cast<Index>(stored));
        });
    };
    for_rows([&](Index stored) { place[stored + 1] = length_of(stored) > 0 ? 1 : 0; });
    sum_up(place);

    Share share{id, {}, {}, {}};
    make_room(stored_rows, place.back());
    make_room(share.rows, place.back());
    make_zeros(share.row_offsets, place.back() + 1);
    for_rows([&](Index stored) {
        const Offset present = place[stored];
        if (place[stored + 1] == present) return;
        stored_rows[present] = stored;
        share.rows[present] = view.row(stored);
        share.row_offsets[present + 1] = length_of(stored);
    });
    sum_up(share.row_offsets);
    return share;
}

/// The two shares without their entries, and where their rows were stored. lengths: of the first. [stored rows]
std::array<Share, 2> shares_of_lengths(const std::array<ShareId, 2>& ids, const ShareView& view, std::span<const Index> lengths,
                                       std::array<HostArray<Index>, 2>& stored_rows) {
    return {share_of_lengths(
                ids[0], view, [&](Index stored) { return Offset{lengths[stored]}; }, stored_rows[0]),
            share_of_lengths(
                ids[1], view, [&](Index stored) { return view.length(stored) - lengths[stored]; }, stored_rows[1])};
}

/// The entries of the view for which `belongs(stored row, k)`, and the others. Rows that have none are not present in a share;
/// the others keep the order in which they are stored.
template <typename Belongs>
std::array<Share, 2> shares_where(const std::array<ShareId, 2>& ids, const ShareView& view, const Belongs& belongs) {
    HostArray<Index> lengths;  // of the first
    make_room(lengths, view.row_count());
    Kokkos::parallel_for("count_entries", Range(0, view.row_count()), [&](Index stored) {
        Index length = 0;
        for (Offset k = 0; k < view.length(stored); ++k) length += belongs(stored, k) ? 1 : 0;
        lengths[stored] = length;
    });
    std::array<HostArray<Index>, 2> stored_rows;
    std::array<Share, 2> shares = shares_of_lengths(ids, view, lengths, stored_rows);
    for (const bool wanted : {true, false}) {
        Share& share = shares[wanted ? 0 : 1];
        make_room(share.entries, share.row_offsets.back());
        const HostArray<Index>& of_share = stored_rows[wanted ? 0 : 1];
        Kokkos::parallel_for("list_entries", Range(0, static_cast<Index>(of_share.size())), [&](Index i) {
            Offset* place = share.entries.data() + share.row_offsets[i];
            const Index stored = of_share[i];
            if (share.row_offsets[i + 1] - share.row_offsets[i] == view.length(stored)) {  // all of the row
                for (Offset k = 0; k < view.length(stored); ++k) *place++ = view.entry(stored, k);
                return;
            }
            for (Offset k = 0; k < view.length(stored); ++k) {
                if (belongs(stored, k) == wanted) *place++ = view.entry(stored, k);
            }
        });
    }
    return shares;
}

/// The same by a preparer; none where it leaves it to the host.
std::optional<std::array<Share, 2>> shares_of_preparer(const std::array<ShareId, 2>& ids, const StagedMatrix& staged,
                                                       const ShareView& view, const Division& division) {
    if (staged.preparer == nullptr) return std::nullopt;
    std::optional<DividedEntries> divided = staged.preparer->divide(staged.matrix, view, division);
    if (!divided) return std::nullopt;
    std::array<HostArray<Index>, 2> stored_rows;
    std::array<Share, 2> shares = shares_of_lengths(ids, view, divided->lengths, stored_rows);
    for (const int share : {0, 1}) shares[share].entries = std::move(divided->entries[share]);
    return shares;
}

std::pair<std::string, std::string> describe(const Share& share) {
    return {name_of(share.id),
            std::to_string(share.entries.size()) + " nonzeros in " + std::to_string(share.rows.size()) + " rows"};
}

/// The largest k such that at least a third of the rows have k nonzeros or more; 1 where it would be less.
Index one_third(const ShareView& view) {
    std::vector<Offset> lengths(view.row_count());
    for (Index row = 0; row < view.row_count(); ++row) lengths[row] = view.length(row);
    if (lengths.empty()) return 1;
    // The row that completes a third, counted from the longest.
    const auto last_of_third = lengths.begin() + (std::ssize(lengths) + 2) / 3 - 1;
    std::nth_element(lengths.begin(), last_of_third, lengths.end(), std::greater<>());
    return static_cast<Index>(std::max<Offset>(*last_of_third, 1));
}

/// The mean length of a row, rounded up, so that rows which are all of one length leave nothing over; at least 1.
Index mean_length(const ShareView& view) {
    if (view.entry_count() == 0) return 1;
    return static_cast<Index>((view.entry_count() + view.row_count() - 1) / view.row_count());
}

Index first_count(const ShareView& view, const Parameters& parameters) {
    if (!parameters.has("k") || parameters.is_word("k", "one_third")) return one_third(view);
    if (parameters.is_word("k", "mean")) return mean_length(view);
    return static_cast<Index>(parameters.integer("k"));
}

/// A view that is split in two, and what is told about it.
struct Splitting {
    const StagedMatrix& staged;
    ShareId parent;
    ShareView view;
    const Way& way;
    StageResult result = {};

    /// Two shares: the entries that belong, and the others. The division says the same as `belongs`, for a preparer.
    template <typename Belongs>
    void divide(const Division& division, const Belongs& belongs) {
        const std::array ids{part_of(parent, way.with), part_of(parent, way.without)};
        std::optional<std::array<Share, 2>> of_preparer = shares_of_preparer(ids, staged, view, division);
        std::array<Share, 2> made = of_preparer ? std::move(*of_preparer) : shares_where(ids, view, belongs);
        for (const Share& share : made) result.notes.push_back(describe(share));
        std::vector<Share> shares;
        const auto take_made = [&] { std::move(made.begin(), made.end(), std::back_inserter(shares)); };
        if (parent == ShareId{}) take_made();
        for (const Share& share : staged.shares) {
            if (share.id == parent) {
                take_made();
            } else {
                shares.push_back(share);
            }
        }
        result.change.shares = std::move(shares);
    }

    void divide(const Marks& marks, const std::string& things) {
        result.notes.emplace_back("dense " + things, std::to_string(marks.dense) + " of " + std::to_string(marks.present));
        divide({.by = Division::By::mark, .marked = marks.marked},
               [&](Index stored, Offset k) { return marks.marked[view.entry(stored, k)] != 0; });
    }
};

double fill_of(const Parameters& parameters) {
    constexpr double where_nothing_is_said = 0.7;
    return parameters.has("fill") ? parameters.real("fill") : where_nothing_is_said;
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const CsrMatrix& matrix = staged.matrix;
    const ShareId parent = parent_of(parameters);
    Splitting split{staged, parent, staged.share(parent), way_of(parameters)};
    const ShareView& view = split.view;
    switch (split.way.with) {
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

std::vector<std::string> words_for_ways() {
    std::vector<std::string> words;
    for (const Way& way : ways()) words.push_back(way.by);
    return words;
}

}  // namespace

StageEntry split_stage() {
    return {
        .name = "split",
        .summary = "Split the nonzeros, or one share of them, into two shares, each of which can have a layout of its own",
        .source =
            "EHYB section 3.2: sliced ELL for what finds x in the cache, extra rows for the rest; Bell and Garland (2009): "
            "ELL for the first k of each row, COO for the rest",
        .parameters =
            {{.name = "by",
              .type = ParameterType::choice,
              .words = words_for_ways(),
              .help = "inside_partition: share 'inside' if row and column are in one partition, else 'outside'; "
                      "first_k: share 'first' for the first k nonzeros of each row, 'rest' for the others; "
                      "row_length: 'long' for rows of more nonzeros than longer_than, else 'short'; "
                      "diagonals: 'dense_diagonals' for those filled at least to the share fill, else 'sparse_diagonals'; "
                      "blocks: 'dense_blocks' for blocks of size x size places so filled, else 'sparse_blocks'; "
                      "columns: 'dense_columns' for columns with nonzeros in more than the share density of the rows, else "
                      "'sparse_columns'; "
                      "distance: 'near' if |row - column| is at most distance, else 'far'"},
             {.name = "share",
              .type = ParameterType::share,
              .optional = true,
              .help = "split this share again, whose nonzeros alone then count; of \"short\" by first_k come 'short/first' and "
                      "'short/rest'"},
             {.name = "k",
              .type = ParameterType::integer,
              .optional = true,
              .minimum = 1,
              .maximum = 2147483647,
              .words = {"one_third", "mean"},
              .unit = "nonzeros",
              .help = "with by = \"first_k\"; one_third, where nothing is said: the largest k such that at least a "
                      "third of the rows have k nonzeros or more; mean: of the rows' lengths, rounded up"},
             {.name = "longer_than",
              .type = ParameterType::integer,
              .optional = true,
              .minimum = 0,
              .maximum = 2147483647,
              .unit = "nonzeros",
              .help = "needed with by = \"row_length\": a row of more is long"},
             {.name = "fill",
              .type = ParameterType::real,
              .optional = true,
              .minimum = 0,
              .maximum = 1,
              .unit = "share",
              .help = "with by = \"diagonals\" or \"blocks\": of the places of a diagonal or a block that must hold a nonzero; "
                      "0.7, where nothing is said: about where f64 values without columns take less than nonzeros with them"},
             {.name = "size",
              .type = ParameterType::integer,
              .optional = true,
              .minimum = 1,
              .maximum = 65536,
              .unit = "rows",
              .help = "needed with by = \"blocks\": rows and columns of a block"},
             {.name = "density",
              .type = ParameterType::real,
              .optional = true,
              .minimum = 0,
              .maximum = 1,
              .unit = "share",
              .help =
                  "needed with by = \"columns\": of the rows of the matrix, in more than which a dense column has nonzeros"},
             {.name = "distance",
              .type = ParameterType::integer,
              .optional = true,
              .minimum = 0,
              .maximum = 2147483647,
              .unit = "columns",
              .help = "needed with by = \"distance\": the most that row and column of a near nonzero differ by"}},
        .contract = contract,
        .run = run};
}

}  // namespace workbench
