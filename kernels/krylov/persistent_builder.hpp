// Makes the matrix of persistent solves in the memory of a space: that of a GPU, or of the host in tests. Its passes over rows
// and nonzeros are objects with a constexpr operator, which a space calls once for each item, in any order; each call writes
// items of its own number or sets flags to one same value. Decisions on parts and slices are made on the host.
//
//   struct Space {
//       template <typename Item> using Array;                                        // has data() and size()
//       template <typename Item> using Kept;                                         // an array of the result
//       template <typename Item> Array<Item> make(std::size_t count);                // uninitialized
//       template <typename Item> Kept<Item> keep(std::size_t count);
//       template <typename Item> void fill(Array<Item>&, std::byte);                 // sets each byte; also for Kept
//       template <typename Item> Array<Item> upload(std::span<const Item>);
//       template <typename Item> std::vector<Item> download(const Array<Item>&);
//       template <typename Item> Item item(const Array<Item>&, std::size_t number);
//       void for_each(std::size_t count, const Pass&);                               // pass(i) for i < count
//       void sort_pairs(Array<std::uint64_t>& keys, Array<std::uint32_t>& values, int bits);  // stable, by the lowest bits
//       void sum_up(Array<Offset>&);                                                 // inclusive prefix sums
//       void wait();                                                                 // for all passes so far
//   };
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "kernels/krylov/persistent_matrix.hpp"
#include "kernels/primitives/search.hpp"

namespace workbench::krylov {

namespace passes {

/// Visits the entries of a row with the run that each belongs to: body(k, number of the run). Returns the number of runs.
template <typename Body>
constexpr Index visit_runs(const OrderedRows& matrix, Index row, Index run, const Body& body) {
    Index runs = 0;
    Index last = -1;  // column / run
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
        const Index group = matrix.columns[k] / run;
        if (run == 1 || group != last) ++runs;
        last = group;
        body(k, runs - 1);
    }
    return runs;
}

/// The boundaries of parts, and the first place of each. [parts + 1]
struct Division {
    Index parts = 0;
    const Index* boundaries = nullptr;
    const Index* first_places = nullptr;

    [[nodiscard]] constexpr Index part_of(Index row) const { return piece_at(boundaries, parts, row); }
    [[nodiscard]] constexpr bool owns(Index part, Index column) const {
        return column >= boundaries[part] && column < boundaries[part + 1];
    }
};

template <typename Count>
struct CountRuns {
    OrderedRows matrix;
    Index run = 1;
    Count* runs = nullptr;  // [rows]

    constexpr void operator()(std::size_t row) const {
        runs[row] = visit_runs(matrix, static_cast<Index>(row), run, [](Offset, Index) {});
    }
};

enum RowReaders : char { no_reader = 0, read_by_parts = 1, read_by_ranks = 2 };

/// Marks the rows that other parts read.
struct MarkRead {
    OrderedRows matrix;
    Division division;
    Index run = 1;
    RowReaders* readers = nullptr;  // [rows]

    constexpr void operator()(std::size_t number) const {
        const auto row = static_cast<Index>(number);
        const Index part = division.part_of(row);
        for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
            const Index column = matrix.columns[k];
            if (column >= matrix.rows || division.owns(part, column)) continue;
            for (Index i = 0; i < run; ++i) readers[column / run * run + i] = read_by_parts;
        }
    }
};

struct MarkSent {
    const Index* rows = nullptr;
    RowReaders* readers = nullptr;

    constexpr void operator()(std::size_t i) const { readers[rows[i]] = read_by_ranks; }
};

constexpr int bits_of_length = 32;
constexpr int bits_of_reader = 2;

/// A key for each group of `run` rows: by its part, then by its readers (ranks, parts, none), then by its length, the longest
/// first.
struct KeyOfGroup {
    Division division;
    Index run = 1;
    const Index* row_runs = nullptr;
    const RowReaders* readers = nullptr;
    std::uint64_t* keys = nullptr;
    std::uint32_t* groups = nullptr;

