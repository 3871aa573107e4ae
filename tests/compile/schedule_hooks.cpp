// A schedule with every hook, and a choice of schedules. schedule_hooks_test.sh compiles it as it is, and with errors.
#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/run.hpp"

namespace workbench {
namespace {

template <typename Element>
struct View {
    const Element* elements = nullptr;

    [[nodiscard]] constexpr const Element* data() const { return elements; }
};

struct Arrays {
    Index row_count = 0;
    View<double> values;
    View<Index> column_indices;
};

struct Rows final : ScheduleBase<Hooks{.lanes = 2,
                                       .lane_distance = 16,
                                       .entries_in_flight = 8,
                                       .resident_blocks = 4,
                                       .counts_alike = true,
                                       .atomic = true,
                                       .no_column = NoColumn::slot_read,
                                       .side_by_side = AdjacentRuns::any,
                                       .own_values = true,
                                       .own_columns = true,
                                       .own_column = true,
                                       .own_has_plain_columns = true,
                                       .own_row_of = true}> {
    static constexpr Offset threads(const auto& arrays) { return arrays.row_count; }
    static constexpr Offset threads_side_by_side(const auto& arrays) { return arrays.row_count; }
    static constexpr Run<int> run(const auto&, Offset thread, const auto&) {
        return {static_cast<Index>(thread), thread, 1, 1};
    }
    static constexpr const auto& values(const auto& arrays) { return arrays.values; }
    static constexpr const auto& columns(const auto& arrays) { return arrays.column_indices; }
    static constexpr Index column(const auto&, const auto&, const RunSlot& place, const auto&) {
        return static_cast<Index>(place.k);
    }
    static constexpr bool has_plain_columns(const auto& run) { return run.row == 0; }
    static constexpr Index row_of(const auto&, const auto& run, const auto&) { return run.row; }
};

static_assert(ScheduleOf<Rows, Arrays>);

struct Decoded final : ScheduleBase<Hooks{.own_state = true}> {
    static constexpr Offset threads(const auto& arrays) { return arrays.row_count; }
    static constexpr Run<int> run(const auto&, Offset thread, const auto&) {
        return {static_cast<Index>(thread), thread, 1, 1};
    }
    static constexpr Index state(const auto&, const auto& run, const auto&) { return run.row; }
    static constexpr Index next_column(const auto&, const auto&, const RunSlot&, const auto&, Index& state) { return state++; }
};

static_assert(ScheduleOf<Decoded, Arrays>);

struct Choice {
    static constexpr auto choose(const auto&, const auto& use) { return use(Rows{}); }
};

static_assert(with_schedule<Choice>(Arrays{}, []<Schedule Chosen>(Chosen) { return Chosen::lanes; }) == 2);

}  // namespace
}  // namespace workbench
