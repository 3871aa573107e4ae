#include "pipeline/matrix/huge_pages.hpp"

#include <sys/mman.h>
#include <Kokkos_Core.hpp>

#include <cstdint>

namespace workbench {

void advise_huge_pages(void* begin, std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const auto first = (address + huge_page - 1) / huge_page * huge_page;
    const auto last = (address + bytes) / huge_page * huge_page;
    if (first < last) (void)madvise(static_cast<char*>(begin) + (first - address), last - first, MADV_HUGEPAGE);
}

void make_pages(void* begin, std::size_t bytes) {
    constexpr std::size_t page = 4096;                 // the smallest there is: not all memory comes in huge ones
    constexpr std::size_t few = std::size_t{1} << 22;  // bytes, which one thread has touched before others have begun
    advise_huge_pages(begin, bytes);
    if (bytes < few) return;
    auto* const memory = static_cast<volatile char*>(begin);
    using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::size_t>>;
    Kokkos::parallel_for("make_pages", Range(0, bytes / page), [=](std::size_t i) { memory[i * page] = 0; });
}

}  // namespace workbench
