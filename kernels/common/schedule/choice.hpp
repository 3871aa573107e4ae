// Choices that are made at run time between schedules and other things that are compiled apart.
#pragma once

#include <stdexcept>
#include <string>

#include "kernels/common/schedule/run.hpp"

namespace workbench {

/// False where the syntax of CUDA kernels is checked (cmake/CudaKernels.cmake): one number of threads, or one height, then
/// represents all, because compiling each of them takes most of the time of the check.
inline constexpr bool compiles_every_shape =
#ifdef WORKBENCH_SYNTAX_ONLY
    false;
#else
    true;
#endif

/// Calls use(Known<lanes>) with a number of lanes that is known at run time: one of least, 2 * least, ..., 32.
template <int least, typename Use>
auto with_lanes(int lanes, const Use& use) {
    if constexpr (least < 32 && compiles_every_shape) {
        if (lanes != least) return with_lanes<2 * least>(lanes, use);
    }
    return use(Known<least>{});
}

/// Calls use(Known<number>) with a number that is known at run time. Throws std::logic_error if it is none of these.
template <int first, int... others>
auto with_known(int number, const auto& use) {
    if (number == first) return use(Known<first>{});
    if constexpr (sizeof...(others) > 0 && compiles_every_shape) {
        return with_known<others...>(number, use);
    } else {
        throw std::logic_error("no kernel is compiled for " + std::to_string(number));
    }
}

/// A choice between schedules: choose(arrays, use) calls use(schedule) with the one for these arrays.
template <typename Choice, typename Arrays, typename Use>
concept ScheduleChoice = requires(const Arrays& arrays, const Use& use) {
    Choice::choose(arrays, use);
};

/// Calls use(schedule) with a schedule, or with the one that a choice makes for the arrays.
template <typename S, typename Arrays, typename Use>
requires Schedule<S> || ScheduleChoice<S, Arrays, Use>
constexpr auto with_schedule(const Arrays& arrays, const Use& use) {
    if constexpr (Schedule<S>) {
        static_assert(require_hooks<S, Arrays>());
        return use(S{});
    } else {
        return S::choose(arrays, use);
    }
}

}  // namespace workbench
