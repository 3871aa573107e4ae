// Translates the workbench's exceptions into those of the library's header.
#pragma once

#include <cstddef>
#include <exception>
#include <string_view>

#include <spmv_workbench/spmv_workbench.hpp>

namespace workbench {

/// Rethrows the exception being handled as the header documents it; call it in a catch block.
[[noreturn]] void rethrow_to_caller();

/// Runs `work` and translates its exceptions.
template <typename Work>
auto for_caller(const Work& work) {
    try {
        return work();
    } catch (...) {
        rethrow_to_caller();
    }
}

/// Carries the exceptions of the caller's own functions unchanged through code that translates exceptions.
class CallerFunctions {
public:
    /// Calls a function of the caller, within `run`.
    template <typename Function>
    auto call(const Function& function) {
        try {
            return function();
        } catch (...) {
            raised_ = std::current_exception();
            throw spmv_workbench::Stopped("a function of the caller raised an exception");
        }
    }

    /// Runs `work` and translates its exceptions, except those of the caller's functions.
    template <typename Work>
    auto run(const Work& work) {
        raised_ = nullptr;
        try {
            return for_caller(work);
        } catch (const spmv_workbench::Stopped&) {
            if (raised_) std::rethrow_exception(raised_);
            throw;
        }
    }

private:
    std::exception_ptr raised_;
};

// Preconditions of the caller; all throw std::invalid_argument.
void require_size(std::string_view name, std::size_t found, std::size_t expected);
/// columns: of a vector that is several, row by row.
template <typename Value>
void require_finite(std::string_view name, spmv_workbench::ArrayView<const Value> vector, int columns = 1);
/// 1 to 64.
void require_vectors(int vectors);
/// names: of both arrays, for the message.
void require_apart(const void* x, std::size_t bytes_of_x, const void* y, std::size_t bytes_of_y,
                   std::string_view names = "x and y");

}  // namespace workbench
