#include "viz/memory_order.hpp"

#include <set>

namespace workbench {
namespace {

constexpr Offset longest_shown_padding = 3;
constexpr Offset longest_shown_run = 7;

/// True if the nonzeros with equal numbers are contiguous except for padding, and at least one number occurs several times.
template <typename Number>
bool are_contiguous(const std::vector<StorageCell>& cells, Number StorageCell::*number) {
    std::set<Number> seen;
    bool several = false;
    Number before = -1;
    for (const StorageCell& cell : cells) {
        if (cell.padding) continue;
        if (cell.*number < 0) return false;
        several = several || cell.*number == before;
        if (cell.*number != before && !seen.insert(cell.*number).second) return false;
        before = cell.*number;
    }
    return several;
}

Along find_direction(const StorageArray& array) {
    const std::vector<StorageCell>& cells = array.cells;
    if (array.columns >= 0 && are_contiguous(cells, &StorageCell::column_place)) return Along::blocks;
    if (are_contiguous(cells, &StorageCell::row)) return Along::rows;
    if (array.columns < 0 && are_contiguous(cells, &StorageCell::column)) return Along::columns;
    for (std::size_t i = 1; i < cells.size(); ++i) {
        const StorageCell& before = cells[i - 1];
        if (before.warp >= 0 && before.warp == cells[i].warp && before.step == cells[i].step) return Along::lanes;
    }
    return Along::nothing;
}

/// The number of places of each step if there is one warp and its steps read equal numbers of consecutive places; otherwise 0.
Offset places_of_step(const std::vector<StorageCell>& cells) {
    std::set<std::int64_t> steps;
    std::set<std::int64_t> warps;
    for (const StorageCell& cell : cells) {
        if (cell.warp < 0) continue;
        steps.insert(cell.step);
        warps.insert(cell.warp);
    }
    const auto count = static_cast<Offset>(steps.size());
    if (warps.size() != 1 || static_cast<Offset>(cells.size()) % count != 0) return 0;
    const Offset places = static_cast<Offset>(cells.size()) / count;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i].step >= 0 && cells[i].step != static_cast<Offset>(i) / places) return 0;
    }
    return places;
}

/// The number that adjacent cells of a line share; -1: unknown.
std::int64_t number_of(const StorageCell& cell, Along along) {
    switch (along) {
        case Along::nothing: return -1;
        case Along::blocks: return cell.column_place;
        case Along::rows: return cell.row;
        case Along::columns: return cell.column;
        case Along::lanes: return cell.warp;
    }
    return -1;
}

/// The unread padding at the beginning of this cell's line, which belongs to the lanes before the first that reads.
std::size_t padding_of_line(const std::vector<StorageCell>& cells, std::size_t cell, int first_lane) {
    std::size_t places = 0;
    const int lanes = cells[cell].lane - first_lane;
    while (static_cast<int>(places) < lanes && places < cell && cells[cell - places - 1].warp < 0) ++places;
    return places;
}

/// Cells of unknown number continue the line before.
std::vector<Begins> beginnings_of(const std::vector<StorageCell>& cells, Along along) {
    std::vector<Begins> begins(cells.size(), Begins::nothing);
    if (const Offset places = along == Along::lanes ? places_of_step(cells) : 0; places > 0) {
        for (std::size_t i = places; i < cells.size(); i += places) begins[i] = Begins::line;
        return begins;
    }
    const StorageCell* before = nullptr;
    int first_lane = 0;  // of the group
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const StorageCell& cell = cells[i];
        const auto number = number_of(cell, along);
        if (number < 0) continue;
        if (before != nullptr && along != Along::lanes) {
            begins[i] = number == number_of(*before, along) ? Begins::nothing : Begins::line;
        } else if (before != nullptr) {
            if (cell.warp != before->warp || cell.step < before->step) {
                begins[i] = Begins::group;
            } else if (cell.step > before->step) {
                begins[i - padding_of_line(cells, i, first_lane)] = Begins::line;
            }
        }
        if (before == nullptr || begins[i] == Begins::group) first_lane = cell.lane;
        before = &cell;
    }
    return begins;
}

}  // namespace

std::string_view bar_of(Along along) {
    switch (along) {
        case Along::nothing: return "";
        case Along::blocks: return "the next block";
        case Along::rows: return "the next row";
        case Along::columns: return "the next column";
        case Along::lanes: return "the next step";
    }
    return "";
}

MemoryOrder memory_order_of(const StorageArray& array) {
    MemoryOrder order;
    order.along = find_direction(array);
    const std::vector<Begins> begins = beginnings_of(array.cells, order.along);
    for (Offset i = 0; i < array.length;) {
        Offset end = i;
        while (end < array.length && array.cells[end].padding) ++end;
        const Offset cells = end - i > longest_shown_padding ? end - i : 1;
        order.places.push_back({i, cells, begins[i]});
        i += cells;
    }
    return order;
}

std::vector<DrawnPlace> plain_places_of(const StorageArray& array) {
    std::vector<DrawnPlace> places;
    for (Offset i = 0; i < array.length;) {
        Offset end = i + 1;
        while (end < array.length && array.cells[end].text == array.cells[i].text) ++end;
        const Offset cells = end - i > longest_shown_run ? end - i : 1;
        places.push_back({i, cells, Begins::nothing});
        i += cells;
    }
    return places;
}

std::vector<std::vector<int>> tracks_of(const StoragePart& part) {
    std::vector<std::vector<int>> tracks;
    std::vector<int> track_of_array(part.arrays.size(), -1);
    for (int number = 0; number < static_cast<int>(part.arrays.size()); ++number) {
        const int like = part.arrays[number].like;
        const int leader = like >= 0 ? like : number;
        if (track_of_array[leader] < 0) {
            track_of_array[leader] = static_cast<int>(tracks.size());
            tracks.emplace_back();
        }
        tracks[track_of_array[leader]].push_back(number);
    }
    return tracks;
}

std::pair<std::vector<StorageBin>, Offset> joined_bins(const StorageArray& array, std::size_t most) {
    const std::size_t count = std::max<std::size_t>(1, (array.bins.size() + most - 1) / most);
    std::vector<StorageBin> bins;
    for (std::size_t i = 0; i < array.bins.size(); ++i) {
        const StorageBin& bin = array.bins[i];
        if (i % count == 0) {
            bins.push_back(bin);
            continue;
        }
        StorageBin& whole = bins.back();
        whole.padding += bin.padding;
        if (bin.first_column < 0) continue;
        whole.last_column = std::max(whole.last_column, bin.last_column);
        whole.first_column = whole.first_column < 0 ? bin.first_column : std::min(whole.first_column, bin.first_column);
    }
    return {std::move(bins), array.width * static_cast<Offset>(count)};
}

}  // namespace workbench
