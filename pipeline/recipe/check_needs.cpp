#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "pipeline/contract/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"

namespace workbench {
namespace {

std::string in_words(CutKind kind) {
    switch (kind) {
        case CutKind::partition: return "a partition";
        case CutKind::row_block: return "row blocks";
        case CutKind::length_group: return "length groups";
        case CutKind::segment: return "segments";
    }
    return std::string(name_of(kind));
}

bool contains(const auto& list, const auto& item) { return std::find(list.begin(), list.end(), item) != list.end(); }

std::vector<std::string> quoted(std::vector<std::string> words) {
    for (std::string& word : words) word = fmt::format("'{}'", word);
    return words;
}

std::vector<std::string> names_of(const std::vector<ShareKind>& kinds) {
    std::vector<std::string> names;
    for (const ShareKind kind : kinds) names.emplace_back(name_of(kind));
    return names;
}

/// Does an order of these reach across cuts of this kind?
bool reaches_across(Acts acts, CutKind kind) {
    switch (acts) {
        case Acts::symmetric: return true;
        case Acts::rows: return cuts_rows(kind);
        case Acts::columns: return cuts_columns(kind);
    }
    return false;
}

/// A value that a declaration accepts, where one is easy to find.
ParameterValue plausible_value(const ParameterDeclaration& declaration) {
    switch (declaration.type) {
        case ParameterType::boolean: return false;
        case ParameterType::integer: return static_cast<std::int64_t>(declaration.minimum.value_or(1));
        case ParameterType::real: return declaration.minimum.value_or(1);
        case ParameterType::text: return std::string("x");
        case ParameterType::share: return std::string(name_of(kinds_of_shares.front()));
        case ParameterType::choice: return declaration.words.front();
    }
    return false;
}

/// Values for the declarations: defaults, and some value for everything else that is needed.
std::map<std::string, ParameterValue> plausible_values(const std::vector<ParameterDeclaration>& declarations) {
    std::map<std::string, ParameterValue> values;
    for (const ParameterDeclaration& declaration : declarations) {
        if (!declaration.default_value && !declaration.optional) values[declaration.name] = plausible_value(declaration);
    }
    return values;
}

bool holds(const StageEntry& entry, const std::map<std::string, ParameterValue>& values, const auto& promise) {
    try {
        return promise(entry.contract(Parameters(entry.parameters, values)));
    } catch (const std::exception&) {
        return false;  // these values contradict each other
    }
}

/// "metis_partition, split": the stages of the catalogue that keep a promise, by default, with some word for one of their
/// choices, or with one of their optional parameters.
std::string stages_that(const Catalogue& catalogue, const auto& promise) {
    std::vector<std::string> names;
    for (const StageEntry& entry : catalogue.stages) {
        const auto values = plausible_values(entry.parameters);
        bool can = holds(entry, values, promise);
        for (const ParameterDeclaration& declaration : entry.parameters) {
            auto others = values;
            if (declaration.type == ParameterType::choice) {
                for (const std::string& word : declaration.words) {
                    others[declaration.name] = word;
                    can = can || holds(entry, others, promise);
                }
            } else if (declaration.optional) {
                others[declaration.name] = plausible_value(declaration);
                can = can || holds(entry, others, promise);
            }
        }
        if (can) names.push_back(entry.name);
    }
    return join(names);
}

/// Walks the chain, knowing at each step which cuts and shares there are and which stage made them.
class Walk {
public:
    Walk(const RecipeDocument& document, const std::vector<CheckedStage>& stages, const Catalogue& catalogue,
         Diagnostics& diagnostics)
        : document_(document), stages_(stages), catalogue_(catalogue), diagnostics_(diagnostics) {}

