#include "kernels/krylov/persistent_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench::krylov {
namespace {

// A row has an element of each vector, which take about the time and the memory of eight nonzeros.
constexpr Offset weight_of_row = 8;
constexpr Index most_columns = std::numeric_limits<std::uint16_t>::max() + 1;

/// Visits the entries of a row with the run that each belongs to: body(k, number of the run).
template <typename Body>
Index visit_runs(const CsrMatrix& matrix, Index row, Index run, const Body& body) {
    Index runs = 0;
    Index last = -1;  // column / run
    for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
        const Index group = matrix.column_indices[k] / run;
        if (run == 1 || group != last) ++runs;
        last = group;
        body(k, runs - 1);
    }
    return runs;
}

Index count_runs(const CsrMatrix& matrix, Index row, Index run) {
    return visit_runs(matrix, row, run, [](Offset, Index) {});
}

template <ValueType Value, ValueType Stored>
class Builder {
public:
    Builder(const CsrMatrix& matrix, const PersistentPlan& plan) : matrix_(matrix), plan_(plan), boundaries_(plan.boundaries) {
        made_.rows = matrix.rows;
        made_.remote = matrix.columns - matrix.rows;
        made_.run = plan.run;
        made_.parts.resize(boundaries_.size() - 1);
    }

    PersistentMatrix<Value, Stored> build() {
        find_halos();
        place_rows();
        place_targets();
        place_entries();
        fill();
        return std::move(made_);
    }

private:
    template <typename Body>
    void for_each_part(const Body& body) {
        for_each_in_parallel(std::ssize(made_.parts), 1,
                             [&](std::int64_t number) { body(made_.parts[number], static_cast<std::size_t>(number)); });
    }

    [[nodiscard]] bool is_own(std::size_t number, Index column) const {
        return column >= boundaries_[number] && column < boundaries_[number + 1];
    }

    /// The columns of other parts that the rows of a part have, with the others of their runs.
    void find_halos() {
        halos_.resize(made_.parts.size());
        for_each_part([&](Part& part, std::size_t number) {
            const Index begin = boundaries_[number];
            const Index end = boundaries_[number + 1];
            part.rows = (end - begin + rows_per_slice - 1) / rows_per_slice * rows_per_slice;
            std::vector<Index>& halo = halos_[number];
            for (Offset k = matrix_.row_offsets[begin]; k < matrix_.row_offsets[end]; ++k) {
                const Index column = matrix_.column_indices[k];
                if (is_own(number, column)) continue;
                for (Index i = 0; i < plan_.run; ++i) halo.push_back(column / plan_.run * plan_.run + i);
            }
            std::sort(halo.begin(), halo.end());
            halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
            part.halo = static_cast<Index>(halo.size());
            if (part.rows + part.halo > most_columns) {
                throw Unsuitable("part " + std::to_string(number) + " has " + counted(end - begin, "row") + " and reads " +
                                 counted(part.halo, "element") + " of other parts; at most " + std::to_string(most_columns) +
                                 " together have numbers of 16 bits");
            }
        });
        Index row = 0;
        Index halo = 0;
        for (Part& part : made_.parts) {
            part.first_row = row;
            part.first_slice = row / rows_per_slice;
            part.first_halo = halo;
            row += part.rows;
            halo += part.halo;
        }
        made_.row_at.assign(row, -1);
        made_.slices.resize(row / rows_per_slice);
        made_.halo.resize(halo);
    }

