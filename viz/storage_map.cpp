#include "viz/storage_map.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/system/host_memory.hpp"

namespace workbench {
namespace {

constexpr int warp_size = 32;
constexpr std::string_view rows_of_share = "share_rows";  // the name in reports

[[noreturn]] void fail(const std::string& complaint) { throw std::logic_error("storage map: " + complaint); }

/// Large unsigned numbers are usually masks, whose bits are easier to read in hexadecimal.
template <typename Element>
std::string element_text(const void* data, Offset index) {
    const Element element = static_cast<const Element*>(data)[index];
    if constexpr (std::is_floating_point_v<Element>) return fmt::format("{:.4g}", element);
    if constexpr (std::is_unsigned_v<Element>) {
        if (element > 0xffffff) return fmt::format("{:x}h", element);
    }
    return fmt::format("{}", element);
}

/// Codes are shown as the values that they represent.
std::string text_of(const LayoutField& field, Offset index) {
    if (field.role == ArrayRole::value) return fmt::format("{:.4g}", value_at(field, index));
    const void* const data = field.data;
    switch (field.type) {
        case ElementType::i8: return element_text<std::int8_t>(data, index);
        case ElementType::u8: return element_text<std::uint8_t>(data, index);
        case ElementType::i16: return element_text<std::int16_t>(data, index);
        case ElementType::u16: return element_text<std::uint16_t>(data, index);
        case ElementType::i32: return element_text<std::int32_t>(data, index);
        case ElementType::u32: return element_text<std::uint32_t>(data, index);
        case ElementType::i64: return element_text<std::int64_t>(data, index);
        case ElementType::u64: return element_text<std::uint64_t>(data, index);
        case ElementType::f32: return element_text<float>(data, index);
        case ElementType::f64: return element_text<double>(data, index);
    }
    fail("an element of unknown type");
}

void widen(auto& first, auto& last, auto value) {
    if (first < 0 || value < first) first = value;
    if (value > last) last = value;
}

void widen(StorageBin& bin, Offset nonzero, Index row, Index column) {
    widen(bin.first_row, bin.last_row, row);
    widen(bin.first_column, bin.last_column, column);
    widen(bin.first_nonzero, bin.last_nonzero, nonzero);
}

template <typename Element, typename Number>
auto sum_of(const std::vector<Element>& elements, Number number) {
    std::remove_cvref_t<std::invoke_result_t<Number, const Element&>> sum{};
    for (const Element& element : elements) sum += std::invoke(number, element);
    return sum;
}

/// Maps one layout.
template <ValueType Value>
class PartMapper {
public:
    PartMapper(const CsrMatrix& matrix, const MappedLayout<Value>& mapped, bool by_cell)
        : matrix_(matrix),
          mapped_(mapped),
          layout_(*mapped.layout),
          by_cell_(by_cell),
          same_nonzeros_(mapped.rows.empty() && layout_.nonzeros() == matrix.nonzeros()) {
        if (!mapped.rows.empty() && static_cast<Index>(mapped.rows.size()) != layout_.rows()) {
            fail("a layout has other rows than its share");
        }
        part_.share = mapped.share;
        part_.layout = mapped.name;
        if (mapped.schedule != nullptr) part_.kernel = mapped.schedule->kernel;
        for (const LayoutField& field : layout_.fields()) {
            number_of_field_.push_back(field.is_array() ? static_cast<int>(part_.arrays.size()) : -1);
            if (field.is_array()) add_array(field);
        }
    }

    StoragePart map() {
        require_walk_memory();
        if (mapped_.schedule != nullptr) collect_reads(mapped_.schedule->walk.template get<Value>());
        layout_.for_each_slot([this](Slot slot) {
            slot.array = number_of(slot.array);
            if (slot.column_array >= 0) slot.column_array = number_of(slot.column_array);
            take(slot);
        });
        finish();
        return std::move(part_);
    }

private:
    /// A column array during the walk over the slots.
    struct Columns {
        static constexpr int unseen = -1;
        static constexpr int apart = -2;
        std::vector<bool> filled;  // [elements] belongs to a nonzero
        int values = unseen;       // the array whose columns these are, element by element; apart: there is none
    };
    /// A listed read of an element that the walk over the slots has not reached yet.
    struct PendingRead {
        Offset index = 0;
        LaneRead* read = nullptr;
    };
    struct PendingReads {
        std::size_t next = 0;
        std::vector<PendingRead> reads = {};  // by ascending index
    };

