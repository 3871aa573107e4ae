#include "core/contract/catalogue.hpp"

namespace workbench {
namespace {

template <typename Entry>
const Entry* find(const std::vector<Entry>& entries, std::string_view name) {
    for (const Entry& entry : entries) {
        if (entry.name == name) return &entry;
    }
    return nullptr;
}

}  // namespace

const StageEntry* Catalogue::find_stage(std::string_view name) const { return find(stages, name); }

const LayoutEntry* Catalogue::find_layout(std::string_view name) const { return find(layouts, name); }

const GeneratorEntry* Catalogue::find_generator(std::string_view name) const { return find(generators, name); }

}  // namespace workbench
