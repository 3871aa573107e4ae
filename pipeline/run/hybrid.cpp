#include "pipeline/run/hybrid.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/host_memory.hpp"

namespace workbench {
namespace {

/// What the recipe takes are the shares that there are, each nonzero in one of them.
void require_every_share(const Recipe& recipe, const StagedMatrix& staged) {
    check_shares(staged);
    for (const RecipeLayout& layout : recipe.layouts) {
        if (staged.find_share(*layout.share) == nullptr) {
            throw std::logic_error("there is no share '" + name_of(*layout.share) + "', which a layout takes");
        }
    }
    if (staged.shares.size() != recipe.layouts.size()) {
        throw std::logic_error(fmt::format("{} layouts for {} shares", recipe.layouts.size(), staged.shares.size()));
    }
}

void require_memory_for_share(const ShareView& share) {
    require_host_memory(static_cast<std::size_t>(share.row_count()) * (sizeof(Index) + sizeof(Offset)) +
                            static_cast<std::size_t>(share.entry_count()) * (sizeof(double) + sizeof(Index) + sizeof(Offset)),
                        "a share of the nonzeros as a matrix of its own");
}

template <ValueType Value>
BuiltShare<Value> build_share(const RecipeLayout& layout, const StagedMatrix& staged,
                              const std::optional<HostArray<double>>& exact_values, const Clock& clock,
                              const Keeping& keeping) {
    BuiltShare<Value> share;
    share.share = *layout.share;
    share.outcome = outcome_of(*layout.entry, layout.parameters, precision_of<Value>);
    share.outcome.share = name_of(*layout.share);
    const ShareView view = staged.share(*layout.share);
    require_memory_for_share(view);
    share.present = view.row_count();
    const Stopwatch watch(clock);
    ShareMatrix matrix = matrix_of_share(staged, *layout.share, layout.entry->rows_of_share);
    share.outcome.seconds = watch.seconds();
    std::function<HostArray<double>()> exact;
    if (exact_values) {
        exact = [&] {
            HostArray<double> values;
            values.reserve(matrix.entries.size());
            for (const Offset entry : matrix.entries) values.push_back((*exact_values)[entry]);
            return values;
        };
    }
    try {
        const Keeping of_share = keeping.after("share", "share " + share.outcome.share);
        share.built =
            build_twice<Value>(*layout.entry, layout.parameters, matrix.staged, exact, clock, share.outcome, of_share);
        share.outcome.rows = share.present;  // also where the layout has all rows
    } catch (const Unsuitable& reason) {
        share.outcome.unsuitable = reason.what();
    }
    share.rows = std::move(matrix.rows);
    if (!share.rows.empty() && share.built.real != nullptr) {
        share.outcome.footprint.push_back(
            {"share_rows", ArrayRole::structure, share.rows.size(), share.rows.size() * sizeof(Index)});
    }
    return share;
}

}  // namespace

template <ValueType Value>
std::vector<BuiltShare<Value>> build_shares(const Recipe& recipe, const StagedMatrix& staged, const ExactProblem* problem,
                                            const Clock& clock, const std::function<void(const std::string&)>& announce,
                                            const Keeping& keeping) {
    require_every_share(recipe, staged);
    std::optional<HostArray<double>> exact_values;
    if (problem != nullptr) exact_values = problem->values_of(staged.matrix, staged.row_order, staged.column_order);
    std::vector<BuiltShare<Value>> shares;
    Offset stored = 0;
    bool all_fit = true;
    for (const RecipeLayout& layout : recipe.layouts) {
        announce(
            fmt::format("layout {} {} of share {}", layout.entry->name, name_of(precision_of<Value>), name_of(*layout.share)));
        shares.push_back(build_share<Value>(layout, staged, exact_values, clock, keeping));
        const Layout<Value>* const built = shares.back().built.real.get();
        all_fit = all_fit && built != nullptr;
        if (built != nullptr) stored += built->nonzeros();
    }
    if (all_fit && stored != staged.matrix.nonzeros()) {
        throw std::logic_error(fmt::format("the layouts hold {} of {} nonzeros", stored, staged.matrix.nonzeros()));
    }
    return shares;
}

template <ValueType Value>
LayoutOutcome outcome_of_whole(const Recipe& recipe, const std::vector<BuiltShare<Value>>& shares) {
    LayoutOutcome whole;
    whole.name = name_of_layouts(recipe);
    whole.precision = precision_of<Value>;
    for (const BuiltShare<Value>& share : shares) {
        if (!share.outcome.unsuitable.empty() && whole.unsuitable.empty()) {
            whole.unsuitable = fmt::format("share '{}': {}", share.outcome.share, share.outcome.unsuitable);
        }
        whole.seconds += share.outcome.seconds;
        whole.nonzeros += share.outcome.nonzeros;
        for (const LayoutOutcome::Array& array : share.outcome.footprint) {
            whole.footprint.push_back({share.outcome.share + " " + array.name, array.role, array.count, array.bytes});
        }
    }
    if (!whole.unsuitable.empty()) whole.footprint.clear();
    const auto kept = [](const BuiltShare<Value>& share) { return share.outcome.kept_seconds.has_value(); };
    if (!shares.empty() && std::all_of(shares.begin(), shares.end(), kept)) {
        whole.kept_seconds = 0;
        for (const BuiltShare<Value>& share : shares) *whole.kept_seconds += *share.outcome.kept_seconds;
    }
    return whole;
}

template <ValueType Value>
Candidate<Value> candidate_of(std::span<const BuiltShare<Value>> shares, std::span<const KernelEntry* const> kernels,
                              const CsrMatrix& matrix, const ProductSpace& space, bool side_by_side) {
    Candidate<Value> candidate;
    candidate.backend = kernels.front()->backend;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        candidate.kernel += (i == 0 ? "" : " + ") + kernels[i]->name;
        candidate.nonzeros += shares[i].outcome.nonzeros;
    }
    const auto prepare = [=, rows = matrix.rows, columns = matrix.columns, &space](auto which) {
        return [=, &space](Device& device) -> std::unique_ptr<Kernel<Value>> {
            std::vector<KernelOfShare<Value>> parts;
            std::vector<std::vector<Index>> rows_of_parts(shares.size());
            for (std::size_t i = 0; i < shares.size(); ++i) {
                const Layout<Value>* const layout = (shares[i].built.*which).get();
                const bool has_all_rows = shares[i].rows.empty() && layout->rows() == rows;
                rows_of_parts[i] = has_all_rows ? space.target : space.targets_of(shares[i].rows);
                parts.push_back({kernels[i], layout, rows_of_parts[i], shares[i].present});
            }
            return std::make_unique<HybridKernel<Value>>(parts, rows, columns, side_by_side, device);
        };
    };
    candidate.exact = prepare(&BuiltTwice<Value>::exact);
    candidate.real = prepare(&BuiltTwice<Value>::real);
    return candidate;
}

template std::vector<BuiltShare<float>> build_shares<float>(const Recipe&, const StagedMatrix&, const ExactProblem*,
                                                            const Clock&, const std::function<void(const std::string&)>&,
                                                            const Keeping&);
template std::vector<BuiltShare<double>> build_shares<double>(const Recipe&, const StagedMatrix&, const ExactProblem*,
                                                              const Clock&, const std::function<void(const std::string&)>&,
                                                              const Keeping&);
template LayoutOutcome outcome_of_whole<float>(const Recipe&, const std::vector<BuiltShare<float>>&);
template LayoutOutcome outcome_of_whole<double>(const Recipe&, const std::vector<BuiltShare<double>>&);
template Candidate<float> candidate_of<float>(std::span<const BuiltShare<float>>, std::span<const KernelEntry* const>,
                                              const CsrMatrix&, const ProductSpace&, bool);
template Candidate<double> candidate_of<double>(std::span<const BuiltShare<double>>, std::span<const KernelEntry* const>,
                                                const CsrMatrix&, const ProductSpace&, bool);

}  // namespace workbench
