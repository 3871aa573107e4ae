// Work in a child process that remembers what it has done, and can be ended at any moment.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
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

/// Called between the steps of a work; throws an exception that the work must let pass if newer work waits.
using GoOn = std::function<void()>;

class Worker {
public:
    /// `work` is called in a child process, with one request after another, so that it can keep what the next request also
    /// needs. `forking` is held while a child is created. Other threads must hold it while they run code that the work also
    /// runs, since the child is a copy of this process with a single thread, in which their locks would never be released.
    Worker(std::mutex& forking, std::function<std::string(const std::string& request, const GoOn& go_on)> work);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Announces a request and returns its number. Earlier requests end at their next step.
    [[nodiscard]] long announce() { return ++newest_; }

    /// Has the child work on the request with this number and returns the result. An earlier request is given up at its next
    /// step, or else the child is ended, and a new one begins with nothing. `wanted` is asked every few milliseconds. `last`:
    /// the child is ended afterwards.
    [[nodiscard]] WorkResult run(long number, const std::string& request, double limit_seconds,
                                 const std::function<bool()>& wanted, bool last = false);

    /// Ends running work, and refuses new work from now on.
    void stop() { stopped_ = true; }

private:
    class Answerer;

    std::mutex& forking_;
    std::function<std::string(const std::string& request, const GoOn& go_on)> work_;
    std::mutex turn_;  // held by the thread whose request the child has
    std::unique_ptr<Answerer> child_;
    std::atomic<long> newest_ = 0;
    std::atomic<bool> stopped_ = false;
};

}  // namespace workbench
