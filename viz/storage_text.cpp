#include "viz/storage_text.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "core/text/words.hpp"
#include "viz/memory_order.hpp"

namespace workbench {
namespace {

/// One line of a track: its name, and a text for each place.
struct TrackLine {
    std::string name;
    std::vector<std::string> texts;
};

struct Track {
    std::vector<TrackLine> lines;
    std::vector<Begins> begins;  // [places]
};

std::string shown(const StorageCell& cell) { return cell.padding ? "." : cell.text; }

/// "7", or "-1 x 7" for seven of them.
std::string times(std::string text, Offset cells) {
    if (cells > 1) text += fmt::format(" x {}", cells);
    return text;
}

Track track_of(const StoragePart& part, const std::vector<int>& numbers, std::vector<Along>& seen) {
    const StorageArray* leader = &part.arrays[numbers.front()];
    if (leader->like >= 0) leader = &part.arrays[leader->like];
    Track track;
    std::vector<DrawnPlace> places;
    if (leader->role == ArrayRole::value) {
        MemoryOrder order = memory_order_of(*leader);
        places = std::move(order.places);
        const bool has_bars = order.along != Along::nothing && !places.empty();
        if (has_bars && std::find(seen.begin(), seen.end(), order.along) == seen.end()) seen.push_back(order.along);
        TrackLine rows{"  of row", {}};
        for (const DrawnPlace& place : places) {
            const StorageCell& cell = leader->cells[place.cell];
            rows.texts.push_back(cell.nonzero < 0 ? "" : std::to_string(cell.row));
        }
        if (!places.empty()) track.lines.push_back(std::move(rows));
    } else {
        places = plain_places_of(*leader);
    }
    for (const DrawnPlace& place : places) track.begins.push_back(place.begins);
    for (const int number : numbers) {
        const StorageArray& array = part.arrays[number];
        TrackLine line{array.name, {}};
        for (const DrawnPlace& place : places) line.texts.push_back(times(shown(array.cells[place.cell]), place.cells));
        track.lines.push_back(std::move(line));
    }
    return track;
}

std::string_view bar(Begins begins) { return begins == Begins::nothing ? "" : begins == Begins::line ? "| " : "|| "; }

void trim_end(std::string& text) { text.erase(text.find_last_not_of(' ') + 1); }

/// The lines of a track one below the other, place by place, broken where `width` ends.
std::string draw(const Track& track, std::size_t names, std::size_t width) {
    const std::size_t places = track.begins.size();
    std::string text;
    if (places == 0) {
        for (const TrackLine& line : track.lines) text += fmt::format("  {:<{}}  none\n", line.name, names);
        return text;
    }
    std::vector<std::size_t> widths(places, 0);
    for (const TrackLine& line : track.lines) {
        for (std::size_t i = 0; i < places; ++i) widths[i] = std::max(widths[i], line.texts[i].size());
    }
    for (std::size_t begin = 0; begin < places;) {
        std::size_t end = begin;
        std::size_t used = names + 4;
        while (end < places) {
            const std::size_t more = (end == begin ? 0 : bar(track.begins[end]).size()) + widths[end] + 1;
            if (end > begin && used + more > width + 1) break;
            used += more;
            ++end;
        }
        // A row, a column or a step that is not begun here begins the next line, if it fits there.
        if (end < places) {
            for (std::size_t cut = end; cut > begin + (end - begin) / 2; --cut) {
                if (track.begins[cut] == Begins::nothing) continue;
                end = cut;
                break;
            }
        }
        for (const TrackLine& line : track.lines) {
            std::string drawn = fmt::format("  {:<{}}  ", line.name, names);
            for (std::size_t i = begin; i < end; ++i) {
                if (i > begin) drawn += bar(track.begins[i]);
                drawn += fmt::format("{:>{}} ", line.texts[i], widths[i]);
            }
            trim_end(drawn);
            text += drawn + '\n';
        }
        begin = end;
    }
    return text;
}

/// One line per step, and one column for each lane that reads a nonzero in any of them.
std::string draw(const WarpReads& warp, const StoragePart& part) {
    std::vector<int> lanes;
    std::vector<int> padding_lanes;
    std::size_t widest = 2;
    for (int lane = 0; lane < 32; ++lane) {
        bool reads_nonzero = false;
        bool reads = false;
        for (std::int64_t step = 0; step < warp.listed_steps(); ++step) {
            const LaneRead& read = warp.at(step, lane);
            if (read.array < 0) continue;
            reads = true;
            if (read.padding) continue;
            reads_nonzero = true;
            widest = std::max(widest, part.arrays[read.array].cells[read.index].text.size());
        }
        if (reads_nonzero) {
            lanes.push_back(lane);
        } else if (reads) {
            padding_lanes.push_back(lane);
        }
    }
    std::string text = fmt::format("  {:<9}", fmt::format("warp {}", warp.warp));
    for (const int lane : lanes) text += fmt::format(" {:>{}}", fmt::format("l{}", lane), std::max<std::size_t>(widest, 3));
    text += '\n';
    for (std::int64_t step = 0; step < warp.listed_steps(); ++step) {
        std::string line = fmt::format("  {:<9}", fmt::format("step {}", step));
        for (const int lane : lanes) {
            const LaneRead& read = warp.at(step, lane);
            const std::string cell = read.array < 0 ? "" : read.padding ? "." : part.arrays[read.array].cells[read.index].text;
            line += fmt::format(" {:>{}}", cell, std::max<std::size_t>(widest, 3));
        }
        trim_end(line);
        text += line + '\n';
    }
    const std::size_t idle = 32 - lanes.size() - padding_lanes.size();
    std::string others;
    if (!padding_lanes.empty()) others = fmt::format(" {} only padding", padding_lanes.size());
    if (idle > 0) others += fmt::format("{} {} idle", others.empty() ? "" : ",", idle);
    if (!others.empty()) text += "  other lanes:" + others + '\n';
    if (warp.listed_steps() < warp.steps) {
        text += fmt::format("  {}\n", counted(warp.steps - warp.listed_steps(), "more step"));
    }
    return text;
}

std::string draw(const StoragePart& part, std::size_t width) {
    const Offset slots = part.nonzeros() + part.padding();
    std::string text =
        fmt::format("{}{}: {} in {}, {:.1f} % of padding; {}\n", part.share.empty() ? "" : "share " + part.share + " in ",
                    part.layout, counted(part.nonzeros() + part.mirrors, "nonzero"), counted(slots, "place"),
                    slots == 0 ? 0.0 : 100.0 * static_cast<double>(part.padding()) / static_cast<double>(slots),
                    counted(part.bytes(), "byte"));
    std::size_t names = 8;
    for (const StorageArray& array : part.arrays) names = std::max(names, array.name.size());
    std::vector<Along> seen;
    for (const std::vector<int>& numbers : tracks_of(part)) text += draw(track_of(part, numbers, seen), names, width);
    std::string bars;
    for (const Along along : seen) {
        bars += (bars.empty() ? "" : " or ") + std::string(bar_of(along));
        if (along == Along::lanes) bars += ", ||: other rows";
    }
    text += fmt::format("  a dot: padding{}{}\n", bars.empty() ? "" : "; |: ", bars);
    if (part.shown_warps.empty()) return text;
    text += fmt::format("\nwhich thread reads what in kernel {}: a line per step, a column per lane\n", part.kernel);
    for (const WarpReads& warp : part.shown_warps) text += draw(warp, part);
    const auto shown_count = static_cast<std::int64_t>(part.shown_warps.size());
    if (shown_count < part.warps) text += fmt::format("  {} of {}\n", shown_count, counted(part.warps, "warp"));
    return text;
}

}  // namespace

std::string draw_matrix(const StagedMatrix& staged) {
    const CsrMatrix& matrix = staged.matrix;
    std::size_t widest = std::to_string(std::max(matrix.rows, matrix.columns)).size();
    for (const double value : matrix.values) widest = std::max(widest, fmt::format("{:.4g}", value).size());
    std::string text = fmt::format("  {:>{}}  ", "", widest);
    for (Index column = 0; column < matrix.columns; ++column) text += fmt::format(" {:>{}}", column, widest);
    text += '\n';
    for (Index row = 0; row < matrix.rows; ++row) {
        std::vector<std::string> cells(matrix.columns, ".");
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            cells[matrix.column_indices[k]] = fmt::format("{:.4g}", matrix.values[k]);
        }
        text += fmt::format("  {:>{}} [", row, widest);
        for (const std::string& cell : cells) text += fmt::format(" {:>{}}", cell, widest);
        text += " ]";
        if (!staged.row_order.is_identity()) text += fmt::format("  was row {}", staged.row_order.old_of_new(row));
        text += '\n';
    }
    if (staged.column_order.is_identity()) return text;
    text += fmt::format("  {:>{}}  ", "", widest);
    for (Index column = 0; column < matrix.columns; ++column) {
        text += fmt::format(" {:>{}}", staged.column_order.old_of_new(column), widest);
    }
    return text + "    were the columns\n";
}

std::string draw_storage(const StorageMap& map, std::size_t width) {
    if (!map.by_cell) throw std::invalid_argument("a map that is not by cell has no letters for its cells");
    std::string text;
    for (const StoragePart& part : map.parts) text += (text.empty() ? "" : "\n") + draw(part, width);
    return text;
}

}  // namespace workbench
