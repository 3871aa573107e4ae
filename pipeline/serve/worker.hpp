// Work in child processes, one at a time, that can be ended at any moment.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

namespace workbench {

struct WorkResult {
    enum class End {
        done,      // `text` is the result
        failed,    // `text` is the message of a user error
        replaced,  // newer work began
        unwanted,  // the client has gone, or a newer change replaces the run
        too_long,  // the time limit
        lost       // the child crashed; `text` says how
    };
    End end = End::done;
    std::string text = {};
};

class Worker {
public:
    /// `forking` is held while a child is created. Other threads must hold it while they run code that the work runs, too,
    /// since the child is a copy of this process with a single thread, in which their locks would never be released.
    explicit Worker(std::mutex& forking) : forking_(forking) {}

    /// Runs `work` in a child process and returns its result. Work that is running for another thread ends, in favour of this.
    /// `wanted` is asked every few milliseconds.
    [[nodiscard]] WorkResult run(const std::function<std::string()>& work, double limit_seconds,
                                 const std::function<bool()>& wanted);

    /// Ends running work, and refuses new work from now on.
    void stop();

private:
    std::mutex& forking_;
    std::atomic<long> newest_ = 0;
    std::atomic<bool> stopped_ = false;
};

}  // namespace workbench
