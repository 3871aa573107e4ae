#include "core/matrix/shares.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace workbench {
namespace {

/// Takes a number from the front of a text. None, without a change of the text, if no Index is there.
std::optional<Index> take_number(std::string_view& text) {
    Index number = 0;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(after - text.data()));
    return number;
}

std::optional<ShareKind> kind_named(std::string_view words) {
    for (const ShareKind kind : kinds_of_shares) {
        if (words == name_of(kind)) return kind;
    }
    return std::nullopt;
}

/// "short/first".
std::optional<ShareId> share_of_path(std::string_view words) {
    std::optional<ShareId> id = ShareId{};
    for (bool more = true; more && id;) {
        const std::size_t end = words.find('/');
        more = end != std::string_view::npos;
        const std::optional<ShareKind> kind = kind_named(words.substr(0, end));
        id = kind ? share_within(*id, *kind) : std::nullopt;
        if (more) words.remove_prefix(end + 1);
    }
    return id;
}

}  // namespace

std::string_view name_of(ShareKind kind) {
    constexpr std::array<std::string_view, 36> names{"all",
                                                     "inside",
                                                     "outside",
                                                     "first",
                                                     "rest",
                                                     "long",
                                                     "short",
                                                     "dense_diagonals",
                                                     "sparse_diagonals",
                                                     "dense_blocks",
                                                     "sparse_blocks",
                                                     "dense_columns",
                                                     "sparse_columns",
                                                     "near",
                                                     "far",
                                                     "chosen",
                                                     "others",
                                                     "bin_0",
                                                     "bin_1",
                                                     "bin_2",
                                                     "bin_3",
                                                     "bin_4",
                                                     "bin_5",
                                                     "bin_6",
                                                     "bin_7",
                                                     "united",
                                                     "label_0",
                                                     "label_1",
                                                     "label_2",
                                                     "label_3",
                                                     "label_4",
                                                     "label_5",
                                                     "label_6",
                                                     "label_7",
                                                     "segment",
                                                     "tile"};
    return names.at(static_cast<std::size_t>(kind));
}

std::vector<std::string> listed_kinds() {
    std::vector<std::string> names;
    for (const ShareKind kind : kinds_of_shares) {
        if (kind <= ShareKind::bin_0 || kind > ShareKind::bin_7) names.emplace_back(name_of(kind));
    }
    return names;
}

std::vector<std::string> listed_kinds_without_places() {
    std::vector<std::string> names = listed_kinds();
    std::erase_if(names, [](const std::string& name) { return has_places(kind_named(name).value()); });
    return names;
}

std::string name_of(const ShareId& id) {
    std::string name;
    for (const ShareKind parent : id.within) {
        if (parent != ShareKind::all) name += std::string(name_of(parent)) + "/";
    }
    name += name_of(id.kind);
    if (id.kind == ShareKind::segment) name += " " + std::to_string(id.segment);
    if (id.kind == ShareKind::tile) name += " " + std::to_string(id.row_block) + "," + std::to_string(id.segment);
    return name;
}

std::optional<ShareId> share_within(const ShareId& parent, ShareKind kind) {
    ShareId id{kind};
    if (parent.kind == ShareKind::all) return id;
    if (has_places(parent.kind) || has_places(kind)) return std::nullopt;
    id.within = parent.within;
    auto* const place = std::find(id.within.begin(), id.within.end(), ShareKind::all);
    if (place == id.within.end()) return std::nullopt;
    *place = parent.kind;
    return id;
}

std::string name_of(const ShareChoice& choice) { return choice.one ? name_of(*choice.one) : std::string(name_of(choice.kind)); }

