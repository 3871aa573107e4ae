// Finds the legal points of a space: chains of stages, each with the lists of layouts that it can have.
#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <set>
#include <span>

#include "pipeline/recipe/space_data.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_chains = 100'000;
constexpr std::size_t most_steps = 1'500'000;            // in the search for chains and for layouts
constexpr std::size_t most_layout_options = 20'000'000;  // stored, for all chains together

struct TooMany {
    std::string message;
};

/// Searches the chains of stages depth first, and remembers which sequences of kinds the contracts allow.
class PointSearch {
public:
    PointSearch(SpaceReader& reader, const Catalogue& catalogue, Space::Data& data)
        : reader_(reader), catalogue_(catalogue), data_(data) {
        rules_.baseline_layout = catalogue.baseline_layout;  // without stages, so that no advice is composed
        nodes_.emplace_back();
        for (std::size_t place = data.stages; place < data.slots.size(); ++place) {
            for (const SpaceChoice& choice : data.slots[place].choices) add_references(choice);
        }
    }

    void search() {
        SpacePoint point(data_.slots.size(), 0);
        extend(point, 0, 0);
    }

    /// The errors of the first combination that the contracts refused.
    [[nodiscard]] const std::vector<RecipeProblem>& refused() const { return refused_; }

private:
    /// The sequences of kinds of stages that some chain begins with form a tree.
    struct KindNode {
        std::map<std::uint32_t, std::size_t> next = {};       // by the kind of the next stage; 0: not legal
        std::vector<const SpaceVariant*> stages = {};         // an example
        std::optional<std::vector<std::string>> shares = {};  // into which the stages split the nonzeros
        /// Legal or not, by the places and kinds of layouts.
        std::map<std::vector<std::pair<std::size_t, std::uint32_t>>, bool> layouts = {};
    };

    using Places = std::vector<std::pair<std::size_t, std::uint32_t>>;

    /// The layouts of a point depend on these stages not only by their contracts.
    void add_references(const SpaceChoice& choice) {
        const auto add = [&](std::size_t place) {
            if (place >= data_.stages || !referenced_.insert(place).second) return;
            for (const SpaceChoice& each : data_.slots[place].choices) add_references(each);
        };
        for (const SpaceTie& tie : choice.ties) add(tie.place);
        for (const std::vector<std::size_t>& all : choice.conditions) {
            for (const std::size_t condition : all) {
                for (const std::size_t place : data_.conditions[condition].places()) add(place);
            }
        }
    }

    /// False if the matrix is known not to be square, but has to be.
    [[nodiscard]] bool fits_matrix(const SpaceVariant& variant) const {
        const bool square = !data_.facts || !data_.facts->contains("square") || data_.facts->at("square") != 0;
        const bool must_be =
            variant.stage.facts ? needs_square(*variant.stage.facts) : variant.layout.facts && variant.layout.facts->square;
        return square || !must_be;
    }

    void count_step() {
        if (++steps_ > most_steps) throw TooMany{"found a space that takes too long to search; expected fewer alternatives"};
    }

    [[nodiscard]] bool is_legal(const std::vector<const SpaceVariant*>& stages, const std::vector<CheckedChoice>& layouts) {
        RecipeDocument document;
        std::vector<CheckedStage> checked;
        for (const SpaceVariant* stage : stages) {
            document.stages.push_back(stage->table);
            checked.push_back(stage->stage);
        }
        Diagnostics diagnostics("", "");
        check_needs(document, checked, layouts, rules_, diagnostics);
        if (diagnostics.empty()) return true;
        if (refused_.empty()) {  // once, with advice
            static_cast<void>(diagnostics.take());
            check_needs(document, checked, layouts, catalogue_, diagnostics);
            refused_ = diagnostics.take();
        }
        return false;
    }

    [[nodiscard]] bool conditions_hold(const SpaceChoice& choice, const SpacePoint& point) const {
        return std::ranges::any_of(choice.conditions, [&](const std::vector<std::size_t>& all) {
            return std::ranges::all_of(all, [&](std::size_t condition) { return data_.holds(condition, point); });
        });
    }

    void extend(SpacePoint& point, std::size_t place, std::size_t node) {
        count_step();
        if (place == data_.stages) {
            add_chain(point, node);
            return;
        }
        const SpaceSlot& slot = data_.slots[place];
        const bool may_be_there = !slot.presence || data_.holds(*slot.presence, point);
        for_each_option(point, place, may_be_there, [&](const SpaceVariant* variant) {
            if (variant == nullptr) {
                if (slot.optional || !may_be_there) extend(point, place + 1, node);
            } else if (const std::size_t next = next_node(node, *variant); next != 0) {
                extend(point, place + 1, next);
            }
        });
    }

