#include "support/layouts/second_preparer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "core/matrix/length_hash.hpp"
#include "core/matrix/random.hpp"
#include "stages/length_hash.hpp"

namespace workbench {
namespace {

/// Places rows as a GPU does: rows propose to their slots in any order, and a slot keeps the earliest row.
std::vector<Index> matched(std::span<const Index> lengths, Index sample) {
    const auto rows = static_cast<Index>(lengths.size());
    const LengthHash hash = fit_length_hash(lengths, sample);
    std::map<int, Index> ranks;
    std::vector<Index> homes(rows);
    std::vector<Index> positions(rows);
    for (Index row = 0; row < rows; ++row) {
        const int own = std::min(length_class(lengths[row]), static_cast<int>(hash.starts.size()));
        homes[row] = own < static_cast<int>(hash.starts.size()) ? hash.starts[own] : rows - 1;
        positions[row] = ranks[own]++;
    }
    std::vector<Index> holders(rows, -1);
    std::vector<Index> waiting(rows);
    std::iota(waiting.begin(), waiting.end(), 0);
    for (std::uint64_t turn = 0; !waiting.empty(); ++turn) {
        std::swap(waiting[mixed(turn) % waiting.size()], waiting.back());
        const Index row = waiting.back();
        Index& holder = holders[slot_at(homes[row], positions[row]++, rows)];
        if (holder >= 0 && holder < row) continue;
        waiting.pop_back();
        if (holder >= 0) waiting.push_back(holder);
        holder = row;
    }
    return holders;
}

/// Breadth-first orders of the graph of a matrix, in which the neighbours of a vertex follow by degree.
class Levels {
public:
    explicit Levels(const CsrMatrix& matrix) : neighbours_(static_cast<std::size_t>(matrix.rows)) {
        for (Index row = 0; row < matrix.rows; ++row) {
            for (const Index column : matrix.row_columns(row)) {
                if (column == row) continue;
                neighbours_[row].insert(column);
                neighbours_[column].insert(row);
            }
        }
    }

    struct Search {
        std::vector<Index> order;
        std::map<Index, Index> level;  // of each vertex that was reached
    };

    [[nodiscard]] Search from(Index start) const {
        Search search{{start}, {{start, 0}}};
        for (std::size_t i = 0; i < search.order.size(); ++i) {
            std::set<std::pair<std::size_t, Index>> children;
            for (const Index other : neighbours_[search.order[i]]) {
                if (!search.level.contains(other)) children.emplace(neighbours_[other].size(), other);
            }
            for (const auto& [degree, child] : children) {
                search.level[child] = search.level[search.order[i]] + 1;
                search.order.push_back(child);
            }
        }
        return search;
    }

    /// The numbering of a component, from a pseudo-peripheral vertex.
    [[nodiscard]] std::vector<Index> component(Index vertex) const {
        Search best = from(vertex);
        for (;;) {
            const Index last = best.level.at(best.order.back());
            std::pair<std::size_t, Index> farthest{neighbours_.size(), 0};
            for (const auto& [other, level] : best.level) {
                if (level == last) farthest = std::min(farthest, {neighbours_[other].size(), other});
            }
            Search next = from(farthest.second);
            if (next.level.at(next.order.back()) <= last) return best.order;
            best = std::move(next);
        }
    }

private:
    std::vector<std::set<Index>> neighbours_;
};

bool belongs(const Division& division, const CsrMatrix& matrix, const ShareView& view, Index stored, Offset k) {
    const Offset entry = view.entry(stored, k);
    const Index row = view.row(stored);
    const Index column = matrix.column_indices[entry];
    switch (division.by) {
        case Division::By::partition: return division.piece_of[row] == division.piece_of[column];
        case Division::By::place: return k < division.most;
        case Division::By::length: return view.length(stored) > division.most;
        case Division::By::distance: return std::max(row, column) - std::min(row, column) <= division.most;
        case Division::By::mark: return division.marked[entry] != 0;
    }
    return false;
}

/// Writes the `bytes` lowest bytes of an item to element `place` of an array.
template <typename Item>
void put(std::span<std::byte> array, int bytes, Offset place, Item item) {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(array.data() + place * bytes, &item, bytes);
}

}  // namespace

bool SecondPreparer::takes(const std::string& task) {
    if (left_.contains(task)) return false;
    steps_.push_back({task, 2, 0.5});
    done_.insert(task);
    return true;
}

std::optional<LevelOrder> SecondPreparer::cuthill_mckee(const CsrMatrix& matrix, bool reversed) {
    if (!takes("cuthill_mckee")) return std::nullopt;
    const Levels levels(matrix);
    LevelOrder order;
    std::set<Index> numbered;
    for (Index vertex = 0; vertex < matrix.rows; ++vertex) {
        if (numbered.contains(vertex)) continue;
        ++order.components;
        for (const Index next : levels.component(vertex)) {
            numbered.insert(next);
            order.old_of_new.push_back(next);
        }
    }
    if (reversed) std::reverse(order.old_of_new.begin(), order.old_of_new.end());
    return order;
}

std::vector<PreparedStep> SecondPreparer::take_steps() { return std::exchange(steps_, {}); }

std::string SecondPreparer::tasks() const {
    std::string names;
    for (const PreparedStep& step : steps_) names += (names.empty() ? "" : " ") + step.what;
    return names;
}

std::optional<std::vector<Index>> SecondPreparer::sort(const SortTask& task) {
    if (!takes("sort")) return std::nullopt;
    std::vector<std::tuple<Index, Index, Index>> things;
    for (Index i = 0; i < static_cast<Index>(task.keys.size()); ++i) {
        things.emplace_back(task.groups.empty() ? 0 : task.groups[i], task.descending ? -task.keys[i] : task.keys[i], i);
    }
    std::sort(things.begin(), things.end());
    std::vector<Index> order;
    for (const auto& [group, key, thing] : things) order.push_back(thing);
    return order;
}

std::optional<std::vector<Index>> SecondPreparer::place_by_hash(const HashTask& task) {
    if (!takes("hash")) return std::nullopt;
    std::vector<Index> places;
    for (std::size_t table = 0; table + 1 < task.first.size(); ++table) {
        const std::vector<Index> of_table =
            matched(task.lengths.subspan(task.first[table], task.first[table + 1] - task.first[table]), task.sample);
        places.insert(places.end(), of_table.begin(), of_table.end());
    }
    return places;
}

std::optional<CsrMatrix> SecondPreparer::permute(const CsrMatrix& matrix, const Permutation& row_order,
                                                 const Permutation& column_order) {
    if (!takes("permute")) return std::nullopt;
    std::vector<Entry> entries;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            entries.push_back({row_order.new_of_old(row), column_order.new_of_old(matrix.column_indices[i]), matrix.values[i]});
        }
    }
    return csr_from_entries(matrix.rows, matrix.columns, entries);
}

