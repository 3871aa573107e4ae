// The exit codes and texts of exceptions, and the early check that a file can be written.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/system/whole_file.hpp"
#include "support/golden.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

template <typename Error>
Failure failure_of(const Error& error) {
    try {
        throw error;
    } catch (...) {
        return current_failure();
    }
}

}  // namespace

TEST_CASE("failures have the exit code of their error") {
    CHECK(failure_of(RecipeError("a")) == Failure{ExitCode::bad_recipe, "a"});
    CHECK(failure_of(InputError("b")) == Failure{ExitCode::bad_input, "b"});
    CHECK(failure_of(MachineError("c")) == Failure{ExitCode::machine_error, "c"});
    CHECK(failure_of(BrokenKernel("e")) == Failure{ExitCode::wrong_result, "e"});
    CHECK(failure_of(Unsuitable("f")) == Failure{ExitCode::bad_input, "f"});
    CHECK(failure_of(std::bad_alloc()) == Failure{ExitCode::machine_error, "out of memory"});
    CHECK(failure_of(std::logic_error("d")) ==
          Failure{ExitCode::program_error, "d\nThis is a bug in the program: please report it."});
}

TEST_CASE("check_writable leaves no trace") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "old") << "as it was";
    CHECK_NOTHROW(check_writable(folder.path() / "old"));
    CHECK_NOTHROW(check_writable(folder.path() / "new"));
    CHECK_NOTHROW(check_writable(folder.path() / "a" / "b" / "new"));
    CHECK_NOTHROW(check_writable("/dev/full"));
    CHECK(message_of<MachineError>([&] { check_writable(folder.path() / "old" / "new"); }) ==
          (folder.path() / "old" / "new").string() + ": cannot be written: the folder " + (folder.path() / "old").string() +
              " cannot be created: Not a directory");
    CHECK_THROWS_AS(check_writable(folder.path()), MachineError);
    fs::create_directory(folder.path() / "mine");
    CHECK_NOTHROW(check_writable(folder.path() / "mine" / "deep" / "new"));
    CHECK(fs::is_empty(folder.path() / "mine"));
    CHECK(file_text(folder.path() / "old") == "as it was");
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

}  // namespace workbench
