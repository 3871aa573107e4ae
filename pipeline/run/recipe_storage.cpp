#include "pipeline/run/recipe_storage.hpp"

#include "pipeline/contract/errors.hpp"
#include "pipeline/run/kernel_choice.hpp"

namespace workbench {

template <ValueType Value>
StorageMap storage_of(const Recipe& recipe, const CsrMatrix& matrix, const Layout<Value>& layout) {
    const RecipeLayout& choice = recipe.layouts.front();
    const MappedLayout<Value> mapped{&layout, choice.entry->name, choose_schedule(choice)};
    return map_storage<Value>(matrix, std::span(&mapped, 1));
}

template <ValueType Value>
StorageMap storage_of(const Recipe& recipe, const CsrMatrix& matrix, std::span<const BuiltShare<Value>> shares) {
    std::vector<MappedLayout<Value>> mapped;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const BuiltShare<Value>& share = shares[i];
        mapped.push_back(
            {share.built.real.get(), share.outcome.name, choose_schedule(recipe.layouts[i]), share.outcome.share, share.rows});
    }
    return map_storage<Value>(matrix, mapped);
}

template <ValueType Value>
StorageMap storage_of(const Recipe& recipe, const StagedMatrix& staged) {
    if (!recipe.is_hybrid()) {
        const RecipeLayout& choice = recipe.layouts.front();
        return storage_of<Value>(recipe, staged.matrix, *choice.entry->build.template get<Value>()(staged, choice.parameters));
    }
    const auto shares = build_shares<Value>(recipe, staged, nullptr, {}, [](const std::string&) {});
    for (const BuiltShare<Value>& share : shares) {
        if (!share.outcome.unsuitable.empty()) throw Unsuitable(share.outcome.unsuitable);
    }
    return storage_of<Value>(recipe, staged.matrix, std::span(shares));
}

template StorageMap storage_of(const Recipe&, const CsrMatrix&, const Layout<float>&);
template StorageMap storage_of(const Recipe&, const CsrMatrix&, const Layout<double>&);
template StorageMap storage_of(const Recipe&, const CsrMatrix&, std::span<const BuiltShare<float>>);
template StorageMap storage_of(const Recipe&, const CsrMatrix&, std::span<const BuiltShare<double>>);
template StorageMap storage_of<float>(const Recipe&, const StagedMatrix&);
template StorageMap storage_of<double>(const Recipe&, const StagedMatrix&);

}  // namespace workbench
