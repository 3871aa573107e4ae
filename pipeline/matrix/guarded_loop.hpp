// Parallel loops whose bodies may throw, for want of memory say.
#pragma once

#include <Kokkos_Core.hpp>

#include <exception>
#include <mutex>
#include <string>

namespace workbench {

/// An exception that leaves the body of a parallel loop ends the program. This takes it to the thread that started the loop.
class LoopGuard {
public:
    /// Runs the work of one iteration. What it throws is kept, of all iterations the first that came.
    template <typename Work>
    void run(const Work& work) {
        try {
            work();
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            if (!thrown_) thrown_ = std::current_exception();
        }
    }

    /// After the loop: throws what was kept.
    void finish() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    std::mutex mutex_;
    std::exception_ptr thrown_;
};

/// Kokkos::parallel_for on the host, whose body may throw: the loop goes through all the same, then the exception comes.
template <typename Policy, typename Body>
void guarded_for(const std::string& name, const Policy& policy, const Body& body) {
    LoopGuard guard;
    Kokkos::parallel_for(name, policy, [&guard, body](typename Policy::member_type i) { guard.run([&] { body(i); }); });
    guard.finish();
}

}  // namespace workbench
