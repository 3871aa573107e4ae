#include "kernels/krylov/persistent_matrix.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/device/host_loops.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench::krylov {
namespace {

// A row has an element of each vector, which take about the time and the memory of eight nonzeros.
constexpr Offset weight_of_row = 8;
constexpr Index most_columns = std::numeric_limits<std::uint16_t>::max() + 1;

template <ValueType Value, ValueType Stored>
class Builder {
public:
    Builder(const CsrMatrix& matrix, std::span<const Index> boundaries, std::size_t shared_bytes, Index vectors)
        : matrix_(matrix), boundaries_(boundaries), shared_bytes_(shared_bytes), vectors_(vectors) {
        made_.rows = matrix.rows;
        made_.parts.resize(boundaries.size() - 1);
    }

    PersistentMatrix<Value, Stored> build() {
        find_halos();
        place_rows();
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

    /// The columns of other parts that the rows of a part have.
    void find_halos() {
        halos_.resize(made_.parts.size());
        for_each_part([&](Part& part, std::size_t number) {
            const Index begin = boundaries_[number];
            const Index end = boundaries_[number + 1];
            part.rows = (end - begin + rows_per_slice - 1) / rows_per_slice * rows_per_slice;
            std::vector<Index>& halo = halos_[number];
            for (Offset k = matrix_.row_offsets[begin]; k < matrix_.row_offsets[end]; ++k) {
                if (!is_own(number, matrix_.column_indices[k])) halo.push_back(matrix_.column_indices[k]);
            }
            std::sort(halo.begin(), halo.end());
            halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
            part.halo = static_cast<Index>(halo.size());
            if (part.rows + part.halo > most_columns) {
                throw Unsuitable("part " + std::to_string(number) + " has " + std::to_string(end - begin) + " rows and reads " +
                                 std::to_string(part.halo) + " elements of other parts; at most " +
                                 std::to_string(most_columns) + " together have numbers of 16 bits");
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

    /// Rows that other parts read come first, so that they are written side by side, and long rows before short ones, so that
    /// slices need little padding.
    void place_rows() {
        std::vector<char> exported(matrix_.rows, 0);
        for (const std::vector<Index>& halo : halos_) {
            for (const Index row : halo) exported[row] = 1;
        }
        place_of_.resize(matrix_.rows);
        for_each_part([&](Part& part, std::size_t number) {
            const auto first = made_.row_at.begin() + part.first_row;
            const auto last = first + (boundaries_[number + 1] - boundaries_[number]);
            for (auto at = first; at < last; ++at) *at = boundaries_[number] + static_cast<Index>(at - first);
            std::stable_sort(first, last, [&](Index a, Index b) {
                if (exported[a] != exported[b]) return exported[a] > exported[b];
                return matrix_.row_length(a) > matrix_.row_length(b);
            });
            part.exported = static_cast<Index>(std::count_if(first, last, [&](Index row) { return exported[row] != 0; }));
            for (auto at = first; at < last; ++at) place_of_[*at] = static_cast<Index>(at - made_.row_at.begin());
        });
        for_each_part([&](const Part& part, std::size_t number) {
            const auto first = made_.halo.begin() + part.first_halo;
            std::transform(halos_[number].begin(), halos_[number].end(), first, [&](Index row) { return place_of_[row]; });
            std::sort(first, first + part.halo);
        });
    }

    [[nodiscard]] Index width_of(const Part& part, Index slice) const {
        Offset width = 0;
        const Index first = part.first_row + slice * rows_per_slice;
        for (Index place = first; place < first + rows_per_slice; ++place) {
            const Index row = made_.row_at[place];
            if (row >= 0) width = std::max(width, matrix_.row_length(row));
        }
        return static_cast<Index>(width);
    }

    /// Decides what stays in shared memory: vectors, then as many slices as fit, spread evenly over the slices of each warp,
    /// so that warps read from both memories at a time.
    void place_entries() {
        for_each_part([&](Part& part, std::size_t number) {
            Slice* slices = made_.slices.data() + part.first_slice;
            Offset entries = 0;
            for (Index s = 0; s < part.slices(); ++s) {
                slices[s].width = width_of(part, s);
                entries += Offset{rows_per_slice} * slices[s].width;
            }
            const std::size_t least = shared_places<Value, Stored>(part).end;
            if (least > shared_bytes_ || entries > std::numeric_limits<Index>::max()) {
                throw Unsuitable("part " + std::to_string(number) + ", one of a multiprocessor, has " +
                                 std::to_string(boundaries_[number + 1] - boundaries_[number]) + " rows and reads " +
                                 std::to_string(part.halo) + " elements of other parts, which need " + std::to_string(least) +
                                 " bytes of shared memory; " + std::to_string(shared_bytes_) + " are available");
            }
            for (Index vectors = 1; vectors <= vectors_; ++vectors) {
                Part with = part;
                with.vectors = vectors;
                if (shared_places<Value, Stored>(with).end <= shared_bytes_) part.vectors = vectors;
            }
            keep_slices(part, slices, entries);
        });
        Offset entry = 0;
        for (Part& part : made_.parts) {
            part.first_entry = entry;
            for (Index s = 0; s < part.slices(); ++s) entry += Offset{rows_per_slice} * slice_of(part, s).width;
            made_.shared_bytes = std::max(made_.shared_bytes, shared_places<Value, Stored>(part).end);
        }
        make_room(made_.values, static_cast<std::size_t>(entry));
        make_room(made_.columns, static_cast<std::size_t>(entry));
    }

    [[nodiscard]] const Slice& slice_of(const Part& part, Index slice) const { return made_.slices[part.first_slice + slice]; }

    void keep_slices(Part& part, Slice* slices, Offset entries) const {
        constexpr std::size_t alignments = 32;  // of two arrays
        const std::size_t used = shared_places<Value, Stored>(part).end + alignments;
        const std::size_t left = used < shared_bytes_ ? shared_bytes_ - used : 0;
        const auto fit = static_cast<double>(left / (sizeof(Stored) + sizeof(std::uint16_t)));
        const double fraction = entries == 0 ? 1 : std::min(1.0, fit / static_cast<double>(entries));
        std::vector<char> stays(part.slices(), 0);
        Offset seen = 0;
        for (Index warp = 0; warp < warps_of_part; ++warp) {
            for (Index s = warp; s < part.slices(); s += warps_of_part) {
                const Index own = rows_per_slice * slices[s].width;
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
            next += rows_per_slice * slices[s].width;
        }
    }

    void fill() {
        for_each_part([&](const Part& part, std::size_t number) {
            const auto halo = made_.halo.begin() + part.first_halo;
            for (Index place = part.first_row; place < part.first_row + part.rows; ++place) {
                const Index local = place - part.first_row;
                const Slice& slice = slice_of(part, local / rows_per_slice);
                Offset at = part.first_entry + slice.first + local % rows_per_slice;
                const Index row = made_.row_at[place];
                const Offset begin = row < 0 ? 0 : matrix_.row_offsets[row];
                const Offset end = row < 0 ? 0 : matrix_.row_offsets[row + 1];
                for (Offset j = 0; j < slice.width; ++j, at += rows_per_slice) {
                    const Offset k = begin + j;
                    if (k >= end) {
                        made_.values[at] = 0;
                        made_.columns[at] = static_cast<std::uint16_t>(local);
                        continue;
                    }
                    const Index column = matrix_.column_indices[k];
                    const Index target = place_of_[column];
                    const Index found =
                        is_own(number, column)
                            ? target - part.first_row
                            : part.rows + static_cast<Index>(std::lower_bound(halo, halo + part.halo, target) - halo);
                    made_.values[at] = static_cast<Stored>(matrix_.values[k]);
                    made_.columns[at] = static_cast<std::uint16_t>(found);
                }
            }
        });
    }

    const CsrMatrix& matrix_;
    std::span<const Index> boundaries_;
    std::size_t shared_bytes_;
    Index vectors_;
    PersistentMatrix<Value, Stored> made_;
    std::vector<std::vector<Index>> halos_;  // of each part: rows of the matrix
    std::vector<Index> place_of_;            // [rows]
};

}  // namespace

template <ValueType Value, ValueType Stored>
Offset PersistentMatrix<Value, Stored>::resident() const {
    Offset entries = 0;
    for (const Part& part : parts) entries += part.resident;
    return entries;
}

std::vector<Index> divide_rows(std::span<const Offset> row_offsets, Index parts, std::span<const Index> cuts) {
    if (std::ssize(cuts) == parts + 1) return {cuts.begin(), cuts.end()};
    const auto rows = static_cast<Index>(row_offsets.size()) - 1;
    const auto weight = [&](Index row) { return static_cast<double>(row_offsets[row] + weight_of_row * row); };
    const double share = weight(rows) / parts;
    const double near = share / 4;
    std::vector<Index> boundaries{0};
    Index row = 0;
    for (Index part = 1; part < parts; ++part) {
        const double target = share * part;
        while (row < rows && weight(row) < target) ++row;
        Index chosen = row;
        double distance = near;
        const auto behind = std::lower_bound(cuts.begin(), cuts.end(), row);
        for (auto cut = behind == cuts.begin() ? behind : behind - 1; cut < cuts.end() && cut <= behind; ++cut) {
            const double off = weight(*cut) > target ? weight(*cut) - target : target - weight(*cut);
            if (off >= distance) continue;
            chosen = *cut;
            distance = off;
        }
        boundaries.push_back(std::max(boundaries.back(), chosen));
    }
    boundaries.push_back(rows);
    return boundaries;
}

template <ValueType Value, ValueType Stored>
PersistentMatrix<Value, Stored> make_persistent_matrix(const CsrMatrix& matrix, std::span<const Index> boundaries,
                                                       std::size_t shared_bytes, Index vectors) {
    return Builder<Value, Stored>(matrix, boundaries, shared_bytes, vectors).build();
}

template struct PersistentMatrix<float>;
template struct PersistentMatrix<double>;
template struct PersistentMatrix<double, float>;
template PersistentMatrix<float> make_persistent_matrix(const CsrMatrix&, std::span<const Index>, std::size_t, Index);
template PersistentMatrix<double> make_persistent_matrix(const CsrMatrix&, std::span<const Index>, std::size_t, Index);
template PersistentMatrix<double, float> make_persistent_matrix(const CsrMatrix&, std::span<const Index>, std::size_t, Index);

}  // namespace workbench::krylov
