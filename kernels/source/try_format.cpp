#include "kernels/source/try_format.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/source/planted_faults.hpp"
#include "kernels/source/run_trial.hpp"

namespace workbench {
namespace {

double seconds_of_trial() {
    const char* const given = std::getenv("WORKBENCH_TRIAL_SECONDS");
    const double seconds = given == nullptr ? 0 : std::atof(given);
    return seconds > 0 ? seconds : 20;
}

/// A trial has one thread, which builds some million nonzeros per second, walks them, and multiplies.
double limit_for(const CsrMatrix& matrix) { return seconds_of_trial() + static_cast<double>(matrix.nonzeros()) * 5e-6; }

/// An integer that identifies the place of a nonzero. Products with the x of exact_x and sums of them are exact, even in f32.
double exact_value(Index row, Index column) { return static_cast<double>((row * 7 + column * 13) % 31 + 1); }
template <ValueType Value>
HostArray<Value> exact_x(Index columns) {
    HostArray<Value> x;
    for (Index column = 0; column < columns; ++column) x.push_back(static_cast<Value>(column % 17 + 1));
    return x;
}

/// Room for y with elements before it that must not change. Behind it, the process ends.
template <ValueType Value>
class WatchedY {
public:
    explicit WatchedY(Index rows) : memory_(static_cast<std::size_t>(rows) + guards, guard) {}

    [[nodiscard]] Value* get() { return memory_.data() + guards; }
    void require_sound() const {
        for (std::size_t i = 0; i < guards; ++i) {
            if (memory_[i] != guard) throw std::logic_error("it writes before the beginning of y");
        }
    }

private:
    static constexpr std::size_t guards = 512;
    static constexpr Value guard = 12345;
    HostArray<Value> memory_;
};

template <ValueType Value>
class Exercise {
public:
    Exercise(const LayoutEntry& entry, const StagedMatrix& staged, const Parameters& parameters,
             const UnfinishedKernels& unfinished, std::string on)
        : entry_(entry), staged_(staged), parameters_(parameters), unfinished_(unfinished), on_(std::move(on)) {}

    /// exact: the values of the matrix are exact_value, and everything is checked.
    void run(bool exact) {
        begin("building");
        std::unique_ptr<Layout<Value>> layout;
        try {
            layout = entry_.build.template get<Value>()(staged_, parameters_);
        } catch (const Unsuitable&) {
            return;
        }
        if (layout == nullptr) throw std::logic_error("it returns no layout");
        for (const LayoutField& field : layout->fields()) {
            if (field.has_memory()) name_trial_array(field.data, field.name);
        }
        if (exact) {
            begin("its slots");
            check_layout(*layout, staged_.matrix);
        }
        for (const KernelEntry& kernel : entry_.kernels) {
            const bool runs_here = device_of(kernel.backend) == DeviceKind::host && !unfinished_.contains(kernel.name);
            if (runs_here) multiply(kernel, *layout, exact);
        }
        for (const ScheduleEntry& schedule : entry_.schedules) walk(schedule, *layout, exact);
        if (!exact || !has_work_for_planter()) return;
        const std::vector<std::string> unnoticed =
            unnoticed_faults(*layout, staged_.matrix, [this](const std::string& fault) { begin("with the fault " + fault); });
        if (!unnoticed.empty()) {
            begin("with a planted fault");
            throw std::logic_error(fmt::format("the walk over its slots does not notice {}", unnoticed.front()));
        }
    }

private:
    /// Arrays may say anything of a row without nonzeros. In a large matrix the check of each fault would take long.
    [[nodiscard]] bool has_work_for_planter() const {
        const CsrMatrix& matrix = staged_.matrix;
        if (matrix.rows == 0 || matrix.nonzeros() > 60) return false;
        for (Index row = 0; row < matrix.rows; ++row) {
            if (matrix.row_columns(row).empty()) return false;
        }
        return true;
    }

    void begin(const std::string& step, const std::string& kernel = "") const {
        begin_trial_step(fmt::format("{} ({}{})", step, name_of(precision_of<Value>), on_), kernel);
    }