    /// Rows that other ranks read come first, then those that other parts read, so that they are written side by side, and long
    /// rows before short ones, so that slices need little padding. Rows of a run stay together.
    void place_rows() {
        constexpr char for_parts = 1;
        constexpr char for_ranks = 2;
        std::vector<char> read(matrix_.rows, 0);
        for (const std::vector<Index>& halo : halos_) {
            for (const Index row : halo) {
                if (row < matrix_.rows) read[row] = for_parts;
            }
        }
        for (const SentElement& element : plan_.sent) read[element.row] = for_ranks;
        const Index run = plan_.run;
        place_of_.resize(matrix_.columns);
        for_each_part([&](Part& part, std::size_t number) {
            struct Group {
                Index row;
                char read;
                Index length;
            };
            std::vector<Group> groups;
            for (Index row = boundaries_[number]; row < boundaries_[number + 1]; row += run) {
                Group group{row, 0, 0};
                for (Index i = row; i < row + run; ++i) {
                    group.read = std::max(group.read, read[i]);
                    group.length = std::max(group.length, count_runs(matrix_, i, run));
                }
                groups.push_back(group);
            }
            std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
                return a.read != b.read ? a.read > b.read : a.length > b.length;
            });
            Index place = part.first_row;
            for (const Group& group : groups) {
                for (Index row = group.row; row < group.row + run; ++row, ++place) {
                    made_.row_at[place] = row;
                    place_of_[row] = place;
                }
                if (group.read == for_ranks) part.sent += run;
                if (group.read != 0) part.exported += run;
            }
        });
        for (Index i = matrix_.rows; i < matrix_.columns; ++i) place_of_[i] = made_.places() + i - matrix_.rows;
        for_each_part([&](const Part& part, std::size_t number) {
            const auto first = made_.halo.begin() + part.first_halo;
            std::transform(halos_[number].begin(), halos_[number].end(), first, [&](Index row) { return place_of_[row]; });
            std::sort(first, first + part.halo);
        });
    }

    void place_targets() {
        std::vector<SentElement> sent(plan_.sent.begin(), plan_.sent.end());
        std::stable_sort(sent.begin(), sent.end(),
                         [&](const SentElement& a, const SentElement& b) { return place_of_[a.row] < place_of_[b.row]; });
        auto next = sent.begin();
        for (Part& part : made_.parts) {
            part.first_sent = static_cast<Index>(made_.first_targets.size());
            for (Index place = part.first_row; place < part.first_row + part.sent; ++place) {
                made_.first_targets.push_back(static_cast<Index>(made_.targets.size()));
                for (; next != sent.end() && place_of_[next->row] == place; ++next) {
                    made_.targets.push_back({next->rank, next->remote});
                }
            }
            made_.first_targets.push_back(static_cast<Index>(made_.targets.size()));
        }
    }

    [[nodiscard]] Index runs_of(const Part& part, Index slice) const {
        Index runs = 0;
        const Index first = part.first_row + slice * rows_per_slice;
        for (Index place = first; place < first + rows_per_slice; ++place) {
            const Index row = made_.row_at[place];
            if (row >= 0) runs = std::max(runs, count_runs(matrix_, row, plan_.run));
        }
        return runs;
    }

    [[nodiscard]] Index entries_of(const Slice& slice) const { return rows_per_slice * slice.runs * plan_.run; }

    [[nodiscard]] SharedPlaces shared_places_of(const Part& part) const {
        return shared_places(part, sizeof(Value), sizeof(Stored), plan_.run);
    }

    /// Decides what stays in shared memory: vectors, then as many slices as fit, spread evenly over the slices of each warp,
    /// so that warps read from both memories at a time.
    void place_entries() {
        const bool cg = plan_.method == KrylovMethod::cg;
        const Index vectors_of_solve = plan_.preconditioned ? 3 : 2;
        for_each_part([&](Part& part, std::size_t number) {
            Slice* slices = made_.slices.data() + part.first_slice;
            Offset entries = 0;
            for (Index s = 0; s < part.slices(); ++s) {
                slices[s].runs = runs_of(part, s);
                entries += Offset{rows_per_slice} * slices[s].runs * plan_.run;
            }
            part.halo_has_r = cg;
            part.in_registers = cg ? std::min(part.rows, plan_.shape.rows_in_registers()) : 0;
            const std::size_t least = shared_places_of(part).end;
            if (least > plan_.shared_bytes || entries > std::numeric_limits<Index>::max()) {
                throw Unsuitable("part " + std::to_string(number) + ", one of a multiprocessor, has " +
                                 counted(boundaries_[number + 1] - boundaries_[number], "row") + " and reads " +
                                 counted(part.halo, "element") + " of other parts, which need " + std::to_string(least) +
                                 " bytes of shared memory; " + std::to_string(plan_.shared_bytes) + " are available");
            }
            part.entries = static_cast<Index>(entries);
            for (Index vectors = 1; vectors <= vectors_of_solve; ++vectors) {
                Part with = part;
                with.vectors = vectors;
                if (shared_places_of(with).end <= plan_.shared_bytes) part.vectors = vectors;
            }
            keep_slices(part, slices);
        });
        Offset entry = 0;
        for (Part& part : made_.parts) {
            part.first_entry = entry;
            entry += part.entries;
            made_.shared_bytes = std::max(made_.shared_bytes, shared_places_of(part).end);
        }
        make_room(made_.values, static_cast<std::size_t>(entry));
        make_room(made_.columns, static_cast<std::size_t>(entry / plan_.run));
    }

    [[nodiscard]] const Slice& slice_of(const Part& part, Index slice) const { return made_.slices[part.first_slice + slice]; }

    void keep_slices(Part& part, Slice* slices) const {
        constexpr std::size_t alignments = 32;  // of two arrays
        const std::size_t used = shared_places_of(part).end + alignments;
        const std::size_t left = used < plan_.shared_bytes ? plan_.shared_bytes - used : 0;
        const std::size_t run_bytes = plan_.run * sizeof(Stored) + sizeof(std::uint16_t);
        const auto fit = static_cast<double>(left / run_bytes * plan_.run);
        const double fraction = part.entries == 0 ? 1 : std::min(1.0, fit / static_cast<double>(part.entries));
        std::vector<char> stays(part.slices(), 0);
        Offset seen = 0;
        for (Index warp = 0; warp < plan_.shape.warps; ++warp) {
            for (Index s = warp; s < part.slices(); s += plan_.shape.warps) {
                const Index own = entries_of(slices[s]);
                seen += own;
                stays[s] = static_cast<double>(part.resident + own) <= fraction * static_cast<double>(seen) ? 1 : 0;
                if (stays[s] != 0) part.resident += own;
            }
        }
        Index resident = 0;
        Index streamed = part.resident;
        for (Index s = 0; s < part.slices(); ++s) {
            Index& next = stays[s] != 0 ? resident : streamed;
            slices[s].first = next;
            next += entries_of(slices[s]);
        }
    }

    void fill() {
        const Index run = plan_.run;
        for_each_part([&](const Part& part, std::size_t number) {
            const auto halo = made_.halo.begin() + part.first_halo;
            for (Index place = part.first_row; place < part.first_row + part.rows; ++place) {
                const Index local = place - part.first_row;
                const Slice& slice = slice_of(part, local / rows_per_slice);
                const Offset first = part.first_entry + slice.first + local % rows_per_slice;
                const Offset first_run = (part.first_entry + slice.first) / run + local % rows_per_slice;
                for (Offset j = 0; j < Offset{slice.runs} * run; ++j) made_.values[first + rows_per_slice * j] = 0;
                // Padding multiplies elements of the part by 0.
                for (Offset j = 0; j < slice.runs; ++j) made_.columns[first_run + rows_per_slice * j] = 0;
                const Index row = made_.row_at[place];
                if (row < 0) continue;
                (void)visit_runs(matrix_, row, run, [&](Offset k, Index number_of_run) {
                    const Index column = matrix_.column_indices[k];
                    const Index target = place_of_[column / run * run];
                    const Index found =
                        is_own(number, column)
                            ? target - part.first_row
                            : part.rows + static_cast<Index>(std::lower_bound(halo, halo + part.halo, target) - halo);
                    made_.columns[first_run + Offset{rows_per_slice} * number_of_run] = static_cast<std::uint16_t>(found);
                    made_.values[first + Offset{rows_per_slice} * (number_of_run * run + column % run)] +=
                        static_cast<Stored>(matrix_.values[k]);
                });
            }
        });
    }

    const CsrMatrix& matrix_;
    const PersistentPlan& plan_;
    std::span<const Index> boundaries_;
    PersistentMatrix<Value, Stored> made_;
    std::vector<std::vector<Index>> halos_;  // of each part: columns of the matrix
    std::vector<Index> place_of_;            // [columns]
};

}  // namespace

