#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/text/suggestion.hpp"
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

bool contains(const auto& list, const auto& item) { return std::ranges::count(list, item) > 0; }

std::vector<std::string> quoted(std::vector<std::string> words) {
    for (std::string& word : words) word = fmt::format("'{}'", word);
    return words;
}

std::vector<std::string> names_of(const std::vector<ShareChoice>& shares) {
    std::vector<std::string> names;
    for (const ShareChoice& share : shares) names.push_back(name_of(share));
    return names;
}

/// True if such an order may move rows or columns across cuts of this kind.
bool reaches_across(Acts acts, CutKind kind) {
    switch (acts) {
        case Acts::symmetric: return true;
        case Acts::rows: return cuts_rows(kind);
        case Acts::columns: return cuts_columns(kind);
    }
    return false;
}

/// A value that the declaration usually accepts.
ParameterValue plausible_value(const ParameterDeclaration& declaration) {
    switch (declaration.type) {
        case ParameterType::boolean: return false;
        case ParameterType::integer:
        case ParameterType::length: return static_cast<std::int64_t>(declaration.minimum.value_or(1));
        case ParameterType::integers:
        case ParameterType::lengths: return std::to_string(static_cast<std::int64_t>(declaration.minimum.value_or(1)));
        case ParameterType::real: return declaration.minimum.value_or(1);
        case ParameterType::text:
        case ParameterType::file:
        case ParameterType::source:
        case ParameterType::command: return std::string("x");
        case ParameterType::share:
        case ParameterType::shares: return std::string(name_of(kinds_of_shares.front()));
        case ParameterType::choice: return declaration.words.front();
    }
    return false;
}

/// Values for all parameters that have no default and are not optional.
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
        return false;  // these values do not fit together
    }
}

/// True if the promise holds with these values, or with one more optional parameter.
bool holds_with_some_optional(const StageEntry& entry, const std::map<std::string, ParameterValue>& values,
                              const auto& promise) {
    if (holds(entry, values, promise)) return true;
    return std::ranges::any_of(entry.parameters, [&](const ParameterDeclaration& declaration) {
        auto others = values;
        if (declaration.optional) others[declaration.name] = plausible_value(declaration);
        return declaration.optional && holds(entry, others, promise);
    });
}

/// "metis_partition, split": the stages of the catalogue that can keep a promise, by default, with some word for one of their
/// parameters, or with one of their optional parameters.
std::string stages_that(const Catalogue& catalogue, const auto& promise) {
    std::vector<std::string> names;
    for (const StageEntry& entry : catalogue.stages) {
        const auto values = plausible_values(entry.parameters);
        bool can = holds_with_some_optional(entry, values, promise);
        for (const ParameterDeclaration& declaration : entry.parameters) {
            for (const std::string& word : declaration.words) {
                auto others = values;
                others[declaration.name] = word;
                can = can || holds_with_some_optional(entry, others, promise);
            }
        }
        if (can) names.push_back(entry.name);
    }
    return join(names);
}

