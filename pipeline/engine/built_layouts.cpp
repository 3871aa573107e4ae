#include "pipeline/engine/built_layouts.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/host_memory.hpp"
#include "pipeline/keep/kept_result.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {
namespace {

/// Returns the values of the exact problem, in the order of the matrix that a layout is built from.
using MakeExactValues = std::function<HostArray<double>()>;

void require_every_share(const Recipe& recipe, const StagedMatrix& staged) {
    check_shares(staged);
    std::size_t stored = 0;
    for (const RecipeLayout& layout : recipe.layouts) {
        const std::size_t parts = parts_of(*layout.share, staged.shares).size();
        if (parts == 0 && staged.find_share(*layout.share) == nullptr) {
            throw std::logic_error("there is no share '" + name_of(*layout.share) + "', which a layout takes");
        }
        stored += std::max<std::size_t>(parts, 1);
    }
    if (stored != staged.shares.size()) {
        throw std::logic_error(fmt::format("layouts for {} of {} shares", stored, staged.shares.size()));
    }
}

void require_memory_for_share(const ShareView& share) {
    require_host_memory(static_cast<std::size_t>(share.row_count()) * (sizeof(Index) + sizeof(Offset)) +
                            static_cast<std::size_t>(share.entry_count()) * (sizeof(double) + sizeof(Index) + sizeof(Offset)),
                        "a share of the nonzeros as a matrix of its own");
}

/// The matrix has other values as long as this lives.
class OtherValues {
public:
    OtherValues(CsrMatrix& matrix, HostArray<double> values) : matrix_(matrix), own_(std::move(values)) {
        std::swap(matrix_.values, own_);
    }
    ~OtherValues() { std::swap(matrix_.values, own_); }
    OtherValues(const OtherValues&) = delete;
    OtherValues& operator=(const OtherValues&) = delete;

private:
    CsrMatrix& matrix_;
    HostArray<double> own_;
};

/// Builds both layouts from the staged matrix or share, and fills the outcome. `exact_values` empty: the real one alone.
template <ValueType Value>
void build(const RecipeLayout& choice, StagedMatrix& staged, const MakeExactValues& exact_values, const BuildOptions& options,
           BuiltShare<Value>& built) {
    const LayoutEntry& entry = *choice.entry;
    LayoutOutcome& outcome = built.outcome;
    const Stopwatch settling(options.clock);
    const Parameters parameters = entry.settled(
        choice.parameters.on_device(entry.parameters, options.device == nullptr ? tuned_device_model() : *options.device),
        staged.matrix, precision_of<Value>, staged.node_size);
    if (codes_values(choice.parameters)) outcome.seconds += settling.seconds();
    const auto build_now = [&] { return entry.build.template get<Value>()(staged, parameters); };
    const std::size_t nonzeros = staged.matrix.values.size();
    outcome.rows = staged.matrix.rows;
    outcome.nonzeros = staged.matrix.nonzeros();
    // The size of a layout is known once it is built; the values are in every layout.
    require_host_memory(nonzeros * sizeof(Value), fmt::format("layout '{}'", entry.name));
    if (entry.try_out) entry.try_out(staged, parameters, precision_of<Value>);
    ObtainedLayout<Value> real = obtain<Value>(entry, parameters, options.keeping, options.clock, build_now);
    outcome.seconds += real.seconds;
    outcome.kept_seconds = real.kept_seconds;
    std::size_t bytes = nonzeros * sizeof(double);
    for (const LayoutField& field : real.result->fields()) {
        if (!field.is_array()) continue;
        outcome.footprint.push_back({.name = std::string(field.name),
                                     .role = field.role,
                                     .count = field.count,
                                     .bytes = field.bytes(),
                                     .slots = field.role == ArrayRole::value ? field.slots() : 0});
        bytes += field.bytes();
    }
    outcome.notes = real.result->notes();
    built.layout.real = std::move(real.result);
    if (!exact_values) return;
    require_host_memory(bytes, fmt::format("layout '{}', once more for the exact verification,", entry.name));
    const auto build_exact = [&] {
        const OtherValues exact(staged.matrix, exact_values());
        return build_now();
    };
    const Keeping of_exact = options.keeping.after("exact", "values of the exact problem");
    built.layout.exact = obtain<Value>(entry, parameters, of_exact, options.clock, build_exact).result;
}

/// `exact_values`: [nonzeros] of the whole matrix; if there are none, no exact layout is built.
template <ValueType Value>
BuiltShare<Value> build_share(const RecipeLayout& layout, const StagedMatrix& staged,
                              const std::optional<HostArray<double>>& exact_values, BuildOptions options) {
    BuiltShare<Value> built{.share = layout.share, .outcome = outcome_of(layout, precision_of<Value>)};
    LayoutOutcome& outcome = built.outcome;
    const WholeShare whole(staged, *layout.share);
    const ShareView& view = whole.view();
    require_memory_for_share(view);
    built.layout.rows_present = view.row_count();
    const Stopwatch watch(options.clock);
    ShareMatrix matrix = matrix_of_share(staged, *layout.share, layout.entry->rows_of_share);
    outcome.seconds = watch.seconds();
    MakeExactValues exact;
    if (exact_values) {
        exact = [&] {
            HostArray<double> values;
            values.reserve(matrix.entries.size());
            for (const Offset entry : matrix.entries) values.push_back((*exact_values)[entry]);
            return values;
        };
    }
    options.keeping = options.keeping.after("share", "share " + outcome.share);
    try {
        build(layout, matrix.staged, exact, options, built);
        outcome.rows = built.layout.rows_present;  // even if the layout has all rows
    } catch (const Unsuitable& reason) {
        built.layout = {};
        outcome.unsuitable = reason.what();
    }
    if (built.layout.real == nullptr || matrix.rows.empty()) return built;
    outcome.footprint.push_back({.name = "share_rows",
                                 .role = ArrayRole::structure,
                                 .count = matrix.rows.size(),
                                 .bytes = matrix.rows.size() * sizeof(Index)});
    built.layout.rows = std::move(matrix.rows);
    return built;
}

void note_rounding(LayoutOutcome& outcome, const RoundingError& error) {
    outcome.rounding = error;
    outcome.notes.emplace_back("values", error.text());
}

/// The staged matrix with other values, in the order of the input.
CsrMatrix of_input_with(HostArray<double> values, StagedMatrix& staged) {
    const OtherValues other(staged.matrix, std::move(values));
    const auto back = [](const Permutation& order) {
        return Permutation::from_new_of_old({order.old_of_new().begin(), order.old_of_new().end()});
    };
    return permute(staged.matrix, back(staged.row_order), back(staged.column_order));
}

/// Says what the layouts of a recipe changed, and what their product is to be compared with.
template <ValueType Value>
void note_rounding(const Recipe& recipe, StagedMatrix& staged, bool is_verified, BuiltLayouts<Value>& all) {
    const Rounding coarsest = rounding_of(recipe, precision_of<Value>);
    if (coarsest == Rounding::none) return;
    HostArray<double> values = staged.matrix.values;
    for (std::size_t i = 0; i < recipe.layouts.size(); ++i) {
        const Rounding rounding = rounding_of(recipe.layouts[i].parameters, precision_of<Value>);
        if (rounding == Rounding::none) continue;
        const auto round = [&](double value) { return rounded(value, rounding); };
        if (!recipe.is_hybrid()) {
            std::transform(values.begin(), values.end(), values.begin(), round);
            continue;
        }
        std::vector<double> of_share;
        std::vector<double> rounded_of_share;
        const WholeShare whole(staged, *recipe.layouts[i].share);
        const ShareView& view = whole.view();
        for (Index row = 0; row < view.row_count(); ++row) {
            for (Offset k = 0; k < view.length(row); ++k) {
                double& value = values[view.entry(row, k)];
                of_share.push_back(value);
                value = round(value);
                rounded_of_share.push_back(value);
            }
        }
        note_rounding(all.shares[i].outcome, error_of_rounding(of_share, rounded_of_share, rounding));
    }
    note_rounding(all.outcome, error_of_rounding(staged.matrix.values, values, coarsest));
    if (!is_verified) return;
    all.rounded = std::make_shared<const CsrMatrix>(of_input_with(std::move(values), staged));
}

template <ValueType Value>
LayoutOutcome outcome_of_all(const Recipe& recipe, const std::vector<BuiltShare<Value>>& shares) {
    LayoutOutcome all;
    all.name = name_of_layouts(recipe);
    all.precision = precision_of<Value>;
    double kept_seconds = 0;
    bool kept = true;
    for (const BuiltShare<Value>& share : shares) {
        const LayoutOutcome& outcome = share.outcome;
        if (!outcome.unsuitable.empty() && all.unsuitable.empty()) {
            all.unsuitable = fmt::format("share '{}': {}", outcome.share, outcome.unsuitable);
        }
        all.seconds += outcome.seconds;
        all.nonzeros += outcome.nonzeros;
        kept = kept && outcome.kept_seconds.has_value();
        kept_seconds += outcome.kept_seconds.value_or(0);
        for (LayoutOutcome::Array array : outcome.footprint) {
            array.name = outcome.share + " " + array.name;
            all.footprint.push_back(std::move(array));
        }
    }
    if (!all.unsuitable.empty()) all.footprint.clear();
    if (kept) all.kept_seconds = kept_seconds;
    return all;
}

}  // namespace

