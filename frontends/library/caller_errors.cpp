#include "frontends/library/caller_errors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <stdexcept>

#include <fmt/format.h>
#include <spmv_workbench/spmv_workbench.hpp>

#include "core/contract/errors.hpp"
#include "core/contract/kernel.hpp"
#include "core/text/words.hpp"

namespace workbench {

void rethrow_to_caller() {
    try {
        throw;
    } catch (const spmv_workbench::Error&) {
        throw;
    } catch (const RecipeError& error) {
        throw spmv_workbench::RecipeError(error.what());
    } catch (const InputError& error) {
        throw spmv_workbench::MatrixError(error.what());
    } catch (const MachineError& error) {
        throw spmv_workbench::MachineError(error.what());
    } catch (const UnfinishedKernel& error) {
        throw spmv_workbench::WrongResult(error.what());
    } catch (const UserError& error) {  // a variable of the environment
        throw spmv_workbench::Error(error.what());
    } catch (const Unsuitable& error) {
        throw spmv_workbench::MatrixError(error.what());
    } catch (const BrokenKernel& error) {
        throw spmv_workbench::WrongResult(error.what());
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        throw spmv_workbench::Error(fmt::format("{}\nThis is a bug in libspmv_workbench; please report it.", error.what()));
    }
}

void require_size(std::string_view name, std::size_t found, std::size_t expected) {
    if (found != expected)
        throw std::invalid_argument(fmt::format("{} has {}; expected {}", name, counted(found, "element"), expected));
}

template <typename Value>
void require_finite(std::string_view name, spmv_workbench::ArrayView<const Value> vector, int columns) {
    const auto* const found = std::find_if(vector.begin(), vector.end(), [](Value value) { return !std::isfinite(value); });
    if (found == vector.end()) return;
    const std::ptrdiff_t i = found - vector.begin();
    const std::string place = columns == 1 ? fmt::format("{}", i) : fmt::format("{}, {}", i / columns, i % columns);
    throw std::invalid_argument(fmt::format("{}[{}] is {}; expected finite numbers", name, place, *found));
}

template void require_finite(std::string_view, spmv_workbench::ArrayView<const float>, int);
template void require_finite(std::string_view, spmv_workbench::ArrayView<const double>, int);

void require_vectors(int vectors) {
    if (vectors >= 1 && vectors <= most_vectors) return;
    throw std::invalid_argument(fmt::format("found {} vectors; expected 1 to {}", vectors, most_vectors));
}

void require_apart(const void* x, std::size_t bytes_of_x, const void* y, std::size_t bytes_of_y, std::string_view names) {
    const auto* const first = static_cast<const std::byte*>(x);
    const auto* const second = static_cast<const std::byte*>(y);
    const std::less<> before;
    if (bytes_of_x == 0 || bytes_of_y == 0) return;
    if (before(first, second + bytes_of_y) && before(second, first + bytes_of_x)) {
        throw std::invalid_argument(fmt::format("{} overlap; expected disjoint arrays", names));
    }
}

}  // namespace workbench