/// Walks through the stages and tracks which cuts and shares exist and which stage made them.
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
        if (contract.gives_shares.empty()) return;
        if (contract.splits) {
            std::erase_if(shares_, [&](const ShareChoice& share) { return is(share, *contract.splits); });
        } else if (!contract.unites.empty()) {
            for (const ShareId& id : contract.unites) {
                std::erase_if(shares_, [&](const ShareChoice& share) { return is(share, id); });
            }
        } else {
            shares_.clear();
        }
        for (const ShareChoice& share : shares_made_by(contract)) {
            if (certain_ && exists(share)) {
                diagnostics_.add(table.place_of("use"), "{} makes share '{}', which exists already", owner, name_of(share));
            }
            shares_.push_back(share);
        }
        maker_of_shares_ = i;
    }

    void check(const Needs& needs, const RecipeTable& table, const std::string& owner) {
        for (const CutKind kind : needs.cuts) check_cuts(kind, table, owner);
        check_shares(needs.shares, table, owner);
        if (needs.unsplit && !shares_.empty()) refuse_split(table, owner);
        if (needs.columns_by_density && certain_ && !columns_by_density_) {
            const auto promise = [](const StageContract& contract) { return contract.gives_columns_by_density; };
            diagnostics_.add(table.place_of("use"), "{} needs columns sorted by density, densest first; {}", owner,
                             advice(promise, table));
        }
    }

    /// Several layouts must store each share exactly once, and each layout must suit its share.
    void check_shares_of(const std::vector<CheckedChoice>& layouts) {
        std::map<std::string, const RecipeTable*> takers;
        bool known = certain_;
        for (const CheckedChoice& choice : layouts) {
            known = known && choice.share.has_value();
            if (!choice.share) continue;
            const RecipePlace place = choice.table->place_of("share");
            std::vector<ShareChoice> missing;
            for (const ShareId& id : shares_stored_by(choice)) {
                const std::string name = name_of(id);
                if (const auto [first, fresh] = takers.emplace(name, choice.table); !fresh) {
                    diagnostics_.add(place, "share '{}' is stored twice; the layout on {} stores it already", name,
                                     diagnostics_.line(first->second->place, choice.table->place));
                } else if (certain_ && !exists(share_choice(name).value())) {
                    missing.push_back(share_choice(name).value());
                }
            }
            known = known && missing.empty();
            if (!choice.layout.facts || suits_share(choice)) check_shares(missing, *choice.table, owner_of(choice));
        }
        if (!known) return;
        for (const ShareChoice& share : shares_) {
            if (takers.contains(name_of(share))) continue;
            const char* const expected =
                has_places(share.kind) ? "shares of stage split, since there are several layouts" : "a [[layout]] for it";
            diagnostics_.add(layouts.front().table->place, "no layout stores share '{}' from {}; expected {}", name_of(share),
                             stage(maker_of_shares_, *layouts.front().table), expected);
        }
    }

    /// The names of the shares; empty if the nonzeros are not split.
    [[nodiscard]] std::vector<std::string> shares() const { return names_of(shares_); }

    [[nodiscard]] static std::string owner_of(const CheckedChoice& choice) {
        return choice.layout.entry == nullptr ? "the layout" : fmt::format("layout '{}'", choice.layout.entry->name);
    }

