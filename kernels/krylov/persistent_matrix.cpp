#include "kernels/krylov/persistent_matrix.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"

namespace workbench::krylov {
namespace {

constexpr Index most_columns = std::numeric_limits<std::uint16_t>::max() + 1;

/// The decisions on one part.
class PartPlacer {
public:
    PartPlacer(const PersistentPlan& plan, std::size_t bytes_of_value, std::size_t bytes_of_stored, std::size_t number,
               Part& part, std::span<Slice> slices)
        : plan_(plan),
          bytes_of_value_(bytes_of_value),
          bytes_of_stored_(bytes_of_stored),
          number_(number),
          part_(part),
          slices_(slices) {}

    void place_vectors(bool halo_has_r) {
        const Index rows = plan_.boundaries[number_ + 1] - plan_.boundaries[number_];
        if (part_.rows + part_.halo > most_columns) {
            throw Unsuitable("part " + std::to_string(number_) + " has " + counted(rows, "row") + " and reads " +
                             counted(part_.halo, "element") + " of other parts; at most " + std::to_string(most_columns) +
                             " together have numbers of 16 bits");
        }
        part_.halo_has_r = halo_has_r;
        part_.in_registers = plan_.method == KrylovMethod::cg ? std::min(part_.rows, plan_.shape.rows_in_registers()) : 0;
        part_.vectors = 0;
        part_.keeps_halo = false;
        const std::size_t least = end_of(part_);
        if (least > plan_.shared_bytes) {
            throw Unsuitable("part " + std::to_string(number_) + ", one of a multiprocessor, has " + counted(rows, "row") +
                             " and reads " + counted(part_.halo, "element") + " of other parts, which need " +
                             std::to_string(least) + " bytes of shared memory; " + std::to_string(plan_.shared_bytes) +
                             " are available");
        }
        Part with_list = part_;
        with_list.keeps_halo = true;
        part_.keeps_halo = end_of(with_list) <= plan_.shared_bytes;
        const Index vectors_of_solve = plan_.preconditioned ? 3 : 2;
        for (Index vectors = 1; vectors <= vectors_of_solve; ++vectors) {
            Part with = part_;
            with.vectors = vectors;
            if (end_of(with) <= plan_.shared_bytes) part_.vectors = vectors;
        }
    }

    /// After the vectors.
    void place_slices() {
        Offset entries = 0;
        for (const Slice& slice : slices_) entries += entries_of(slice);
        if (entries > std::numeric_limits<Index>::max()) {
            throw Unsuitable("part " + std::to_string(number_) + " stores " + std::to_string(entries) +
                             " entries with padding; a part has at most 2^31 - 1");
        }
        part_.entries = static_cast<Index>(entries);
        keep_slices();
    }

private:
    [[nodiscard]] std::size_t end_of(const Part& part) const {
        return shared_places(part, bytes_of_value_, bytes_of_stored_, plan_.run).end;
    }

    [[nodiscard]] Offset entries_of(const Slice& slice) const { return Offset{rows_per_slice} * slice.runs * plan_.run; }

    void keep_slices() {
        constexpr std::size_t alignments = 32;  // of two arrays
        const std::size_t used = end_of(part_) + alignments;
        const std::size_t left = used < plan_.shared_bytes ? plan_.shared_bytes - used : 0;
        const std::size_t run_bytes = plan_.run * bytes_of_stored_ + sizeof(std::uint16_t);
        const auto fit = static_cast<double>(left / run_bytes * plan_.run);
        const double fraction = part_.entries == 0 ? 1 : std::min(1.0, fit / static_cast<double>(part_.entries));
        std::vector<char> stays(slices_.size(), 0);
        Offset seen = 0;
        for (Index warp = 0; warp < plan_.shape.warps; ++warp) {
            for (Index s = warp; s < part_.slices(); s += plan_.shape.warps) {
                const auto own = static_cast<Index>(entries_of(slices_[s]));
                seen += own;
                stays[s] = static_cast<double>(part_.resident + own) <= fraction * static_cast<double>(seen) ? 1 : 0;
                if (stays[s] != 0) part_.resident += own;
            }
        }
        Index resident = 0;
        Index streamed = part_.resident;
        for (Index s = 0; s < part_.slices(); ++s) {
            Index& next = stays[s] != 0 ? resident : streamed;
            slices_[s].first = next;
            next += static_cast<Index>(entries_of(slices_[s]));
        }
    }

    const PersistentPlan& plan_;
    std::size_t bytes_of_value_;
    std::size_t bytes_of_stored_;
    std::size_t number_;
    Part& part_;
    std::span<Slice> slices_;
};

}  // namespace

std::vector<Part> empty_parts(std::span<const Index> boundaries) {
    std::vector<Part> parts(boundaries.size() - 1);
    Index row = 0;
    for (std::size_t number = 0; number < parts.size(); ++number) {
        Part& part = parts[number];
        part.rows = (boundaries[number + 1] - boundaries[number] + rows_per_slice - 1) / rows_per_slice * rows_per_slice;
        part.first_row = row;
        part.first_slice = row / rows_per_slice;
        row += part.rows;
    }
    return parts;
}

Offset place_entries(const PersistentPlan& plan, std::size_t bytes_of_value, std::size_t bytes_of_stored, std::span<Part> parts,
                     std::span<Slice> slices) {
    const auto placer = [&](std::size_t number) {
        Part& part = parts[number];
        return PartPlacer(plan, bytes_of_value, bytes_of_stored, number, part, slices.subspan(part.first_slice, part.slices()));
    };
    // All parts do the same, because an element is given to all parts that read it in one way.
    const auto place_vectors = [&](bool halo_has_r) {
        for (std::size_t number = 0; number < parts.size(); ++number) placer(number).place_vectors(halo_has_r);
    };
    const bool can_have_r = plan.method == KrylovMethod::cg && plan.halo != HaloOfParts::without_r;
    place_vectors(can_have_r);
    const bool have_room = std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.vectors > 0; });
    if (can_have_r && plan.halo == HaloOfParts::by_room && !have_room) place_vectors(false);
    Offset entry = 0;
    for (std::size_t number = 0; number < parts.size(); ++number) {
        placer(number).place_slices();
        parts[number].first_entry = entry;
        entry += parts[number].entries;
    }
    return entry;
}

}  // namespace workbench::krylov