    void multiply(const KernelEntry& entry, const Layout<Value>& layout, bool exact) {
        begin("kernel " + entry.name, entry.name);
        static const std::unique_ptr<Device> host = make_host_device();
        const auto kernel = entry.prepare.template get<Value>()(layout, *host);
        const CsrMatrix& matrix = staged_.matrix;
        const HostArray<Value> x = exact_x<Value>(matrix.columns);
        name_trial_array(x.data(), "x");
        for (const bool accumulate : {false, true}) {
            WatchedY<Value> y(matrix.rows);
            name_trial_array(y.get() - 512, "y");
            kernel->run(x.data(), y.get(), accumulate);
            y.require_sound();
            if (exact) require_product(x, y.get(), accumulate ? Value{12345} : Value{0});
        }
    }

    void require_product(const HostArray<Value>& x, const Value* y, Value before) const {
        const CsrMatrix& matrix = staged_.matrix;
        for (Index row = 0; row < matrix.rows; ++row) {
            Value expected = before;
            for (const Index column : matrix.row_columns(row)) {
                expected += static_cast<Value>(exact_value(row, column)) * x[column];
            }
            if (y[row] == expected) continue;
            throw std::logic_error(fmt::format("y[{}] is {}; expected {}{}", row, y[row], expected,
                                               before == 0 ? "" : ", which includes the y that was there"));
        }
    }

    void walk(const ScheduleEntry& schedule, const Layout<Value>& layout, bool exact) {
        begin("schedule of kernel " + schedule.kernel);
        const WalkReads<Value> walk = schedule.walk.template get<Value>();
        if (exact) return check_schedule(layout, walk);
        walk(layout, [&](const Read& read) {
            if (read.row < 0 || read.row >= layout.rows() || read.column < -1 || read.column >= layout.columns()) {
                throw std::logic_error(fmt::format("slot {} is read for row {} and column {}, which do not exist", read.index,
                                                   read.row, read.column));
            }
        });
    }

    const LayoutEntry& entry_;
    const StagedMatrix& staged_;
    const Parameters& parameters_;
    const UnfinishedKernels& unfinished_;
    std::string on_;
};

/// Repeats a trial without the kernels that do not end. Throws unless it ends well then.
void try_without_unfinished(const LayoutEntry& entry, double limit_seconds, UnfinishedKernels& unfinished,
                            const std::function<void()>& work) {
    for (;;) {
        const TrialEnd end = try_in_copy(limit_seconds, work);
        if (end.kind == TrialKind::fine) return;
        const std::string text = fmt::format("{}: {}", entry.file.string(), end.words);
        if (end.kind == TrialKind::lacks_memory) throw MachineError(text);
        if (end.kind != TrialKind::hung) throw BrokenKernel(text);
        const std::string limit = text + " (limit: WORKBENCH_TRIAL_SECONDS)";
        if (end.kernel.empty() || !unfinished.emplace(end.kernel, limit).second) throw UnfinishedKernel(limit);
    }
}

template <ValueType Value>
void exercise_on_battery(const LayoutEntry& entry, const Parameters& parameters, const UnfinishedKernels& unfinished) {
    for (const NamedMatrix& named : battery()) {
        StagedMatrix staged = stage_input(named.matrix);
        CsrMatrix& matrix = staged.matrix;
        for (Index row = 0; row < matrix.rows; ++row) {
            for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
                matrix.values[i] = exact_value(row, matrix.column_indices[i]);
            }
        }
        if (entry.needs(parameters).square && matrix.rows != matrix.columns) continue;
        Exercise<Value>(entry, staged, parameters, unfinished, ", matrix '" + named.name + "'").run(true);
    }
}

}  // namespace

void try_format(const LayoutEntry& entry, const StagedMatrix& staged, const Parameters& parameters, Precision precision,
                UnfinishedKernels& unfinished) {
    try_without_unfinished(entry, limit_for(staged.matrix), unfinished, [&] {
        if (precision == Precision::f32) {
            Exercise<float>(entry, staged, parameters, unfinished, "").run(false);
        } else {
            Exercise<double>(entry, staged, parameters, unfinished, "").run(false);
        }
    });
}

void try_format_on_battery(const LayoutEntry& entry, const Parameters& given, UnfinishedKernels& unfinished) {
    try_without_unfinished(entry, seconds_of_trial(), unfinished, [&] {
        begin_trial_step("its parameters");
        const Parameters parameters = given.on_device(entry.parameters, tuned_device_model());
        const Needs needs = entry.needs(parameters);
        if (!needs.cuts.empty() || !needs.shares.empty() || needs.columns_by_density) return;
        exercise_on_battery<double>(entry, parameters, unfinished);
        exercise_on_battery<float>(entry, parameters, unfinished);
    });
}

}  // namespace workbench
