#include "kernels/common/schedule/walk.hpp"

#include "core/matrix/trial_process.hpp"

namespace workbench {
namespace {

/// The run that a slot belongs to, and what it reads.
struct Owner {
    Offset stored = -1;
    Offset k = 0;
    Index row = -1;
    Index column = -1;
};

std::vector<Owner> owners_of_slots(const WalkedSchedule& schedule) {
    std::vector<Owner> owners(static_cast<std::size_t>(schedule.slots));
    std::vector<Slot> slots;
    for_each_run(schedule, [&](Offset stored, const WalkedRun& run) {
        slots.resize(static_cast<std::size_t>(run.count));
        schedule.read(schedule.arrays, stored, slots);
        for (Offset k = 0; k < run.count; ++k) {
            const Slot& slot = slots[k];
            Owner& owner = owners[slot.index];
            if (owner.stored >= 0) throw std::logic_error("slot " + std::to_string(slot.index) + " belongs to two rows");
            owner = {stored, k, slot.row, slot.column};
        }
    });
    return owners;
}

/// The last block of the CUDA kernel has threads behind the last one of the schedule, which must have no row. In a trial, a run
/// that reads behind the end of an array ends the process.
void require_idle_threads_of_block(const WalkedSchedule& schedule) {
    const Offset end = (schedule.threads + row_threads - 1) / row_threads * row_threads;
    for (Offset thread = schedule.threads; thread < end; ++thread) {
        if (schedule.run(schedule.arrays, thread).row < 0) continue;
        throw std::logic_error("thread " + std::to_string(thread) + " has a row, but there are " +
                               std::to_string(schedule.threads) +
                               " threads; expected a run without a row, because a block of " + "the CUDA kernel has " +
                               std::to_string(row_threads));
    }
}

}  // namespace

void require_run_inside(const WalkedRun& run, Offset size) {
    bool inside = true;
    if (run.offsets != nullptr) {
        for (Offset k = 0; k < run.count; ++k) inside = inside && run.slot(k) >= 0 && run.slot(k) < size;
    } else {
        // A division, because count * stride may exceed 64 bits if offsets are corrupted.
        inside = run.first >= 0 && run.first < size && run.stride > 0 && (run.count - 1) <= (size - 1 - run.first) / run.stride;
    }
    if (!inside) throw std::logic_error("a row's slots lie outside their array of " + std::to_string(size));
}

void fail_without_column(Offset slot) {
    throw std::logic_error("slot " + std::to_string(slot) + " reads a column that does not exist");
}

void for_each_run(const WalkedSchedule& schedule, const std::function<void(Offset, const WalkedRun&)>& visit) {
    for (Offset thread = 0; thread < schedule.threads; ++thread) {
        const WalkedRun run = schedule.run(schedule.arrays, thread);
        if (run.count <= 0) continue;
        require_run_inside(run, schedule.slots);
        visit(thread, run);
    }
}

void for_each_read(const WalkedSchedule& schedule, int values, const std::function<void(const Read&)>& visit,
                   std::int64_t first_warp) {
    if (in_trial_process()) require_idle_threads_of_block(schedule);
    std::vector<Slot> slots;
    for_each_run(schedule, [&](Offset thread, const WalkedRun& run) {
        if (run.row < 0) return;
        slots.assign(static_cast<std::size_t>(run.count), {.array = values});
        schedule.read(schedule.arrays, thread, slots);
        for (std::size_t k = 0; k < slots.size(); ++k) {
            if (schedule.no_column == NoColumn::skipped && slots[k].column < 0) continue;
            visit(read_of(slots[k], first_warp * 32 + thread, static_cast<std::int64_t>(k)));
        }
    });
}

void for_each_stored_slot(const WalkedSchedule& schedule, const WalkedArrays& where, const NonzeroOf& nonzero,
                          const std::function<void(const Slot&)>& visit) {
    if (schedule.columns >= 0 && schedule.columns != schedule.slots) {
        throw std::logic_error("there are not as many columns as values");
    }
    const bool marks_padding = schedule.no_column == NoColumn::slot_read || schedule.no_column == NoColumn::column_read;
    const std::vector<Owner> owners = owners_of_slots(schedule);
    for (Offset index = 0; index < schedule.slots; ++index) {
        const Owner& owner = owners[index];
        if (owner.stored < 0) throw std::logic_error("slot " + std::to_string(index) + " belongs to no row");
        Slot slot{.array = where.values,
                  .column_array = where.columns,
                  .index = index,
                  .column_index = where.columns < 0 ? 0 : index,
                  .column = owner.column,
                  .row = owner.row};
        slot.nonzero = nonzero(slot, owner.stored, owner.k);
        if (slot.column < 0) slot.row = -1;
        if (marks_padding && slot.nonzero < 0 && slot.column >= 0) {
            throw std::logic_error("slot " + std::to_string(index) + " is padding, but has a column");
        }
        visit(slot);
    }
}

NonzeroOf nonzeros_of(const Origin& origin) {
    return [&origin](const Slot&, Offset stored, Offset k) { return origin.nonzero(stored, k); };
}

NonzeroOf nonzeros_of(PatternWalk& walk) {
    return [&walk](const Slot& slot, Offset, Offset) { return walk.nonzero_at(slot.row, slot.column); };
}

NonzeroOf nonzeros_of(std::span<const Offset> row_offsets, std::size_t values) {
    if (!tiles(row_offsets, values)) throw std::logic_error("the row offsets do not tile the arrays");
    return [row_offsets](const Slot&, Offset row, Offset k) { return row_offsets[row] + k; };
}

}  // namespace workbench