template <ValueType Value, ValueType Stored>
Offset PersistentMatrix<Value, Stored>::resident() const {
    Offset entries = 0;
    for (const Part& part : parts) entries += part.resident;
    return entries;
}

std::vector<Index> divide_rows(std::span<const Offset> row_offsets, Index parts, std::span<const Index> cuts, Index run) {
    const auto is_multiple = [&](Index boundary) { return boundary % run == 0; };
    if (std::ssize(cuts) == parts + 1 && std::all_of(cuts.begin(), cuts.end(), is_multiple)) return {cuts.begin(), cuts.end()};
    const auto rows = static_cast<Index>(row_offsets.size()) - 1;
    const auto weight = [&](Index row) { return static_cast<double>(row_offsets[row] + weight_of_row * row); };
    const double share = weight(rows) / parts;
    const double near = share / 4;
    std::vector<Index> boundaries{0};
    Index row = 0;
    for (Index part = 1; part < parts; ++part) {
        const double target = share * part;
        while (row < rows && weight(row) < target) row += run;
        Index chosen = row;
        double distance = near;
        const auto behind = std::lower_bound(cuts.begin(), cuts.end(), row);
        for (auto cut = behind == cuts.begin() ? behind : behind - 1; cut < cuts.end() && cut <= behind; ++cut) {
            const double off = weight(*cut) > target ? weight(*cut) - target : target - weight(*cut);
            if (off >= distance) continue;
            chosen = (*cut + run - 1) / run * run;
            distance = off;
        }
        boundaries.push_back(std::max(boundaries.back(), chosen));
    }
    boundaries.push_back(rows);
    return boundaries;
}