    void pass_stage(std::size_t i) {
        if (!stages_[i].facts) {
            certain_ = false;
            return;
        }
        const StageContract& contract = *stages_[i].facts;
        const RecipeTable& table = document_.stages[i];
        const std::string owner = fmt::format("stage '{}'", stages_[i].entry->name);
        next_ = i + 1;
        check(contract.needs, table, owner);
        if (contract.acts) check_order(contract, table, owner);
        for (const CutKind kind : contract.gives_cuts) {
            maker_of_cuts_[kind] = i;
            const auto most = contract.most_pieces.find(kind);
            most_pieces_[kind] = most == contract.most_pieces.end() ? std::numeric_limits<std::int64_t>::max() : most->second;
        }
        if (contract.acts && *contract.acts != Acts::rows) columns_by_density_ = false;
        if (contract.gives_columns_by_density) columns_by_density_ = true;
        if (!contract.gives_shares.empty()) {
            shares_ = shares_made_by(contract);
            maker_of_shares_ = i;
        }
    }

    void check(const Needs& needs, const RecipeTable& table, const std::string& owner) {
        for (const CutKind kind : needs.cuts) check_cuts(kind, table, owner);
        check_shares(needs.shares, table, owner);
        if (needs.unsplit && !shares_.empty()) {
            diagnostics_.add(table.place_of("use"),
                             fmt::format("{} takes the nonzeros whole, but {} has split them into {}; remove "
                                         "that stage",
                                         owner, stage(maker_of_shares_, table), join(names_of(shares_))));
        }
        if (needs.columns_by_density && certain_ && !columns_by_density_) {
            const auto promise = [](const StageContract& contract) { return contract.gives_columns_by_density; };
            diagnostics_.add(table.place_of("use"), fmt::format("{} needs columns sorted by their nonzeros, densest first; {}",
                                                                owner, advice(promise, table)));
        }
    }

private:
    /// "'split' (line 21)".
    [[nodiscard]] std::string stage(std::size_t i, const RecipeTable& from) const {
        const RecipeTable& table = document_.stages[i];
        return fmt::format("'{}' ({})", table.id.empty() ? stages_[i].entry->name : table.id,
                           diagnostics_.line(table.place, from.place));
    }

    /// The place of the setting with this text, for a caret under it; that of `use` where there is none.
    [[nodiscard]] static Place place_of_word(const RecipeTable& table, std::string_view word) {
        for (const Setting& setting : table.settings) {
            const std::string* text = table.text(setting.key);
            const bool asks = text != nullptr && text->find(word) != std::string::npos;
            if (asks && setting.key != "use" && setting.key != "id") return setting.value_place;
        }
        return table.place_of("use");
    }

    /// What to do where something is missing: the stage that comes too late, or those that could be put before.
    [[nodiscard]] std::string advice(const auto& promise, const RecipeTable& table) const {
        for (std::size_t i = next_; i < stages_.size(); ++i) {
            if (stages_[i].facts && promise(*stages_[i].facts))
                return fmt::format("{} comes too late; move it up", stage(i, table));
        }
        const std::string names = stages_that(catalogue_, promise);
        return names.empty() ? "no stage gives it" : "stages that give it: " + names;
    }

    void check_cuts(CutKind kind, const RecipeTable& table, const std::string& owner) {
        if (!certain_ || maker_of_cuts_.contains(kind) || !missing_cuts_.insert(kind).second) return;
        const auto promise = [&](const StageContract& contract) { return contains(contract.gives_cuts, kind); };
        diagnostics_.add(place_of_word(table, name_of(kind)), fmt::format("{} needs {}, which no stage before it gives; {}",
                                                                          owner, in_words(kind), advice(promise, table)));
    }

    /// The shares that a stage makes where the cuts are those of now.
    [[nodiscard]] std::vector<ShareKind> shares_made_by(const StageContract& contract) const {
        std::vector<ShareKind> kinds;
        for (const GivesShares& given : contract.gives_shares) {
            const bool made = (!given.only_with || maker_of_cuts_.contains(*given.only_with)) &&
                              (!given.only_without || !maker_of_cuts_.contains(*given.only_without));
            if (made || !certain_) kinds.push_back(given.kind);
        }
        return kinds;
    }

