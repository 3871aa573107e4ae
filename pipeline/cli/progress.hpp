// The step that the program is at, on a terminal only.
#pragma once

#include <string>

namespace workbench {

/// Shows one line that is replaced by the next step and gone at the end. Silent where standard error is not a terminal.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(const std::string& step) const;

private:
    bool on_terminal_;
};

}  // namespace workbench