Index best_run(const CsrMatrix& matrix, std::size_t bytes_of_value) {
    Index best = 1;
    double least = static_cast<double>(bytes_of_value + sizeof(std::uint16_t)) * static_cast<double>(matrix.nonzeros());
    for (Index run = 2; run <= longest_run; ++run) {
        if (matrix.rows % run != 0 || matrix.columns % run != 0) continue;
        std::atomic<std::int64_t> runs = 0;
        for_each_in_parallel(matrix.rows, 4096, [&](std::int64_t row) {
            runs.fetch_add(count_runs(matrix, static_cast<Index>(row), run), std::memory_order_relaxed);
        });
        const double bytes =
            static_cast<double>(run * bytes_of_value + sizeof(std::uint16_t)) * static_cast<double>(runs.load());
        if (bytes >= least) continue;
        best = run;
        least = bytes;
    }
    return best;
}

template <ValueType Value, ValueType Stored>
PersistentMatrix<Value, Stored> make_persistent_matrix(const CsrMatrix& matrix, const PersistentPlan& plan) {
    return Builder<Value, Stored>(matrix, plan).build();
}

template struct PersistentMatrix<float>;
template struct PersistentMatrix<double>;
template struct PersistentMatrix<double, float>;
template PersistentMatrix<float> make_persistent_matrix(const CsrMatrix&, const PersistentPlan&);
template PersistentMatrix<double> make_persistent_matrix(const CsrMatrix&, const PersistentPlan&);
template PersistentMatrix<double, float> make_persistent_matrix(const CsrMatrix&, const PersistentPlan&);

}  // namespace workbench::krylov