    /// Sets the place to each of its options in turn, and calls use(SpaceVariant*) with the variant, or null if the place is
    /// left out. Conditions and the matrix may rule options out, and !may_be_there all but leaving it out.
    void for_each_option(SpacePoint& point, std::size_t place, bool may_be_there, const auto& use) {
        const SpaceSlot& slot = data_.slots[place];
        for (std::uint32_t option = 0; option < slot.choices.size(); ++option) {
            const SpaceChoice& choice = slot.choices[option];
            point[place] = option;
            if (choice.left_out) {
                use(nullptr);
                continue;
            }
            if (!may_be_there || !conditions_hold(choice, point)) continue;
            reader_.add_variant(place, option, point);
            const SpaceVariant& variant = *data_.variant_of(point, place);
            if (variant.legal && fits_matrix(variant)) use(&variant);
        }
        point[place] = 0;
    }

    /// 0: the stage is not legal there.
    [[nodiscard]] std::size_t next_node(std::size_t node, const SpaceVariant& variant) {
        if (const auto known = nodes_[node].next.find(variant.kind); known != nodes_[node].next.end()) return known->second;
        std::vector<const SpaceVariant*> stages = nodes_[node].stages;
        stages.push_back(&variant);
        const RecipeTable nothing;
        const bool legal = is_legal(stages, {{&nothing, &nothing, {}, {}}});
        const std::size_t next = legal ? nodes_.size() : 0;
        nodes_[node].next[variant.kind] = next;
        if (legal) nodes_.emplace_back().stages = std::move(stages);
        return next;
    }

    void add_chain(SpacePoint& point, std::size_t node) {
        std::vector<std::uint32_t> key = {static_cast<std::uint32_t>(node)};
        for (const std::size_t place : referenced_) key.push_back(point[place]);
        auto list = lists_.find(key);
        if (list == lists_.end()) list = lists_.emplace(key, list_of(point, node)).first;
        const std::size_t groups = data_.layouts[list->second].size() / (data_.slots.size() - data_.stages);
        if (groups == 0) return;
        if (data_.chains.size() == most_chains) {
            throw TooMany{fmt::format("found more than {} chains of stages; expected at most that many", most_chains)};
        }
        data_.chains.push_back({data_.count, list->second});
        data_.count += groups;
        data_.chain_options.insert(data_.chain_options.end(), point.begin(),
                                   point.begin() + static_cast<std::ptrdiff_t>(data_.stages));
    }

    /// The number of the list of layouts for these stages; equal lists are stored once.
    [[nodiscard]] std::uint32_t list_of(SpacePoint& point, std::size_t node) {
        std::vector<std::vector<std::uint32_t>> groups = layouts_of(point, node);
        std::ranges::sort(groups);
        std::vector<std::uint32_t> list;
        for (const std::vector<std::uint32_t>& group : groups) list.insert(list.end(), group.begin(), group.end());
        const auto [known, fresh] = numbers_.emplace(list, static_cast<std::uint32_t>(data_.layouts.size()));
        if (!fresh) return known->second;
        stored_ += list.size();
        if (stored_ > most_layout_options) {
            throw TooMany{"found too many combinations of layouts of shares; expected fewer alternatives"};
        }
        data_.layouts.push_back(std::move(list));
        return known->second;
    }