    constexpr void operator()(std::size_t group) const {
        const Index first = static_cast<Index>(group) * run;
        Index length = 0;
        int reader = no_reader;
        for (Index row = first; row < first + run; ++row) {
            if (row_runs[row] > length) length = row_runs[row];
            if (readers[row] > reader) reader = readers[row];
        }
        const auto part = static_cast<std::uint64_t>(division.part_of(first));
        keys[group] = (part << bits_of_reader | static_cast<std::uint64_t>(read_by_ranks - reader)) << bits_of_length |
                      (std::numeric_limits<std::uint32_t>::max() - static_cast<std::uint32_t>(length));
        groups[group] = static_cast<std::uint32_t>(group);
    }
};

/// Rows that other ranks read come first, then those that other parts read, so that they are written side by side, and long
/// rows before short ones, so that slices need little padding. Rows of a run stay together.
struct PlaceRows {
    Division division;
    Index run = 1;
    const std::uint64_t* keys = nullptr;
    const std::uint32_t* groups = nullptr;
    Index* row_at = nullptr;    // [places]
    Index* place_of = nullptr;  // [rows]
    Index* exported = nullptr;  // [parts] zero
    Index* sent = nullptr;      // [parts] zero

    [[nodiscard]] constexpr int reader_of(std::size_t position) const {
        return read_by_ranks - static_cast<int>(keys[position] >> bits_of_length & ((1U << bits_of_reader) - 1));
    }

    constexpr void operator()(std::size_t position) const {
        const Index row = static_cast<Index>(groups[position]) * run;
        const Index part = division.part_of(row);
        const Index first = static_cast<Index>(position) * run - division.boundaries[part];
        for (Index i = 0; i < run; ++i) {
            const Index place = division.first_places[part] + first + i;
            row_at[place] = row + i;
            place_of[row + i] = place;
        }
        const Index end = first + run;
        const bool is_last = division.boundaries[part] + end == division.boundaries[part + 1];
        const int reader = reader_of(position);
        const int next = is_last ? no_reader : reader_of(position + 1);
        if (reader != no_reader && next == no_reader) exported[part] = end;
        if (reader == read_by_ranks && next != read_by_ranks) sent[part] = end;
    }
};

/// The runs of a slice: those of its longest row.
struct ShapeSlice {
    const Index* row_at = nullptr;
    const Index* row_runs = nullptr;
    Slice* slices = nullptr;

    constexpr void operator()(std::size_t slice) const {
        Slice made;
        for (Index i = 0; i < rows_per_slice; ++i) {
            const Index row = row_at[static_cast<Index>(slice) * rows_per_slice + i];
            if (row >= 0 && row_runs[row] > made.runs) made.runs = row_runs[row];
        }
        slices[slice] = made;
    }
};

/// Where a column is: a row's place, or a remote element after all places.
struct Places {
    Index rows = 0;
    Index places = 0;
    Index width = 0;  // places and remote elements
    const Index* place_of = nullptr;

    [[nodiscard]] constexpr Index of(Index column) const { return column < rows ? place_of[column] : places + column - rows; }
};

/// Marks the places that each part reads from others.
struct MarkHalo {
    OrderedRows matrix;
    Division division;
    Places places;
    Index run = 1;
    char* halo = nullptr;  // [parts][width] zero

    constexpr void operator()(std::size_t number) const {
        const auto row = static_cast<Index>(number);
        const Index part = division.part_of(row);
        char* const own = halo + static_cast<std::size_t>(part) * places.width;
        for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
            const Index column = matrix.columns[k];
            if (division.owns(part, column)) continue;
            const Index place = places.of(column / run * run);
            for (Index i = 0; i < run; ++i) own[place + i] = 1;
        }
    }
};

constexpr Index halo_chunk = 256;  // places

/// The marks of chunks of places.
struct HaloChunks {
    Index width = 0;
    Index chunks = 0;  // of a part
    const char* halo = nullptr;
    Offset* counts = nullptr;  // [parts * chunks + 1] of the chunk before; the first stays 0
    Index* places = nullptr;   // null: only counts; otherwise counts are their prefix sums

    constexpr void operator()(std::size_t number) const {
        const auto part = number / static_cast<std::size_t>(chunks);
        const Index begin = static_cast<Index>(number % static_cast<std::size_t>(chunks)) * halo_chunk;
        const Index end = begin + halo_chunk < width ? begin + halo_chunk : width;
        const char* const own = halo + part * static_cast<std::size_t>(width);
        Offset next = places == nullptr ? 0 : counts[number];
        for (Index place = begin; place < end; ++place) {
            if (own[place] == 0) continue;
            if (places != nullptr) places[next] = place;
            ++next;
        }
        if (places == nullptr) counts[number + 1] = next;
    }
};

