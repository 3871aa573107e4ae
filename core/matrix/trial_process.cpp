#include "core/matrix/trial_process.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>

namespace workbench {
namespace {

constexpr std::size_t guard_page = 4096;
// The kernel limits the mappings of a process to 65,530 by default; each guarded array takes two.
constexpr std::size_t most_guarded_arrays = 20000;

struct TrialArrays {
    bool active = false;
    std::size_t count = 0;
    std::array<TrialArrayPlace, most_guarded_arrays> places{};
};

/// Only the trial's process, which has one thread, changes it.
TrialArrays& trial_arrays() {
    static TrialArrays all;
    return all;
}

void* allocate_guarded(std::size_t bytes) {
    TrialArrays& all = trial_arrays();
    const std::size_t pages = (bytes + guard_page - 1) / guard_page * guard_page;
    void* const region = mmap(nullptr, pages + guard_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) throw std::bad_alloc();
    char* const end = static_cast<char*>(region) + pages;
    if (mprotect(end, guard_page, PROT_NONE) != 0) throw std::bad_alloc();
    std::memset(end - bytes, 0xFF, bytes);
    all.places[all.count++] = {end - bytes, bytes};
    return end - bytes;
}

void advise_huge_pages(void* begin, std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    if (bytes < huge_page) return;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const auto first = (address + huge_page - 1) / huge_page * huge_page;
    const auto last = (address + bytes) / huge_page * huge_page;
    if (first < last) (void)madvise(static_cast<char*>(begin) + (first - address), last - first, MADV_HUGEPAGE);
}

}  // namespace

bool in_trial_process() { return trial_arrays().active; }

void enter_trial_process() {
    trial_arrays().active = true;
    (void)mallopt(M_PERTURB, 0x5A);  // fills what malloc returns
}

TrialArrayPlace trial_array_before(const void* address) {
    const TrialArrays& all = trial_arrays();
    for (std::size_t i = 0; i < all.count; ++i) {
        const char* const end = static_cast<const char*>(all.places[i].begin) + all.places[i].bytes;
        if (address >= end && address < end + guard_page) return all.places[i];
    }
    return {};
}

void* allocate_array(std::size_t bytes) {
    if (in_trial_process() && trial_arrays().count < most_guarded_arrays) return allocate_guarded(bytes);
    void* const array = ::operator new(bytes);
    advise_huge_pages(array, bytes);
    return array;
}

void free_array(void* array) noexcept {
    // The child ends soon, and arrays from before the fork would have to be told from its own.
    if (!in_trial_process()) ::operator delete(array);
}

}  // namespace workbench
