// Work in a child process, in steps of which each may crash or hang: the work begins again without that step.
#pragma once

#include <functional>
#include <string>

#include "core/contract/errors.hpp"

namespace workbench {

/// The child's side: reports steps to the parent. Texts are single lines.
class Steps {
public:
    explicit Steps(int connection) : connection_(connection) {}

    /// A step begins. If the process does not survive it, or it takes longer than the limit, the parent records the step.
    void begin(const std::string& step, double limit_seconds) const;
    /// The step that began last has this result.
    void end(const std::string& result) const;
    /// The process cannot go on after the step that began last, and is going to end. The parent records the step as lost.
    void lose(const std::string& reason) const;
    /// Outside of steps: if this thread crashes, the parent records this text as the lost step; null: none. The text must live
    /// until the next call of this thread.
    static void note(const char* text);

private:
    void send(const std::string& message) const;

    int connection_;
};

/// The functions of the parent.
struct StepRecorder {
    std::function<void(const std::string& result)> ended;
    /// The child was lost in this step: "killed by signal 11 (Segmentation fault)".
    std::function<void(const std::string& step, const std::string& reason)> lost;
};

/// Runs `work` in a child process and returns its exit code; what it throws leaves this function in the child. After a lost
/// step, `recorder.lost` is called, and `work` runs again in a new child; it should leave the step out. Throws MachineError if
/// a step is lost twice, or if the child is lost between two steps. Ctrl-C reaches the child. The process must not have threads
/// yet.
[[nodiscard]] ExitCode supervised(const std::function<ExitCode(const Steps&)>& work, const StepRecorder& recorder);

}  // namespace workbench
