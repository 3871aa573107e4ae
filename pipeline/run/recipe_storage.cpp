#include "pipeline/run/recipe_storage.hpp"

#include "core/contract/errors.hpp"
#include "pipeline/engine/kernel_choice.hpp"

namespace workbench {

template <ValueType Value>
StorageMap storage_of(const Recipe& recipe, const CsrMatrix& matrix, const BuiltLayouts<Value>& built) {
    std::vector<MappedLayout<Value>> mapped;
    for (std::size_t i = 0; i < built.shares.size(); ++i) {
        const auto& [id, layout, outcome] = built.shares[i];
        mapped.push_back({.layout = layout.real.get(),
                          .name = outcome.name,
                          .schedule = choose_schedule(recipe.layouts[i]),
                          .share = outcome.share,
                          .rows = layout.rows});
    }
    return map_storage<Value>(matrix, mapped);
}

template <ValueType Value>
StorageMap storage_of(const Recipe& recipe, StagedMatrix staged) {
    const BuiltLayouts<Value> built = build_layouts<Value>(recipe, staged, {});
    if (!built.outcome.unsuitable.empty()) throw Unsuitable(built.outcome.unsuitable);
    return storage_of(recipe, staged.matrix, built);
}

template StorageMap storage_of(const Recipe&, const CsrMatrix&, const BuiltLayouts<float>&);
template StorageMap storage_of(const Recipe&, const CsrMatrix&, const BuiltLayouts<double>&);
template StorageMap storage_of<float>(const Recipe&, StagedMatrix);
template StorageMap storage_of<double>(const Recipe&, StagedMatrix);

}  // namespace workbench