private:
    [[nodiscard]] static bool is(const ShareChoice& share, const ShareId& id) { return name_of(share) == name_of(id); }

    /// True if the share, or a share of its kind, exists.
    [[nodiscard]] bool exists(const ShareChoice& share) const {
        return std::ranges::any_of(shares_, [&](const ShareChoice& other) {
            return other == share || (has_places(share.kind) && other.kind == share.kind);
        });
    }

    /// The share of a layout, or the parts of this share that the layout consists of.
    [[nodiscard]] static std::vector<ShareId> shares_stored_by(const CheckedChoice& choice) {
        std::vector<ShareId> parts;
        if (choice.layout.facts) {
            for (const ShareChoice& share : choice.layout.facts->shares) {
                if (const auto part = share_within(*choice.share, share.kind)) parts.push_back(*part);
            }
        }
        return parts.empty() ? std::vector{*choice.share} : parts;
    }

    /// A share lacks segments and tiles. Only layouts with all rows have the cuts and the shape of the whole matrix. False
    /// after an error.
    bool suits_share(const CheckedChoice& choice) {
        const Needs& needs = *choice.layout.facts;
        const bool has_all_rows = choice.layout.entry->rows_of_share == RowsOfShare::all;
        const auto has_places_of_its_own = [](const ShareChoice& share) { return has_places(share.kind); };
        const auto refuse = [&](const std::string& what) {
            diagnostics_.add(choice.table->place_of("use"), "{} {}; it cannot store share '{}'", owner_of(choice), what,
                             name_of(*choice.share));
            return false;
        };
        if (std::ranges::any_of(needs.shares, has_places_of_its_own)) {
            return refuse(fmt::format("consists of shares itself ({})", join(names_of(needs.shares))));
        }
        if (!has_all_rows && !needs.cuts.empty()) {
            return refuse(fmt::format("needs {} of all rows", in_words(needs.cuts.front())));
        }
        if (!has_all_rows && (needs.square || needs.columns_by_density)) return refuse("needs the whole matrix");
        for (const CutKind kind : needs.cuts) check_cuts(kind, *choice.table, owner_of(choice));
        return true;
    }

    void refuse_split(const RecipeTable& table, const std::string& owner) {
        diagnostics_.add(
            table.place_of("use"), "{} needs unsplit nonzeros, but {} has split them into {}; {}", owner,
            stage(maker_of_shares_, table), join(names_of(shares_)),
            &table == &document_.layout ? "remove that stage, or add a [[layout]] for each share" : "remove that stage");
    }

    /// "'split' (line 21)".
    [[nodiscard]] std::string stage(std::size_t i, const RecipeTable& from) const {
        const RecipeTable& table = document_.stages[i];
        return fmt::format("'{}' ({})", table.id.empty() ? stages_[i].entry->name : table.id,
                           diagnostics_.line(table.place, from.place));
    }

    /// The place of the setting that contains this word, for the caret; otherwise that of `use`.
    [[nodiscard]] static RecipePlace place_of_word(const RecipeTable& table, std::string_view word) {
        for (const Setting& setting : table.settings) {
            const std::string* text = table.text(setting.key);
            const bool asks = text != nullptr && text->find(word) != std::string::npos;
            if (asks && setting.key != "use" && setting.key != "id") return setting.value_place;
        }
        return table.place_of("use");
    }

    /// How to provide what is missing: a stage to move up, or stages to add.
    [[nodiscard]] std::string advice(const auto& promise, const RecipeTable& table) const {
        for (std::size_t i = next_; i < stages_.size(); ++i) {
            if (stages_[i].facts && promise(*stages_[i].facts)) {
                return fmt::format("{} comes too late; move it up", stage(i, table));
            }
        }
        const std::string names = stages_that(catalogue_, promise);
        return names.empty() ? "no stage provides it" : "stages that provide it: " + names;
    }

    void check_cuts(CutKind kind, const RecipeTable& table, const std::string& owner) {
        if (!certain_ || maker_of_cuts_.contains(kind) || !missing_cuts_.insert(kind).second) return;
        const auto promise = [&](const StageContract& contract) { return contains(contract.gives_cuts, kind); };
        diagnostics_.add(place_of_word(table, name_of(kind)), "{} needs {}, which no earlier stage provides; {}", owner,
                         in_words(kind), advice(promise, table));
    }

    /// The shares that a stage makes with the current cuts.
    [[nodiscard]] std::vector<ShareChoice> shares_made_by(const StageContract& contract) const {
        std::vector<ShareChoice> shares;
        for (const GivesShares& given : contract.gives_shares) {
            const bool made = (!given.only_with || maker_of_cuts_.contains(*given.only_with)) &&
                              (!given.only_without || !maker_of_cuts_.contains(*given.only_without));
            if (!made && certain_) continue;
            const std::optional<ShareId> part = share_within(contract.splits.value_or(ShareId{}), given.kind);
            shares.push_back(part && part->is_split_again() ? ShareChoice{given.kind, part} : ShareChoice{given.kind});
        }
        return shares;
    }

    /// Refuses a share beyond the last piece, if the number of pieces is known without the matrix.
    void check_place(const ShareId& id, const RecipeTable& table, const std::string& owner) const {
        const auto beyond = [&](CutKind kind, Index piece) {
            const auto most = most_pieces_.find(kind);
            if (!certain_ || most == most_pieces_.end() || piece < most->second) return;
            diagnostics_.add(place_of_word(table, name_of(id)),
                             "{} needs share '{}', but {} makes at most {} {}, counted from 0", owner, name_of(id),
                             stage(maker_of_cuts_.at(kind), table), most->second, in_words(kind));
        };
        if (id.kind == ShareKind::tile) beyond(CutKind::row_block, id.row_block);
        if (id.kind == ShareKind::tile || id.kind == ShareKind::segment) beyond(CutKind::segment, id.segment);
    }

    void check_shares(const std::vector<ShareChoice>& shares, const RecipeTable& table, const std::string& owner) {
        std::vector<std::string> missing;
        ShareKind first_missing = ShareKind::all;
        for (const ShareChoice& share : shares) {
            if (share.one && exists(share)) check_place(*share.one, table, owner);
            const std::string name = has_places(share.kind) ? std::string(name_of(share.kind)) : name_of(share);
            if (!certain_ || exists(share) || !missing_shares_.insert(name).second) continue;
            if (missing.empty()) first_missing = share.one ? outermost(*share.one) : share.kind;
            missing.push_back(name_of(share));
        }
        if (missing.empty()) return;
        const auto promise = [&](const StageContract& contract) {
            return std::ranges::count(contract.gives_shares, first_missing, &GivesShares::kind) > 0;
        };
        const std::vector<std::string> known = names_of(shares_);
        const std::string found = shares_.empty() ? "the nonzeros are not split; " + advice(promise, table)
                                                  : fmt::format("{} makes only {}{}", stage(maker_of_shares_, table),
                                                                join(quoted(known)), did_you_mean(missing.front(), known));
        diagnostics_.add(place_of_word(table, missing.front()), "{} needs {} {}, but {}", owner,
                         missing.size() > 1 ? "shares" : "share", join(quoted(missing)), found);
    }

    /// The first kind in a chain of splits.
    [[nodiscard]] static ShareKind outermost(const ShareId& id) { return id.is_split_again() ? id.within.front() : id.kind; }

    /// A stage that orders across cuts must keep or replace them; shares cannot be kept.
    void check_order(const StageContract& contract, const RecipeTable& table, const std::string& owner) {
        const Acts acts = *contract.acts;
        const RecipePlace place = table.place_of("use");
        for (const auto& [kind, maker] : maker_of_cuts_) {
            const bool valid = contains(contract.keeps, kind) || contains(contract.gives_cuts, kind);
            if (valid || !reaches_across(acts, kind)) continue;
            diagnostics_.add(place,
                             "{} moves {} across the boundaries of {} from {}; put it before that stage, or order "
                             "within the pieces",
                             owner, axes(acts), in_words(kind), stage(maker, table));
        }
        if (shares_.empty()) return;
        diagnostics_.add(place, "{} moves {} after {} has split the nonzeros; put it before that stage", owner, axes(acts),
                         stage(maker_of_shares_, table));
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
    std::map<CutKind, std::int64_t> most_pieces_;  // the largest integer: unknown
    std::vector<ShareChoice> shares_;              // empty: not split
    std::size_t maker_of_shares_ = 0;
    std::set<CutKind> missing_cuts_;  // reported once
    std::set<std::string> missing_shares_;
    std::size_t next_ = 0;  // the stage after the current one
    bool columns_by_density_ = false;
    bool certain_ = true;  // no error in the stages so far
};

}  // namespace

void check_needs(const RecipeDocument& document, const std::vector<CheckedStage>& stages,
                 const std::vector<CheckedChoice>& layouts, const Catalogue& catalogue, Diagnostics& diagnostics) {
    Walk walk(document, stages, catalogue, diagnostics);
    for (std::size_t i = 0; i < stages.size(); ++i) walk.pass_stage(i);
    if (layouts.size() > 1 || layouts.front().table->find("share") != nullptr) {
        walk.check_shares_of(layouts);
    } else if (layouts.front().layout.facts) {
        walk.check(*layouts.front().layout.facts, *layouts.front().table, Walk::owner_of(layouts.front()));
    }
}

std::vector<std::string> shares_after(const RecipeDocument& document, const std::vector<CheckedStage>& stages,
                                      const Catalogue& catalogue) {
    Diagnostics ignored("", "");
    Walk walk(document, stages, catalogue, ignored);
    for (std::size_t i = 0; i < stages.size(); ++i) walk.pass_stage(i);
    return walk.shares();
}

}  // namespace workbench
