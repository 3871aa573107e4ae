// Unites shares of the nonzeros, so that one layout can store what a chain of splits separated.
#include <algorithm>
#include <utility>

#include "core/text/relative_length.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

std::vector<ShareId> shares_to_unite(const Parameters& parameters) {
    std::vector<ShareId> shares;
    for (const std::string& name : items_of_list(parameters.text("shares"))) shares.push_back(single_share(name).value());
    return shares;
}

StageContract unite_contract(const Parameters& parameters) {
    StageContract contract{.gives_shares = {{ShareKind::united}}, .unites = shares_to_unite(parameters)};
    for (const ShareId& id : contract.unites) {
        if (std::count(contract.unites.begin(), contract.unites.end(), id) > 1) {
            throw ParameterError("shares", "found share '" + name_of(id) + "' twice, expected it once");
        }
        contract.needs.shares.push_back(share_choice(name_of(id)).value());
    }
    if (contract.unites.size() < 2) throw ParameterError("shares", "found one share, expected at least two");
    return contract;
}

StageResult run_unite(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    std::vector<const Share*> parts;
    for (const ShareId& id : shares_to_unite(parameters)) parts.push_back(staged.find_share(id));
    Share united = unite({ShareKind::united}, parts, staged.matrix.rows);
    StageResult result{.notes = {{"united", std::to_string(united.entries.size()) + " nonzeros in " +
                                                std::to_string(united.rows.size()) + " rows"}}};
    std::vector<Share> shares{std::move(united)};
    for (const Share& share : staged.shares) {
        if (std::find(parts.begin(), parts.end(), &share) == parts.end()) shares.push_back(share);
    }
    result.change.shares = std::move(shares);
    return result;
}

}  // namespace

StageEntry unite_stage() {
    return {.name = "unite",
            .summary = "Unite shares of the nonzeros into the share 'united', which can have one layout",
            .source = "",
            .parameters = {declare("shares", ParameterType::shares, required, {},
                                   "the shares, at least two; their rows are stored in the order in which the shares list them "
                                   "first")},
            .contract = unite_contract,
            .run = run_unite};
}

}  // namespace workbench