/// counts[part * chunks] for each part, and the end.
struct FirstOfParts {
    Index chunks = 0;
    const Offset* counts = nullptr;
    Offset* first = nullptr;  // [parts + 1]

    constexpr void operator()(std::size_t part) const { first[part] = counts[part * static_cast<std::size_t>(chunks)]; }
};

template <typename Stored>
struct FillRow {
    OrderedRows matrix;
    Division division;
    Places places;
    Index run = 1;
    const Part* parts = nullptr;
    const Slice* slices = nullptr;
    const Index* halo = nullptr;
    const Index* row_at = nullptr;
    Stored* values = nullptr;
    std::uint16_t* columns = nullptr;
    std::uint32_t* entries = nullptr;  // null: not kept

    constexpr void operator()(std::size_t number) const {
        const auto place = static_cast<Index>(number);
        const Slice slice = slices[place / rows_per_slice];
        const Index part_number = piece_at(division.first_places, division.parts, place);
        const Part& part = parts[part_number];
        const Index* const own_halo = halo + part.first_halo;
        const Index lane = place % rows_per_slice;
        const Offset first = part.first_entry + slice.first + lane;
        const Offset first_run = (part.first_entry + slice.first) / run + lane;
        for (Offset j = 0; j < Offset{slice.runs} * run; ++j) values[first + rows_per_slice * j] = 0;
        // Padding multiplies elements of the part by 0.
        for (Offset j = 0; j < slice.runs; ++j) columns[first_run + rows_per_slice * j] = 0;
        const Index row = row_at[place];
        if (row < 0) return;
        (void)visit_runs(matrix, row, run, [&](Offset k, Index number_of_run) {
            const Index column = matrix.columns[k];
            const Index target = places.of(column / run * run);
            const Index found = division.owns(part_number, column) ? target - part.first_row
                                                                   : part.rows + count_below(own_halo, part.halo, target);
            columns[first_run + Offset{rows_per_slice} * number_of_run] = static_cast<std::uint16_t>(found);
            const Offset slot = first + Offset{rows_per_slice} * (number_of_run * run + column % run);
            values[slot] += static_cast<Stored>(matrix.value(k));
            if (entries != nullptr) entries[slot] = static_cast<std::uint32_t>(matrix.entry(k));
        });
    }
};

/// Replaces rows of the order by those that were given.
struct NameGivenRows {
    const Index* old_of_new = nullptr;
    Index* row_at = nullptr;

    constexpr void operator()(std::size_t place) const {
        if (row_at[place] >= 0) row_at[place] = old_of_new[row_at[place]];
    }
};

}  // namespace passes

/// The run with which a square matrix takes the fewest bytes, if rows and columns that belong together are numbered
/// consecutively: 1, 2 or 3.
template <typename Space>
[[nodiscard]] Index best_run(Space& space, const OrderedRows& matrix, std::size_t bytes_of_stored) {
    const auto rows = static_cast<std::size_t>(matrix.rows);
    const auto bytes_of = [&](Index run, Offset runs) {
        return static_cast<double>(run * bytes_of_stored + sizeof(std::uint16_t)) * static_cast<double>(runs);
    };
    Index best = 1;
    double least = std::numeric_limits<double>::max();
    for (Index run = 1; run <= longest_run && rows > 0; ++run) {
        if (matrix.rows % run != 0 || matrix.column_count % run != 0) continue;
        auto runs = space.template make<Offset>(rows);
        space.for_each(rows, passes::CountRuns<Offset>{matrix, run, runs.data()});
        space.sum_up(runs);
        const double bytes = bytes_of(run, space.item(runs, rows - 1));
        if (bytes >= least) continue;
        best = run;
        least = bytes;
    }
    return best;
}

/// Builds one matrix. Value: the type of vectors.
template <typename Space, ValueType Value, ValueType Stored>
class PersistentBuilder {
    template <typename Item>
    using Array = typename Space::template Array<Item>;
    template <typename Item>
    using Kept = typename Space::template Kept<Item>;

public:
    using Matrix = PersistentMatrix<Stored, Space::template Kept>;

