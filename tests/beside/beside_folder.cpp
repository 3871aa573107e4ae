#include "beside/beside_folder.hpp"

#include <algorithm>

namespace workbench {

StagedMatrix unsymmetric(Index node_size) {
    const std::vector<Entry> entries{{0, 0, 1}, {0, 4, 2}, {1, 3, 3}, {2, 1, 4}, {2, 5, 5},
                                     {3, 0, 6}, {4, 2, 7}, {5, 2, 8}, {5, 5, 9}};
    return stage_input(csr_from_entries(6, 6, entries), node_size);
}

Parameters parameters_of(const StageEntry& stage, const Given& given) {
    std::vector<ParameterDeclaration> declarations = stage.parameters;
    for (const auto& [name, value] : given) {
        const auto has_name = [&name = name](const ParameterDeclaration& declaration) { return declaration.name == name; };
        if (std::any_of(stage.parameters.begin(), stage.parameters.end(), has_name)) continue;
        constexpr ParameterType types[] = {ParameterType::boolean, ParameterType::integer, ParameterType::real,
                                           ParameterType::text};
        declarations.push_back({.name = name, .type = types[value.index()]});
    }
    return {declarations, given};
}

StageResult result_of(const StageEntry& stage, const Given& given, const StagedMatrix& before) {
    const Parameters parameters = parameters_of(stage, given);
    (void)stage.contract(parameters);
    return stage.run(before, parameters, {});
}

StagedMatrix changed_by(const StageEntry& stage, const Given& given, const StagedMatrix& before) {
    StagedMatrix after = before;
    apply(after, result_of(stage, given, before).change, {});
    check_invariants(after, before.matrix);
    return after;
}

}  // namespace workbench