    void add_array(const LayoutField& field) {
        StorageArray array{.name = field.name,
                           .role = field.role,
                           .type = field.type,
                           .length = static_cast<Offset>(field.slots()),
                           .values_of_code = static_cast<Offset>(field.dictionary ? field.dictionary->values_of_code : 1),
                           .words = field.length,
                           .constant = field.constant};
        if (by_cell_) {
            array.cells.resize(field.slots());
            for (Offset i = 0; i < array.length; ++i) {
                array.cells[i].text = text_of(field, i);
                array.cells[i].padding = field.role != ArrayRole::structure;
            }
        } else if (field.role != ArrayRole::structure) {
            const Offset bins = (array.length + most_bins - 1) / most_bins;
            array.width = (std::max<Offset>(bins, 1) + warp_size - 1) / warp_size * warp_size;
            array.bins.resize((array.length + array.width - 1) / array.width);
        }
        columns_.emplace_back();
        if (field.role == ArrayRole::column) columns_.back().filled.resize(field.count, false);
        part_.arrays.push_back(std::move(array));
    }

    /// Walks in the order of stored rows remember the owner of each slot.
    void require_walk_memory() const {
        std::size_t most = 0;
        for (const StorageArray& array : part_.arrays) {
            if (array.role == ArrayRole::value) most = std::max(most, static_cast<std::size_t>(array.length));
        }
        if (!by_cell_) require_host_memory(most * 2 * sizeof(Offset), "the map of what layout '" + part_.layout + "' stores");
    }

    [[nodiscard]] Index row_of_matrix(Index row) const {
        if (row < 0 || mapped_.rows.empty()) return row;
        if (row >= static_cast<Index>(mapped_.rows.size())) fail("a row that the share does not have");
        return mapped_.rows[row];
    }

    [[nodiscard]] Offset nonzero_of_matrix(Offset nonzero, Index row, Index column) const {
        if (nonzero < 0 || same_nonzeros_) return nonzero;
        if (row < 0 || row >= matrix_.rows) fail("a nonzero in a row that does not exist");
        const auto columns = matrix_.row_columns(row);
        const auto found = std::lower_bound(columns.begin(), columns.end(), column);
        if (found == columns.end() || *found != column) fail("a nonzero that the matrix does not have");
        return matrix_.row_offsets[row] + (found - columns.begin());
    }

    /// The number, among the arrays of the part, of the array with a number in Layout::fields().
    [[nodiscard]] int number_of(int field) const {
        if (field < 0 || static_cast<std::size_t>(field) >= number_of_field_.size()) fail("an array that is not listed");
        return number_of_field_[field];
    }

    [[nodiscard]] StorageArray& array_of(int number, ArrayRole role, Offset index) {
        if (number < 0 || static_cast<std::size_t>(number) >= part_.arrays.size()) fail("an array that is not listed");
        StorageArray& array = part_.arrays[number];
        if (array.role != role || index < 0 || index >= array.length) {
            fail("element " + std::to_string(index) + " of '" + array.name + "', which it does not have");
        }
        return array;
    }

    void take(const Slot& slot) {
        StorageArray& values = array_of(slot.array, ArrayRole::value, slot.index);
        const Index row = row_of_matrix(slot.row);
        const Offset nonzero = nonzero_of_matrix(slot.nonzero, row, slot.column);
        if (std::exchange(walked_, std::pair(slot.array, slot.index)) == std::pair(slot.array, slot.index)) {
            ++part_.mirrors;
            if (by_cell_) values.cells[slot.index].mirror = nonzero;
            return;
        }
        note(values, slot.index, nonzero, row, slot.column);
        if (slot.column_array >= 0) {
            take_column(slot, nonzero, row);
            values.columns = slot.column_array;
            if (by_cell_) values.cells[slot.index].column_place = slot.column_index;
        }
        if (pending_.empty()) return;
        auto& [next, reads] = pending_[slot.array];
        for (; next < reads.size() && reads[next].index <= slot.index; ++next) {
            if (reads[next].index == slot.index) reads[next].read->padding = slot.nonzero < 0;
        }
    }