    PersistentBuilder(Space& space, const OrderedRows& matrix, const PersistentPlan& plan)
        : space_(space), matrix_(matrix), plan_(plan), rows_(static_cast<std::size_t>(matrix.rows)) {
        made_.rows = matrix.rows;
        made_.remote = matrix.column_count - matrix.rows;
        made_.run = plan.run;
        made_.parts = empty_parts(plan.boundaries);
        std::vector<Index> first_places;
        for (const Part& part : made_.parts) first_places.push_back(part.first_row);
        made_.places = made_.parts.back().first_row + made_.parts.back().rows;
        first_places.push_back(made_.places);
        // NOLINTBEGIN(*-prefer-member-initializer): after the parts
        boundaries_ = space.template upload<Index>(plan.boundaries);
        first_places_ = space.template upload<Index>(first_places);
        division_ = {static_cast<Index>(made_.parts.size()), boundaries_.data(), first_places_.data()};
        // NOLINTEND(*-prefer-member-initializer)
    }

    PersistentBuilder(const PersistentBuilder&) = delete;
    PersistentBuilder& operator=(const PersistentBuilder&) = delete;
    ~PersistentBuilder() { space_.wait(); }  // for passes that write what is kept, after an exception

    /// Throws Unsuitable (place_entries).
    [[nodiscard]] Matrix build() {
        place_rows();
        find_halos();
        place_targets();
        const Offset entries = place_entries(plan_, sizeof(Value), sizeof(Stored), made_.parts, made_.slices);
        for (const Part& part : made_.parts) {
            made_.shared_bytes =
                std::max(made_.shared_bytes, shared_places(part, sizeof(Value), sizeof(Stored), plan_.run).end);
        }
        fill(static_cast<std::size_t>(entries));
        return std::move(made_);
    }

private:
    [[nodiscard]] passes::Places places() const {
        return {matrix_.rows, made_.places, made_.places + made_.remote, place_of_.data()};
    }

    [[nodiscard]] Array<passes::RowReaders> find_readers() {
        auto readers = space_.template make<passes::RowReaders>(rows_);
        space_.fill(readers, std::byte{passes::no_reader});
        space_.for_each(rows_, passes::MarkRead{matrix_, division_, plan_.run, readers.data()});
        std::vector<Index> sent;
        for (const SentElement& element : plan_.sent) sent.push_back(element.row);
        const auto sent_rows = space_.template upload<Index>(sent);
        space_.for_each(sent.size(), passes::MarkSent{sent_rows.data(), readers.data()});
        return readers;
    }

    void place_rows() {
        auto row_runs = space_.template make<Index>(rows_);
        space_.for_each(rows_, passes::CountRuns<Index>{matrix_, plan_.run, row_runs.data()});
        const auto readers = find_readers();
        const std::size_t groups = rows_ / static_cast<std::size_t>(plan_.run);
        auto keys = space_.template make<std::uint64_t>(groups);
        auto sorted = space_.template make<std::uint32_t>(groups);
        space_.for_each(groups,
                        passes::KeyOfGroup{division_, plan_.run, row_runs.data(), readers.data(), keys.data(), sorted.data()});
        const auto bits_of_part = static_cast<int>(std::bit_width(made_.parts.size()));
        space_.sort_pairs(keys, sorted, passes::bits_of_length + passes::bits_of_reader + bits_of_part);
        made_.row_at = space_.template keep<Index>(static_cast<std::size_t>(made_.places));
        place_of_ = space_.template make<Index>(rows_);
        auto exported = space_.template make<Index>(made_.parts.size());
        auto sent = space_.template make<Index>(made_.parts.size());
        space_.fill(made_.row_at, std::byte{0xFF});
        space_.fill(exported, std::byte{0});
        space_.fill(sent, std::byte{0});
        space_.for_each(groups, passes::PlaceRows{division_, plan_.run, keys.data(), sorted.data(), made_.row_at.data(),
                                                  place_of_.data(), exported.data(), sent.data()});
        const auto slice_count = static_cast<std::size_t>(made_.places / rows_per_slice);
        auto slices = space_.template make<Slice>(slice_count);
        space_.for_each(slice_count, passes::ShapeSlice{made_.row_at.data(), row_runs.data(), slices.data()});
        made_.slices = space_.download(slices);
        const std::vector<Index> all_exported = space_.download(exported);
        const std::vector<Index> all_sent = space_.download(sent);
        for (std::size_t number = 0; number < made_.parts.size(); ++number) {
            made_.parts[number].exported = all_exported[number];
            made_.parts[number].sent = all_sent[number];
        }
    }