std::optional<DividedEntries> SecondPreparer::divide(const CsrMatrix& matrix, const ShareView& view, const Division& division) {
    if (!takes("divide")) return std::nullopt;
    DividedEntries divided;
    for (Index stored = 0; stored < view.row_count(); ++stored) {
        const std::size_t before = divided.entries[0].size();
        for (Offset k = 0; k < view.length(stored); ++k) {
            divided.entries[belongs(division, matrix, view, stored, k) ? 0 : 1].push_back(view.entry(stored, k));
        }
        divided.lengths.push_back(static_cast<Index>(divided.entries[0].size() - before));
    }
    return divided;
}

std::optional<std::vector<Share>> SecondPreparer::split_into_tiles(const CsrMatrix& matrix, const Cuts* row_blocks,
                                                                   const Cuts& segments) {
    if (!takes("tiles")) return std::nullopt;
    std::map<std::pair<Index, Index>, Share> tiles;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Index block = row_blocks == nullptr ? 0 : row_blocks->piece_at(row);
            const Index segment = segments.piece_at(matrix.column_indices[i]);
            Share& share = tiles[{block, segment}];
            share.id = {row_blocks == nullptr ? ShareKind::segment : ShareKind::tile, block, segment};
            if (share.rows.empty() || share.rows.back() != row) {
                share.rows.push_back(row);
                share.row_offsets.push_back(share.row_offsets.back());
            }
            share.entries.push_back(i);
            ++share.row_offsets.back();
        }
    }
    std::vector<Share> shares;
    for (auto& [place, share] : tiles) shares.push_back(std::move(share));
    return shares;
}

std::optional<std::int64_t> SecondPreparer::fill_slices(const SliceTask& task) {
    if (!takes("slices")) return std::nullopt;
    std::int64_t strays = 0;
    for (std::size_t slice = 0; slice < task.places.size(); ++slice) {
        const SlicePlaces& places = task.places[slice];
        const Index first = task.column_bounds[places.group];
        for (Index lane = 0; lane < places.count; ++lane) {
            const Index stored = task.stored_rows.empty() ? places.begin + lane : task.stored_rows[places.begin + lane];
            if (stored < 0) continue;
            for (Offset k = 0; k < task.share.length(stored); ++k) {
                const Offset entry = task.share.entry(stored, k);
                const Offset slot = task.slice_offsets[slice] + k * task.slice_height + lane;
                const Index column = task.matrix.column_indices[entry];
                if (column < first || column >= task.column_bounds[places.group + 1]) ++strays;
                put(task.columns, task.column_bytes, slot, column - first);
                if (task.value_bytes == sizeof(float)) {
                    put(task.values, task.value_bytes, slot, static_cast<float>(task.matrix.values[entry]));
                } else {
                    put(task.values, task.value_bytes, slot, task.matrix.values[entry]);
                }
            }
        }
    }
    return strays;
}

}  // namespace workbench
