#include "pipeline/contract/failure.hpp"

#include <new>

#include "pipeline/contract/errors.hpp"

namespace workbench {

Failure current_failure() {
    try {
        throw;
    } catch (const UserError& error) {
        return {error.exit_code, error.what()};
    } catch (const std::bad_alloc&) {
        return {MachineError("").exit_code, "out of memory"};
    } catch (const std::exception& error) {
        return {exit_mistake_of_the_program,
                std::string(error.what()) + "\nThis is a mistake of the program, not of yours: please report it."};
    }
}

}  // namespace workbench