    void find_halos() {
        const Index width = made_.places + made_.remote;
        const std::size_t parts = made_.parts.size();
        auto marks = space_.template make<char>(parts * static_cast<std::size_t>(width));
        space_.fill(marks, std::byte{0});
        space_.for_each(rows_, passes::MarkHalo{matrix_, division_, places(), plan_.run, marks.data()});
        const Index chunks = (width + passes::halo_chunk - 1) / passes::halo_chunk;
        const std::size_t all_chunks = parts * static_cast<std::size_t>(chunks);
        auto counts = space_.template make<Offset>(all_chunks + 1);
        space_.fill(counts, std::byte{0});
        passes::HaloChunks of_chunks{width, chunks, marks.data(), counts.data(), nullptr};
        space_.for_each(all_chunks, of_chunks);
        space_.sum_up(counts);
        auto first = space_.template make<Offset>(parts + 1);
        space_.for_each(parts + 1, passes::FirstOfParts{chunks, counts.data(), first.data()});
        const std::vector<Offset> firsts = space_.download(first);
        made_.halo = space_.template keep<Index>(static_cast<std::size_t>(firsts.back()));
        of_chunks.places = made_.halo.data();
        space_.for_each(all_chunks, of_chunks);
        for (std::size_t number = 0; number < parts; ++number) {
            made_.parts[number].first_halo = static_cast<Index>(firsts[number]);
            made_.parts[number].halo = static_cast<Index>(firsts[number + 1] - firsts[number]);
        }
    }

    void place_targets() {
        const std::vector<Index> place_of = plan_.sent.empty() ? std::vector<Index>() : space_.download(place_of_);
        std::vector<SentElement> sent(plan_.sent.begin(), plan_.sent.end());
        std::stable_sort(sent.begin(), sent.end(),
                         [&](const SentElement& a, const SentElement& b) { return place_of[a.row] < place_of[b.row]; });
        auto next = sent.begin();
        for (Part& part : made_.parts) {
            part.first_sent = static_cast<Index>(made_.first_targets.size());
            for (Index place = part.first_row; place < part.first_row + part.sent; ++place) {
                made_.first_targets.push_back(static_cast<Index>(made_.targets.size()));
                for (; next != sent.end() && place_of[next->row] == place; ++next) {
                    made_.targets.push_back({next->rank, next->remote});
                }
            }
            made_.first_targets.push_back(static_cast<Index>(made_.targets.size()));
        }
    }

    void fill(std::size_t entries) {
        made_.values = space_.template keep<Stored>(entries);
        made_.columns = space_.template keep<std::uint16_t>(entries / static_cast<std::size_t>(plan_.run));
        if (plan_.keeps_entries) {
            made_.entries = space_.template keep<std::uint32_t>(entries);
            space_.fill(made_.entries, std::byte{0xFF});  // padding_entry
        }
        const auto parts = space_.template upload<Part>(made_.parts);
        const auto slices = space_.template upload<Slice>(made_.slices);
        const auto places_of_solve = static_cast<std::size_t>(made_.places);
        space_.for_each(places_of_solve,
                        passes::FillRow<Stored>{matrix_, division_, places(), plan_.run, parts.data(), slices.data(),
                                                made_.halo.data(), made_.row_at.data(), made_.values.data(),
                                                made_.columns.data(), plan_.keeps_entries ? made_.entries.data() : nullptr});
        if (matrix_.old_of_new == nullptr) return;
        space_.for_each(places_of_solve, passes::NameGivenRows{matrix_.old_of_new, made_.row_at.data()});
    }

    Space& space_;
    OrderedRows matrix_;
    const PersistentPlan& plan_;
    std::size_t rows_;
    Matrix made_;
    Array<Index> boundaries_;
    Array<Index> first_places_;
    Array<Index> place_of_;  // [rows]
    passes::Division division_;
};

}  // namespace workbench::krylov
