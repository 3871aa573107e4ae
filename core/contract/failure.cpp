#include "core/contract/failure.hpp"

#include <new>

namespace workbench {

Failure current_failure() {
    try {
        throw;
    } catch (const UserError& error) {
        return {error.exit_code, error.what()};
    } catch (const BrokenKernel& error) {
        return {ExitCode::wrong_result, error.what()};
    } catch (const Unsuitable& error) {
        return {ExitCode::bad_input, error.what()};
    } catch (const std::bad_alloc&) {
        return {ExitCode::machine_error, "out of memory"};
    } catch (const std::exception& error) {
        return {ExitCode::program_error, std::string(error.what()) + "\nThis is a bug in the program: please report it."};
    }
}

}  // namespace workbench
