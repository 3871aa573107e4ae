// Parallel loops whose bodies may throw, for example where memory runs out.
#pragma once

#include <exception>
#include <mutex>
#include <string>

#include "core/matrix/host_threads.hpp"
#include "core/matrix/trial_process.hpp"

namespace workbench {

/// Carries an exception from the body of a parallel loop to the thread that started the loop; Kokkos would end the program.
class LoopGuard {
public:
    /// Runs the work of one iteration, and keeps the first exception of all iterations.
    template <typename Work>
    void run(const Work& work) {
        try {
            work();
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            if (!thrown_) thrown_ = std::current_exception();
        }
    }

    /// Throws the exception that was kept, if any. To be called after the loop.
    void finish() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    std::mutex mutex_;
    std::exception_ptr thrown_;
};

/// Kokkos::parallel_for on the host with a body that may throw. All iterations run; then the first exception is thrown.
template <typename Policy, typename Body>
void guarded_for(const std::string& name, const Policy& policy, const Body& body) {
    LoopGuard guard;
    if (in_trial_process()) {
        for (auto i = policy.begin(); i < policy.end(); ++i) guard.run([&] { body(i); });
    } else {
        Kokkos::parallel_for(name, policy, [&guard, body](typename Policy::member_type i) { guard.run([&] { body(i); }); });
    }
    guard.finish();
}

}  // namespace workbench
