// The base of classes that are used through a pointer.
#pragma once

namespace workbench {

/// Can be destroyed through a pointer to the base, and is never copied.
class Interface {
public:
    Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    virtual ~Interface() = default;
};

}  // namespace workbench