    void take_column(const Slot& slot, Offset nonzero, Index row) {
        StorageArray& array = array_of(slot.column_array, ArrayRole::column, slot.column_index);
        Columns& columns = columns_[slot.column_array];
        if (columns.values == Columns::unseen) columns.values = slot.array;
        if (columns.values != slot.array || slot.column_index != slot.index) columns.values = Columns::apart;
        if (columns.filled[slot.column_index]) {
            if (!by_cell_ && nonzero >= 0) widen(array.bins[slot.column_index / array.width], nonzero, row, slot.column);
            return;
        }
        columns.filled[slot.column_index] = nonzero >= 0;
        note(array, slot.column_index, nonzero, row, slot.column);
    }

    /// Records the contents of an element. The padding of a bin is counted down from 0 here and completed in finish.
    void note(StorageArray& array, Offset index, Offset nonzero, Index row, Index column) const {
        array.nonzeros += nonzero >= 0 ? 1 : 0;
        if (by_cell_) {
            StorageCell& cell = array.cells[index];
            cell.padding = nonzero < 0;
            cell.nonzero = nonzero;
            cell.row = row;
            cell.column = column;
        } else if (nonzero >= 0) {
            StorageBin& bin = array.bins[index / array.width];
            --bin.padding;
            widen(bin, nonzero, row, column);
        }
    }

    void collect_reads(WalkReads<Value> walk) {
        const std::vector<std::int64_t> steps = count_reads(walk);
        std::vector<std::int64_t> reading;
        for (std::int64_t warp = 0; warp < static_cast<std::int64_t>(steps.size()); ++warp) {
            if (steps[warp] > 0) reading.push_back(warp);
            part_.lane_steps += warp_size * steps[warp];
        }
        part_.warps = static_cast<std::int64_t>(reading.size());
        if (reading.empty()) return;
        const std::size_t shown = std::min(most_shown_warps, reading.size());
        std::vector<int> place(steps.size(), -1);
        for (std::size_t i = 0; i < shown; ++i) {
            const std::int64_t warp = reading[shown == 1 ? 0 : i * (reading.size() - 1) / (shown - 1)];
            place[warp] = static_cast<int>(i);
            part_.shown_warps.push_back({warp, steps[warp], {}});
            part_.shown_warps.back().reads.resize(std::min(steps[warp], most_shown_steps) * warp_size);
        }
        list_reads(walk, place);
    }

    /// Returns the number of steps of each warp; 0 if it reads nothing.
    std::vector<std::int64_t> count_reads(WalkReads<Value> walk) {
        std::vector<std::int64_t> steps;
        walk(layout_, [&](const Read& read) {
            if (read.warp < 0 || read.lane < 0 || read.lane >= warp_size || read.step < 0)
                fail("a read without warp, lane or step");
            if (read.warp >= static_cast<std::int64_t>(steps.size())) steps.resize(read.warp + 1, 0);
            steps[read.warp] = std::max(steps[read.warp], read.step + 1);
            ++part_.reads;
            if (!by_cell_) return;
            StorageCell& cell = array_of(number_of(read.array), ArrayRole::value, read.index).cells[read.index];
            cell.warp = read.warp;
            cell.lane = read.lane;
            cell.step = read.step;
        });
        return steps;
    }

    /// `place`: the place of each warp in the list of shown warps; -1: not shown.
    void list_reads(WalkReads<Value> walk, const std::vector<int>& place) {
        pending_.resize(part_.arrays.size());
        walk(layout_, [&](const Read& read) {
            if (place[read.warp] < 0 || read.step >= most_shown_steps) return;
            const int array = number_of(read.array);
            (void)array_of(array, ArrayRole::value, read.index);
            LaneRead& shown = part_.shown_warps[place[read.warp]].reads[read.step * warp_size + read.lane];
            shown = {
                .array = array, .index = read.index, .row = row_of_matrix(read.row), .column = read.column, .padding = true};
            pending_[array].reads.push_back({read.index, &shown});
        });
        for (PendingReads& pending : pending_) {
            std::sort(pending.reads.begin(), pending.reads.end(),
                      [](const PendingRead& a, const PendingRead& b) { return a.index < b.index; });
        }
    }