    /// A share at a place beyond the cuts, as far as their number is known without the matrix.
    void check_place(const ShareId& id, const RecipeTable& table, const std::string& owner) const {
        const auto beyond = [&](CutKind kind, Index piece) {
            const auto most = most_pieces_.find(kind);
            if (!certain_ || most == most_pieces_.end() || piece < most->second) return;
            diagnostics_.add(place_of_word(table, name_of(id)),
                             fmt::format("{} needs share '{}', but {} makes at most {} {}, counted from 0", owner, name_of(id),
                                         stage(maker_of_cuts_.at(kind), table), most->second, in_words(kind)));
        };
        if (id.kind == ShareKind::tile) beyond(CutKind::row_block, id.row_block);
        if (id.kind == ShareKind::tile || id.kind == ShareKind::segment) beyond(CutKind::segment, id.segment);
    }

    void check_shares(const std::vector<ShareChoice>& shares, const RecipeTable& table, const std::string& owner) {
        std::vector<std::string> missing;
        ShareKind first_missing = ShareKind::all;
        for (const ShareChoice& share : shares) {
            if (share.one && contains(shares_, share.kind)) check_place(*share.one, table, owner);
            if (!certain_ || contains(shares_, share.kind) || !missing_shares_.insert(share.kind).second) continue;
            if (missing.empty()) first_missing = share.kind;
            missing.push_back(name_of(share));
        }
        if (missing.empty()) return;
        const auto promise = [&](const StageContract& contract) {
            return std::any_of(contract.gives_shares.begin(), contract.gives_shares.end(),
                               [&](const GivesShares& given) { return given.kind == first_missing; });
        };
        const std::vector<std::string> known = names_of(shares_);
        const std::string there = shares_.empty()
                                      ? "the nonzeros are not split; " + advice(promise, table)
                                      : fmt::format("there are only {}, from {}{}", join(quoted(known)),
                                                    stage(maker_of_shares_, table), did_you_mean(missing.front(), known));
        diagnostics_.add(place_of_word(table, missing.front()),
                         fmt::format("{} needs {} {}, but {}", owner, missing.size() > 1 ? "shares" : "share",
                                     join(quoted(missing)), there));
    }

    /// Cuts that an order of the matrix would leave in the wrong place must be kept or made anew; shares cannot be.
    void check_order(const StageContract& contract, const RecipeTable& table, const std::string& owner) {
        const Acts acts = *contract.acts;
        const Place place = table.place_of("use");
        for (const auto& [kind, maker] : maker_of_cuts_) {
            const bool valid = contains(contract.keeps, kind) || contains(contract.gives_cuts, kind);
            if (valid || !reaches_across(acts, kind)) continue;
            diagnostics_.add(
                place, fmt::format("{} moves {} across the borders of {} that {} made; put it before that stage, or order "
                                   "within the pieces",
                                   owner, axes(acts), in_words(kind), stage(maker, table)));
        }
        if (shares_.empty()) return;
        diagnostics_.add(place, fmt::format("{} moves {} after {} has split the nonzeros into shares; put it before that stage",
                                            owner, axes(acts), stage(maker_of_shares_, table)));
    }

    [[nodiscard]] static std::string_view axes(Acts acts) {
        if (acts == Acts::rows) return "rows";
        return acts == Acts::columns ? "columns" : "rows and columns";
    }

    const RecipeDocument& document_;
    const std::vector<CheckedStage>& stages_;
    const Catalogue& catalogue_;
    Diagnostics& diagnostics_;
    std::map<CutKind, std::size_t> maker_of_cuts_;
    std::map<CutKind, std::int64_t> most_pieces_;  // the largest number: not known
    std::vector<ShareKind> shares_;                // empty: the nonzeros are not split
    std::size_t maker_of_shares_ = 0;
    std::set<CutKind> missing_cuts_;  // reported once, then taken as given
    std::set<ShareKind> missing_shares_;
    std::size_t next_ = 0;  // the stage after the present one
    bool columns_by_density_ = false;
    bool certain_ = true;  // everything about the stages so far is known
};

}  // namespace

void check_needs(const RecipeDocument& document, const std::vector<CheckedStage>& stages, const CheckedLayout& layout,
                 const Catalogue& catalogue, Diagnostics& diagnostics) {
    Walk walk(document, stages, catalogue, diagnostics);
    for (std::size_t i = 0; i < stages.size(); ++i) walk.pass_stage(i);
    if (layout.facts) walk.check(*layout.facts, document.layout, fmt::format("layout '{}'", layout.entry->name));
}

}  // namespace workbench
