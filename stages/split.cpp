// Splits the nonzeros into shares, which can have different layouts.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "core/forecast/forecast.hpp"
#include "core/matrix/host_array.hpp"
#include "core/text/words.hpp"
#include "stages/divide_view.hpp"
#include "stages/parameters.hpp"
#include "stages/row_lengths.hpp"
#include "stages/split_bounds.hpp"
#include "stages/split_marks.hpp"
#include "stages/split_table.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// A criterion of the split: its name, its two shares, and its parameters. With `bounds` it has bins instead of two shares.
struct Criterion {
    std::string by;
    ShareKind first = ShareKind::bin_0;    // the nonzeros that satisfy it
    ShareKind second = ShareKind::bin_1;   // all others
    std::vector<std::string> one_of = {};  // exactly one of these parameters is required
    std::vector<std::string> optional = {};
};

const std::vector<Criterion>& criteria() {
    static const std::vector<Criterion> all{
        {.by = "inside_partition", .first = ShareKind::inside, .second = ShareKind::outside},
        {.by = "first_k", .first = ShareKind::first, .second = ShareKind::rest, .optional = {"k"}},
        {.by = "row_length",
         .first = ShareKind::long_rows,
         .second = ShareKind::short_rows,
         .one_of = {"longer_than", "bounds"}},
        {.by = "diagonals", .first = ShareKind::dense_diagonals, .second = ShareKind::sparse_diagonals, .optional = {"fill"}},
        {.by = "blocks",
         .first = ShareKind::dense_blocks,
         .second = ShareKind::sparse_blocks,
         .one_of = {"size", "height"},
         .optional = {"fill", "width"}},
        {.by = "columns",
         .first = ShareKind::dense_columns,
         .second = ShareKind::sparse_columns,
         .one_of = {"density", "bounds"}},
        {.by = "distance", .first = ShareKind::near, .second = ShareKind::far, .one_of = {"distance"}},
        {.by = "rows", .one_of = {"bounds"}},
        {.by = "partition", .first = ShareKind::chosen, .second = ShareKind::others, .one_of = {"partitions"}},
        {.by = "value", .first = ShareKind::chosen, .second = ShareKind::others, .one_of = {"value", "larger_than"}}};
    return all;
}

bool takes(const Criterion& criterion, const std::string& parameter) {
    const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), parameter) != list.end(); };
    return has(criterion.one_of) || has(criterion.optional);
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

