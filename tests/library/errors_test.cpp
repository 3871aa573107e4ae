// The types of the errors that the library gives to its callers.
#include <doctest/doctest.h>

#include <new>
#include <stdexcept>
#include <string>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/contract/errors.hpp"
#include "frontends/library/caller_errors.hpp"

namespace workbench {
namespace {

/// The type of the exception that a caller of the library gets for one of the workbench.
template <typename Thrown>
std::string type_for_caller(const Thrown& thrown) {
    try {
        for_caller([&thrown] { throw thrown; });
    } catch (const spmv_workbench::RecipeError& error) {
        return std::string("RecipeError: ") + error.what();
    } catch (const spmv_workbench::MatrixError& error) {
        return std::string("MatrixError: ") + error.what();
    } catch (const spmv_workbench::MachineError& error) {
        return std::string("MachineError: ") + error.what();
    } catch (const spmv_workbench::WrongResult& error) {
        return std::string("WrongResult: ") + error.what();
    } catch (const spmv_workbench::Error& error) {
        return std::string("Error: ") + error.what();
    } catch (const std::bad_alloc&) {
        return "bad_alloc";
    }
    return "nothing";
}

}  // namespace

TEST_CASE("each kind of error has its own type in the header") {
    CHECK(type_for_caller(RecipeError("a")) == "RecipeError: a");
    CHECK(type_for_caller(InputError("b")) == "MatrixError: b");
    CHECK(type_for_caller(Unsuitable("c")) == "MatrixError: c");  // such as a row too long to be verified exactly
    CHECK(type_for_caller(MachineError("d")) == "MachineError: d");
    CHECK(type_for_caller(BrokenKernel("e")) == "WrongResult: e");
    CHECK(type_for_caller(std::bad_alloc()) == "bad_alloc");
    CHECK(type_for_caller(std::logic_error("f")) == "Error: f\nThis is a bug in libspmv_workbench; please report it.");
}

}  // namespace workbench