ExactValues exact_values_of(const Recipe& recipe) {
    const bool coded = std::any_of(recipe.layouts.begin(), recipe.layouts.end(),
                                   [](const RecipeLayout& layout) { return codes_values(layout.parameters); });
    return coded ? ExactValues::by_value : ExactValues::by_place;
}

LayoutOutcome outcome_of(const RecipeLayout& layout, Precision precision) {
    LayoutOutcome outcome;
    outcome.name = marked(layout.entry->name, rounding_of(layout.parameters));
    if (layout.share) outcome.share = name_of(*layout.share);
    outcome.parameters = layout.parameters.seen_from_here(layout.entry->parameters);
    outcome.precision = precision;
    return outcome;
}

template <ValueType Value>
BuiltLayouts<Value> build_layouts(const Recipe& recipe, StagedMatrix& staged, const BuildOptions& given) {
    BuildOptions options = given;
    options.device = stage_context(recipe, precision_of<Value>, given.device).device;
    const auto report = [&](const RecipeLayout& layout, const std::string& of_share) {
        const std::string text = fmt::format("layout {} {}{}", layout.entry->name, name_of(precision_of<Value>), of_share);
        if (options.progress) options.progress(text);
    };
    BuiltLayouts<Value> all;
    all.exact_values = exact_values_of(recipe);
    if (!recipe.is_hybrid()) {
        const RecipeLayout& layout = recipe.layouts.front();
        report(layout, "");
        BuiltShare<Value>& built = all.shares.emplace_back();
        built.outcome = outcome_of(layout, precision_of<Value>);
        const auto exact_values = [&] {
            return options.exact(all.exact_values).values_of(staged.matrix, staged.row_order, staged.column_order);
        };
        build(layout, staged, options.exact ? MakeExactValues(exact_values) : nullptr, options, built);
        built.layout.rows_present = staged.matrix.rows;
        all.outcome = built.outcome;
        note_rounding(recipe, staged, static_cast<bool>(options.exact), all);
        return all;
    }
    require_every_share(recipe, staged);
    std::optional<HostArray<double>> exact_values;
    if (options.exact) {
        exact_values = options.exact(all.exact_values).values_of(staged.matrix, staged.row_order, staged.column_order);
    }
    for (const RecipeLayout& layout : recipe.layouts) {
        report(layout, " of share " + name_of(*layout.share));
        all.shares.push_back(build_share<Value>(layout, staged, exact_values, options));
    }
    all.outcome = outcome_of_all(recipe, all.shares);
    if (!all.outcome.unsuitable.empty()) return all;
    Offset stored = 0;
    for (const BuiltShare<Value>& share : all.shares) stored += share.layout.real->nonzeros();
    if (stored != staged.matrix.nonzeros()) {
        throw std::logic_error(fmt::format("the layouts hold {} of {} nonzeros", stored, staged.matrix.nonzeros()));
    }
    note_rounding(recipe, staged, static_cast<bool>(options.exact), all);
    return all;
}

template <ValueType Value>
Candidate<Value> BuiltLayouts<Value>::candidate(const std::vector<const KernelEntry*>& kernels,
                                                std::shared_ptr<const ProductSpace> space, bool side_by_side) const {
    Candidate<Value> candidate{.shares = {},
                               .space = std::move(space),
                               .side_by_side = side_by_side,
                               .exact_values = exact_values,
                               .rounded = rounded};
    for (std::size_t i = 0; i < shares.size(); ++i) candidate.shares.push_back({kernels[i], shares[i].layout});
    return candidate;
}

template <ValueType Value>
Candidate<Value> BuiltLayouts<Value>::candidate_of_share(std::size_t i, const std::vector<const KernelEntry*>& kernels,
                                                         std::shared_ptr<const ProductSpace> space) const {
    return {.shares = {{kernels[i], shares[i].layout}}, .space = std::move(space), .exact_values = exact_values};
}

template struct BuiltLayouts<float>;
template struct BuiltLayouts<double>;
template BuiltLayouts<float> build_layouts(const Recipe&, StagedMatrix&, const BuildOptions&);
template BuiltLayouts<double> build_layouts(const Recipe&, StagedMatrix&, const BuildOptions&);

}  // namespace workbench