/// The kinds of the shares, in order.
std::vector<ShareKind> kinds_of_parts(const Parameters& parameters) {
    const Criterion& criterion = criterion_of(parameters);
    if (!parameters.has("bounds")) return {criterion.first, criterion.second};
    std::vector<ShareKind> bins;
    for (int number = 0; number <= static_cast<int>(split_bounds(parameters).size()); ++number) bins.push_back(bin(number));
    return bins;
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

void check_parameters_of(const Criterion& criterion, const Parameters& parameters) {
    for (const char* name : {"k", "longer_than", "bounds", "fill", "size", "height", "width", "density", "distance",
                             "partitions", "value", "larger_than"}) {
        if (!parameters.has(name) || takes(criterion, name)) continue;
        throw ParameterError(name,
                             std::string(name) + " is for " + criteria_with(name) + ", but by is \"" + criterion.by + '"');
    }
    std::string alternatives;
    std::string given;
    for (const std::string& name : criterion.one_of) {
        alternatives += (alternatives.empty() ? "" : " or ") + name;
        if (!parameters.has(name)) continue;
        if (!given.empty()) throw ParameterError(name, "found " + name + " beside " + given + ", expected only one of them");
        given = name;
    }
    if (!criterion.one_of.empty() && given.empty()) {
        throw ParameterError(criterion.one_of.front(), "by = \"" + criterion.by + "\" needs " + alternatives);
    }
    if (parameters.has("height") != parameters.has("width")) {
        const bool has_height = parameters.has("height");
        throw ParameterError(has_height ? "width" : "height", has_height ? "height needs width, the columns of a block"
                                                                         : "width needs height, the rows of a block");
    }
    if (parameters.has("bounds")) check_bounds(parameters);
}

StageContract split_contract(const Parameters& parameters) {
    const Criterion& criterion = criterion_of(parameters);
    check_parameters_of(criterion, parameters);
    StageContract contract;
    for (const ShareKind kind : kinds_of_parts(parameters)) contract.gives_shares.push_back({kind});
    if (criterion.first == ShareKind::inside) contract.needs.square = true;
    if (criterion.first == ShareKind::inside || criterion.by == "partition") contract.needs.cuts = {CutKind::partition};
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

std::pair<std::string, std::string> describe(const Share& share) {
    const auto words = [](std::size_t number, std::string_view noun) {
        return counted_with_commas(static_cast<std::int64_t>(number), noun);
    };
    return {name_of(share.id), words(share.entries.size(), "nonzero") + " in " + words(share.rows.size(), "row")};
}

/// The split of a view into shares, and its result.
struct Splitting {
    const StagedMatrix& staged;
    const Parameters& parameters;
    ShareId parent;
    ShareView view;
    StageResult result = {};

    /// Splits by the number of the share of each entry.
    template <typename NumberOf>
    void divide(const NumberOf& number_of) {
        std::vector<ShareId> ids;
        for (const ShareKind kind : kinds_of_parts(parameters)) ids.push_back(part_of(parent, kind));
        std::vector<Share> parts = divide_view(ids, view, number_of);
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

    void divide_by(const SplitNonzeros& rule) {
        const CsrMatrix& matrix = staged.matrix;
        const auto column = [&](Index stored, Offset k) { return matrix.column_indices[view.entry(stored, k)]; };
        const Cuts* const partition = staged.find_cuts(CutKind::partition);
        if (!rule.table) {
            const std::vector<Index> piece_of = partition->pieces();
            return divide(
                [&](Index stored, Offset k) { return piece_of[view.row(stored)] == piece_of[column(stored, k)] ? 0 : 1; });
        }
        const std::vector<Offset> counts =
            rule.reads == SplitReads::counts ? counts_by_key(matrix, view, rule.key) : std::vector<Offset>();
        const std::span<const Index> parts = partition == nullptr ? std::span<const Index>() : partition->boundaries;
        SplitTable table = rule.table({view, matrix, parts, counts});
        std::ranges::move(table.notes, std::back_inserter(result.notes));
        const Offset below_main = std::max<Offset>(matrix.rows, 1) - 1;
        switch (rule.key) {
            case SplitKey::row: return divide([&](Index stored, Offset) { return table.shares[stored]; });
            case SplitKey::place: return divide([&](Index, Offset k) { return table.shares[k]; });
            case SplitKey::column: return divide([&](Index stored, Offset k) { return table.shares[column(stored, k)]; });
            case SplitKey::nonzero:
                return divide(
                    [&](Index stored, Offset k) { return table.shares[static_cast<std::size_t>(view.entry(stored, k))]; });
            default:
                return divide(
                    [&](Index stored, Offset k) { return table.shares[below_main + column(stored, k) - view.row(stored)]; });
        }
    }
};

StageResult run_split(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const ShareId parent = parent_of(parameters);
    Splitting split{staged, parameters, parent, staged.share(parent)};
    split.divide_by(split_rule(parameters));
    return std::move(split.result);
}

/// The fraction of the nonzeros that satisfies a criterion that depends on columns.
double foreseen_fraction(const PatternForecast& pattern, const Parameters& parameters, ShareKind first) {
    if (first == ShareKind::dense_diagonals) return pattern.nonzeros() == 0 ? 0 : 1 / pattern.mean_length();
    if (first != ShareKind::dense_blocks) return 0.5;  // unknown
    const auto [height, width] = shape_of_blocks(parameters);
    const double places = static_cast<double>(pattern.blocks(height, width)) * height * width;
    return fill_of_split(parameters) * places <= static_cast<double>(pattern.nonzeros()) ? 1 : 0;
}

/// Adds shares with the rows that have nonzeros. first_of(length): the part of a row's nonzeros that is in the first share.
template <typename FirstOf>
void add_two_shares(PatternForecast& pattern, const Criterion& criterion, const FirstOf& first_of) {
    std::vector<Offset> first;
    std::vector<Offset> second;
    first.reserve(pattern.lengths().size());
    second.reserve(pattern.lengths().size());
    for (const Offset length : pattern.lengths()) {
        const Offset part = first_of(length);
        if (part > 0) first.push_back(part);
        if (part < length) second.push_back(length - part);
    }
    pattern.add_share(criterion.first, std::move(first));
    pattern.add_share(criterion.second, std::move(second));
}

/// Bins are taken for equal.
void add_bins(PatternForecast& pattern, int bins) {
    std::vector<Offset> part;
    for (const Offset length : pattern.lengths()) {
        if (length > 0) part.push_back((length + bins - 1) / bins);
    }
    for (int number = 0; number < bins; ++number) pattern.add_share(bin(number), part);
}

void foresee_split(PatternForecast& pattern, const Parameters& parameters, const StageContext&) {
    if (parent_of(parameters) != ShareId{}) return;  // the parent represents its shares
    const Criterion& criterion = criterion_of(parameters);
    if (parameters.has("bounds")) {
        return add_bins(pattern, static_cast<int>(items_of_list(parameters.text("bounds")).size()) + 1);
    }
    if (criterion.first == ShareKind::first) {
        const Offset most = first_count(ShareView(pattern.skeleton().matrix), parameters);
        add_two_shares(pattern, criterion, [most](Offset length) { return std::min(length, most); });
    } else if (criterion.first == ShareKind::long_rows) {
        const std::int64_t most =
            threshold_among(relative_length(parameters, "longer_than"), ShareView(pattern.skeleton().matrix));
        add_two_shares(pattern, criterion, [most](Offset length) { return length > most ? length : 0; });
    } else if (criterion.first == ShareKind::inside && pattern.partition()) {
        // Entries outside of the parts are those of rows at their surface: a third of such a row's entries, spread evenly here.
        const double outside = 1 - pattern.partition()->inside;
        const double surface = std::min(1.0, 3 * outside);
        double rows = 0;
        add_two_shares(pattern, criterion, [=, &rows](Offset length) {
            rows += surface;
            const bool is_at_surface = rows >= 1;
            if (is_at_surface) rows -= 1;
            const double moved = is_at_surface ? static_cast<double>(length) * outside / surface : 0;
            return length - std::llround(moved);
        });
    } else {
        const double fraction = foreseen_fraction(pattern, parameters, criterion.first);
        add_two_shares(pattern, criterion,
                       [fraction](Offset length) { return std::llround(static_cast<double>(length) * fraction); });
    }
}

std::vector<std::string> names_of_criteria() {
    std::vector<std::string> names;
    for (const Criterion& criterion : criteria()) names.push_back(criterion.by);
    return names;
}

/// The parameters beside `by` and `share`.
std::vector<ParameterDeclaration> parameters_of_criteria() {
    return {
        declare("k", ParameterType::length, not_required, between(1, largest_index, "nonzeros", {"one_third"}),
                "first_k: the number of nonzeros, rounded up; one_third: the largest k such that at least a third of the rows "
                "have k nonzeros or more; default: one_third"),
        declare("longer_than", ParameterType::length, not_required, between(0, largest_index, "nonzeros"),
                "row_length: rows with more nonzeros are long"),
        declare(
            "bounds", ParameterType::lengths, not_required, between(0, largest_index),
            "row_length, rows, columns: ascending bounds, at most 7; bin_0 has rows of at most the first length, or the rows "
            "or columns before the first bound, counted from 0; of these, \"p50\" bounds the first half"),
        real_parameter(
            "fill", not_required, between(0, 1, "share"),
            "diagonals and blocks: the fraction of the places that must hold nonzeros; default: 0.7, above which dense "
            "f64 values take less memory than sparse ones with columns"),
        integer_parameter("size", not_required, between(1, 65536, "rows"), "blocks: the rows and columns of a block"),
        integer_parameter("height", not_required, between(1, 65536, "rows"), "blocks: the rows of a block, instead of size"),
        integer_parameter("width", not_required, between(1, 65536, "columns"), "blocks: the columns of a block, with height"),
        real_parameter("density", not_required, between(0, 1, "share"),
                       "columns: a dense column has nonzeros in more than this fraction of the rows"),
        integer_parameter("distance", not_required, between(0, largest_index, "columns"),
                          "distance: the maximum difference of row and column of a near nonzero"),
        declare("partitions", ParameterType::integers, not_required, between(0, largest_index),
                "partition: the chosen partitions, counted from 0"),
        real_parameter("value", not_required, {.words = {"commonest"}},
                       "value: the value of the chosen nonzeros; commonest: the one that most nonzeros have, the smallest of "
                       "several"),
        real_parameter("larger_than", not_required, at_least(0), "value: chosen nonzeros have a larger absolute value")};
}

}  // namespace

StageEntry split_stage() {
    StageEntry stage{
        .name = "split",
        .summary = "Split the nonzeros, or one share of them, into shares, each of which can have its own layout",
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
                 "row_length: 'long' for rows with more than longer_than nonzeros, else 'short', or 'bin_0', 'bin_1', ... "
                 "between bounds; "
                 "diagonals: 'dense_diagonals' for diagonals filled to at least the fraction fill, else 'sparse_diagonals'; "
                 "blocks: 'dense_blocks' for blocks of size x size, or height x width, filled to at least fill, else "
                 "'sparse_blocks'; "
                 "columns: 'dense_columns' for columns with nonzeros in more than the fraction density of the rows, else "
                 "'sparse_columns', or 'bin_0', ... between bounds; "
                 "distance: 'near' if |row - column| <= distance, else 'far'; "
                 "rows: 'bin_0', ... between bounds; "
                 "partition: 'chosen' for the rows of some partitions, else 'others'; "
                 "value: 'chosen' for nonzeros of one value, or larger than a threshold, else 'others'"),
             declare("share", ParameterType::share, not_required, {.words = listed_kinds_without_places()},
                     "split this share again, considering only its nonzeros; first_k of \"short\" makes 'short/first' and "
                     "'short/rest'")},
        .contract = split_contract,
        .run = run_split,
        .on_device = [](const Parameters& parameters) -> std::optional<DeviceStep> {
            SplitNonzeros rule = split_rule(parameters);
            rule.shares = kinds_of_parts(parameters);
            rule.parent = parent_of(parameters);
            return rule;
        },
        .foresee = foresee_split,
        .nanoseconds_per_nonzero = 7};
    for (ParameterDeclaration& declaration : parameters_of_criteria()) stage.parameters.push_back(std::move(declaration));
    return stage;
}

}  // namespace workbench
