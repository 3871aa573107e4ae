// Standard output is for what the program says itself.
#pragma once

namespace workbench {

/// As long as it lives, what others print to standard output (kernels beside a recipe, libraries) goes to standard error.
class PrintsAside {
public:
    PrintsAside();
    ~PrintsAside();
    PrintsAside(const PrintsAside&) = delete;
    PrintsAside& operator=(const PrintsAside&) = delete;

private:
    int output_;  // standard output as it was; negative: there is none
};

}  // namespace workbench
