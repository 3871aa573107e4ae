#include "pipeline/matrix/huge_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace workbench {

void advise_huge_pages(void* begin, std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const auto first = (address + huge_page - 1) / huge_page * huge_page;
    const auto last = (address + bytes) / huge_page * huge_page;
    if (first < last) (void)madvise(static_cast<char*>(begin) + (first - address), last - first, MADV_HUGEPAGE);
}

}  // namespace workbench
