// Work in a child process that remembers what it has done, and can be ended at any moment.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace workbench {

struct WorkResult {
    enum class WorkEnd {
        done,      // `text` is the result
        failed,    // `text` is the message of a user error
        unwanted,  // its client has gone or has sent a newer request
        too_long,  // the time limit
        lost       // the child crashed; `text` says how
    };
    WorkEnd end = WorkEnd::done;
    std::string text = {};
};

/// Is a result still needed? `replaced`: the client has sent a newer request; `gone`: there is no client.
enum class Wanted { yes, replaced, gone };

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

    /// Has the child work on a request and returns the result. Requests wait for each other. One that is replaced is given up
    /// at its next step, or else the child is ended, and a new one begins with nothing. `wanted` is called every few
    /// milliseconds. `last`: the child is ended afterwards.
    [[nodiscard]] WorkResult run(const std::string& request, double limit_seconds, const std::function<Wanted()>& wanted,
                                 bool last = false);

    /// Ends running work, and refuses new work from now on.
    void stop() { stopped_ = true; }

private:
    class Answerer;

    std::mutex& forking_;
    std::function<std::string(const std::string& request, const GoOn& go_on)> work_;
    std::mutex turn_;  // held by the thread whose request the child has
    std::unique_ptr<Answerer> child_;
    long last_ = 0;  // number of a request; guarded by turn_
    std::atomic<bool> stopped_ = false;
};

}  // namespace workbench