    /// The options at the places of layouts, for each legal combination.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> layouts_of(SpacePoint& point, std::size_t node) {
        KindNode& here = nodes_[node];
        if (!here.shares) {
            RecipeDocument document;
            std::vector<CheckedStage> checked;
            for (const SpaceVariant* stage : here.stages) {
                document.stages.push_back(stage->table);
                checked.push_back(stage->stage);
            }
            here.shares = shares_after(document, checked, rules_);
        }
        std::vector<std::vector<std::uint32_t>> groups;
        std::vector<std::size_t> of_shares;
        for (std::size_t place = data_.stages; place < data_.slots.size(); ++place) {
            std::fill(point.begin() + static_cast<std::ptrdiff_t>(data_.stages), point.end(), 0);
            const SpaceSlot& slot = data_.slots[place];
            if (!slot.share) {
                choose(point, here, std::span(&place, 1), {}, groups);
            } else if (std::ranges::any_of(*here.shares, [name = name_of(*slot.share)](const std::string& share) {
                           return share == name || share.starts_with(name + "/");  // one that was split again
                       })) {
                of_shares.push_back(place);
            }
        }
        std::fill(point.begin() + static_cast<std::ptrdiff_t>(data_.stages), point.end(), 0);
        if (!of_shares.empty()) choose(point, here, of_shares, {}, groups);
        std::fill(point.begin() + static_cast<std::ptrdiff_t>(data_.stages), point.end(), 0);
        return groups;
    }

    /// Chooses an option, or none, at each of the places.
    void choose(SpacePoint& point, KindNode& here, std::span<const std::size_t> places, const Places& chosen,
                std::vector<std::vector<std::uint32_t>>& groups) {
        count_step();
        if (places.empty()) {
            if (chosen.empty() || !are_legal(here, chosen, point)) return;
            groups.emplace_back(point.begin() + static_cast<std::ptrdiff_t>(data_.stages), point.end());
            return;
        }
        for_each_option(point, places.front(), true, [&](const SpaceVariant* variant) {
            Places more = chosen;
            if (variant != nullptr) more.emplace_back(places.front(), variant->kind);
            choose(point, here, places.subspan(1), more, groups);
        });
    }

    [[nodiscard]] bool are_legal(KindNode& here, const Places& chosen, const SpacePoint& point) {
        const auto known = here.layouts.find(chosen);
        if (known != here.layouts.end()) return known->second;
        std::vector<CheckedChoice> layouts;
        std::vector<RecipeTable> tables(chosen.size());  // with the share, by which check_needs recognises a hybrid
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const SpaceSlot& slot = data_.slots[chosen[i].first];
            const SpaceVariant& variant = *data_.variant_of(point, chosen[i].first);
            tables[i] = variant.table;
            Setting share;
            share.key = "share";
            if (slot.share) tables[i].set(share);
            layouts.push_back({&tables[i], &tables[i], variant.layout, slot.share});
        }
        return here.layouts[chosen] = is_legal(here.stages, layouts);
    }

    SpaceReader& reader_;
    const Catalogue& catalogue_;
    Space::Data& data_;
    Catalogue rules_;
    std::deque<KindNode> nodes_;                                   // the first: no stage
    std::set<std::size_t> referenced_;                             // by layouts
    std::map<std::vector<std::uint32_t>, std::uint32_t> lists_;    // by node and options of referenced stages
    std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;  // of lists in data_.layouts
    std::vector<RecipeProblem> refused_;
    std::size_t steps_ = 0;
    std::size_t stored_ = 0;
};

}  // namespace

void find_points(SpaceReader& reader, const Catalogue& catalogue, Space::Data& data, Diagnostics& diagnostics) {
    PointSearch search(reader, catalogue, data);
    try {
        search.search();
    } catch (const TooMany& error) {
        diagnostics.add({}, "{}", error.message);
        return;
    }
    if (data.count > 0 || !diagnostics.empty()) return;
    diagnostics.add(
        {}, "no point of the space is legal{}",
        search.refused().empty() ? ", because conditions are violated" : "; the first combination has the errors above");
    diagnostics.add_all(search.refused());
}

std::optional<ParameterValue> Space::Data::value_at(const SpacePoint& point, std::size_t place, const std::string& key) const {
    const SpaceChoice& choice = slots[place].choices[point[place]];
    if (key == "use" && choice.left_out) return ParameterValue(std::string("none"));
    const SpaceVariant* const variant = variant_of(point, place);
    if (variant == nullptr || !variant->legal) return std::nullopt;
    const bool is_stage = slots[place].is_stage;
    if (key == "use") return ParameterValue(is_stage ? variant->stage.entry->name : variant->layout.entry->name);
    const Parameters& parameters = is_stage ? *variant->stage.parameters : *variant->layout.parameters;
    const auto value = parameters.values().find(key);
    return value == parameters.values().end() ? std::nullopt : std::optional(value->second);
}

bool Space::Data::holds(std::size_t condition, const SpacePoint& point) const {
    return conditions[condition].may_hold(
        facts ? &*facts : nullptr, [&](std::size_t place, const std::string& key) { return value_at(point, place, key); });
}

std::vector<std::uint32_t> Space::Data::options_of_ties(const SpaceChoice& choice, const SpacePoint& point) {
    std::vector<std::uint32_t> options;
    for (const SpaceTie& tie : choice.ties) options.push_back(point[tie.place]);
    return options;
}

const SpaceVariant* Space::Data::variant_of(const SpacePoint& point, std::size_t place) const {
    const SpaceChoice& choice = slots[place].choices[point[place]];
    if (choice.left_out) return nullptr;
    const auto variant = choice.variants.find(options_of_ties(choice, point));
    return variant == choice.variants.end() ? nullptr : &variant->second;
}

}  // namespace workbench