    void finish() {
        for (std::size_t number = 0; number < part_.arrays.size(); ++number) {
            StorageArray& array = part_.arrays[number];
            if (array.role == ArrayRole::structure) continue;
            array.padding = array.length - array.nonzeros;
            for (std::size_t i = 0; i < array.bins.size(); ++i) {
                array.bins[i].padding += std::min(array.width, array.length - static_cast<Offset>(i) * array.width);
            }
            const int like = columns_[number].values;
            if (like < 0) continue;
            const StorageArray& values = part_.arrays[like];
            if (values.length != array.length) continue;
            array.like = like;
            array.bins.clear();
            array.width = 0;
            for (std::size_t i = 0; i < array.cells.size(); ++i) {
                array.cells[i].warp = values.cells[i].warp;
                array.cells[i].lane = values.cells[i].lane;
                array.cells[i].step = values.cells[i].step;
            }
        }
        if (mapped_.rows.empty()) return;
        StorageArray rows{.name = std::string(rows_of_share),
                          .type = ElementType::i32,
                          .length = static_cast<Offset>(mapped_.rows.size()),
                          .words = "rows of the share"};
        if (by_cell_) {
            for (const Index row : mapped_.rows) rows.cells.push_back({.text = std::to_string(row)});
        }
        part_.arrays.push_back(std::move(rows));
    }

    const CsrMatrix& matrix_;
    const MappedLayout<Value>& mapped_;
    const Layout<Value>& layout_;
    bool by_cell_;
    std::vector<int> number_of_field_;  // [fields] among the arrays; -1: a number
    bool same_nonzeros_;                // the layout numbers the nonzeros like the matrix
    StoragePart part_;
    std::pair<int, Offset> walked_{-1, -1};  // the last slot
    std::vector<Columns> columns_;           // [arrays]
    std::vector<PendingReads> pending_;      // [arrays]; empty: no reads are listed
};

}  // namespace

ReadSectors sectors_of(const WarpReads& warp, std::int64_t step, int value_bytes) {
    std::set<std::pair<int, std::int64_t>> values;
    std::set<std::int64_t> x;
    for (int lane = 0; lane < warp_size; ++lane) {
        const LaneRead& read = warp.at(step, lane);
        if (read.array < 0) continue;
        values.insert({read.array, read.index * value_bytes / sector_bytes});
        if (read.column >= 0) x.insert(std::int64_t{read.column} * value_bytes / sector_bytes);
    }
    return {values.size(), x.size()};
}

Offset StoragePart::nonzeros() const {
    return sum_of(arrays, [](const StorageArray& array) { return array.role == ArrayRole::value ? array.nonzeros : 0; });
}

Offset StoragePart::padding() const {
    return sum_of(arrays, [](const StorageArray& array) { return array.role == ArrayRole::value ? array.padding : 0; });
}

std::size_t StoragePart::bytes() const { return sum_of(arrays, &StorageArray::bytes); }

std::size_t StorageMap::bytes() const { return sum_of(parts, &StoragePart::bytes); }

Offset StorageMap::padding() const { return sum_of(parts, &StoragePart::padding); }

Offset StorageMap::places() const { return padding() + sum_of(parts, &StoragePart::nonzeros); }

bool StorageMap::has_reads() const {
    return std::any_of(parts.begin(), parts.end(), [](const StoragePart& part) { return !part.shown_warps.empty(); });
}

double StorageMap::padding_share() const {
    const Offset all = places();
    return all == 0 ? 0 : static_cast<double>(padding()) / static_cast<double>(all);
}

template <ValueType Value>
StorageMap map_storage(const CsrMatrix& matrix, std::span<const MappedLayout<Value>> layouts, Offset cells) {
    StorageMap map{.precision = precision_of<Value>,
                   .rows = matrix.rows,
                   .columns = matrix.columns,
                   .nonzeros = matrix.nonzeros(),
                   .parts = {}};
    Offset elements = 0;
    for (const MappedLayout<Value>& mapped : layouts) {
        for (const LayoutField& field : mapped.layout->fields()) {
            if (field.is_array()) elements += static_cast<Offset>(field.slots());
        }
        elements += static_cast<Offset>(mapped.rows.size());
    }
    map.by_cell = elements <= cells;
    for (const MappedLayout<Value>& mapped : layouts) {
        map.parts.push_back(PartMapper<Value>(matrix, mapped, map.by_cell).map());
    }
    return map;
}

template StorageMap map_storage(const CsrMatrix&, std::span<const MappedLayout<float>>, Offset);
template StorageMap map_storage(const CsrMatrix&, std::span<const MappedLayout<double>>, Offset);

}  // namespace workbench
