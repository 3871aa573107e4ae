// Runs code beside a recipe in a child process, a copy of the program, where it may hang, crash or write anywhere.
#pragma once

#include <functional>
#include <string>

namespace workbench {

/// How the child ended.
struct TrialEnd {
    enum class Kind { fine, failed, lacks_memory, hung, signal, exited };
    Kind kind = Kind::fine;
    std::string step;             // what it was doing
    std::string text;             // failed: the reason
    int number = 0;               // of the signal, or the exit code
    std::string array;            // signal: the array behind whose end it reached, if any
    long long bytes_behind = -1;  // signal: how far behind; -1: elsewhere
};

/// The steps that the code in the child reports.
class TrialSteps {
public:
    virtual ~TrialSteps() = default;
    /// Names what follows: "building".
    virtual void begin(const std::string& step) = 0;
    /// Names an array for the message about an access behind its end.
    virtual void name_array(const void* begin, const std::string& name) = 0;
};

/// Calls work(steps) in a child and waits. An exception from work is its failure. Its output goes to standard error, up to a
/// limit. Throws MachineError if no child can be started.
[[nodiscard]] TrialEnd run_in_child(double limit_seconds, const std::function<void(TrialSteps&)>& work);

/// "building: reads or writes behind the end of values, by 8 bytes". Empty if the child ended well.
[[nodiscard]] std::string in_words(const TrialEnd& end, double limit_seconds);

}  // namespace workbench