std::optional<ShareChoice> share_choice(std::string_view words) {
    if (words.find('/') != std::string_view::npos) {
        const std::optional<ShareId> id = share_of_path(words);
        return id ? std::optional(ShareChoice{id->kind, id}) : std::nullopt;
    }
    if (const std::optional<ShareKind> kind = kind_named(words)) return ShareChoice{*kind};
    for (const ShareKind kind : {ShareKind::segment, ShareKind::tile}) {
        const std::string before = std::string(name_of(kind)) + " ";
        if (!words.starts_with(before)) continue;
        std::string_view place = words.substr(before.size());
        ShareId id{kind};
        if (kind == ShareKind::tile) {
            id.row_block = take_number(place).value_or(0);
            if (!place.starts_with(",")) return std::nullopt;
            place.remove_prefix(1);
        }
        id.segment = take_number(place).value_or(0);
        // The canonical name only: no extra blanks, leading zeros or trailing text.
        if (name_of(id) == words) return ShareChoice{kind, id};
    }
    return std::nullopt;
}

std::optional<ShareId> single_share(std::string_view words) {
    const std::optional<ShareChoice> choice = share_choice(words);
    if (!choice || has_places(choice->kind)) return std::nullopt;
    return choice->one ? *choice->one : ShareId{choice->kind};
}

Share reorder_rows(const Share& share, std::span<const Index> old_of_new) {
    Share ordered{share.id, {}, {0}, {}};
    ordered.rows.reserve(share.rows.size());
    ordered.row_offsets.reserve(share.row_offsets.size());
    ordered.entries.reserve(share.entries.size());
    for (const Index old : old_of_new) {
        ordered.rows.push_back(share.rows[old]);
        ordered.entries.insert(ordered.entries.end(), share.entries.begin() + share.row_offsets[old],
                               share.entries.begin() + share.row_offsets[old + 1]);
        ordered.row_offsets.push_back(static_cast<Offset>(ordered.entries.size()));
    }
    return ordered;
}

std::vector<const Share*> parts_of(const ShareId& id, std::span<const Share> shares) {
    std::vector<const Share*> parts;
    for (const Share& share : shares) {
        const bool is_part = share.id.is_split_again() && share_within(id, share.id.kind) == share.id;
        if (is_part) parts.push_back(&share);
    }
    return parts;
}

Share unite(const ShareId& id, std::span<const Share* const> parts, Index rows) {
    Share united{.id = id};
    std::vector<Index> stored_at(rows, -1);
    for (const Share* part : parts) {
        for (std::size_t i = 0; i < part->rows.size(); ++i) {
            Index& stored = stored_at[part->rows[i]];
            if (stored < 0) {
                stored = static_cast<Index>(united.rows.size());
                united.rows.push_back(part->rows[i]);
                united.row_offsets.push_back(0);
            }
            united.row_offsets[stored + 1] += part->row_offsets[i + 1] - part->row_offsets[i];
        }
    }
    std::partial_sum(united.row_offsets.begin(), united.row_offsets.end(), united.row_offsets.begin());
    united.entries.resize(united.row_offsets.back());
    std::vector<Offset> next(united.row_offsets.begin(), united.row_offsets.end());
    for (const Share* part : parts) {
        for (std::size_t i = 0; i < part->rows.size(); ++i) {
            Offset& place = next[stored_at[part->rows[i]]];
            for (Offset k = part->row_offsets[i]; k < part->row_offsets[i + 1]; ++k) united.entries[place++] = part->entries[k];
        }
    }
    for (std::size_t i = 0; i < united.rows.size(); ++i) {
        std::sort(united.entries.begin() + united.row_offsets[i], united.entries.begin() + united.row_offsets[i + 1]);
    }
    return united;
}

ShareView::ShareView(const CsrMatrix& whole) : row_count_(whole.rows), offsets_(whole.row_offsets.data()) {}

ShareView::ShareView(const Share& share)
    : row_count_(static_cast<Index>(share.rows.size())),
      rows_(share.rows.data()),
      offsets_(share.row_offsets.data()),
      entries_(share.entries.data()) {}

}  // namespace workbench
