// The trial on the host. Every array ends at an inaccessible page and its own pages are read-only, so that the first access
// outside or write inside ends the trial and reports the address. A guard beside y, in y's pages, reveals writes. Then products
// are repeated with other threads.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>

#include "core/system/child.hpp"
#include "kernels/source/trial_plan.hpp"

namespace workbench {
namespace {

/// Maps pages of the file between inaccessible pages.
unsigned char* map_array(const MappedTrial& trial, TrialArray& array, int protection) {
    const std::size_t pages = array.page_bytes();
    void* const region = mmap(nullptr, pages + 2 * trial_guard_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) conclude(trial.plan.verdict, TrialKind::refused, "no address space for the arrays");
    unsigned char* const begin = static_cast<unsigned char*>(region) + trial_guard_bytes;
    void* const mapped = mmap(begin, pages, protection, MAP_PRIVATE | MAP_FIXED, trial.file, static_cast<off_t>(array.pages));
    if (mapped == MAP_FAILED) conclude(trial.plan.verdict, TrialKind::refused, "no address space for the arrays");
    unsigned char* const address = begin + (array.offset - array.pages);
    array.address = reinterpret_cast<std::uint64_t>(address);
    return address;
}

/// Sleeps for up to 0.1 ms, so that other threads overtake the one that got the signal. errno is that of the interrupted code.
void lag(int) {
    static std::atomic<unsigned> number = 1;
    const int before = errno;
    const timespec pause{0, static_cast<long>(number.fetch_add(7919) % 100) * 1000};
    (void)nanosleep(&pause, nullptr);
    errno = before;
}

/// Runs a kernel's OpenMP loops with more threads than cores, in numbers and schedules that change from product to product, and
/// stops its threads at random places for a moment, so that races show.
class OtherThreads {
public:
    /// library: the kernel, which has loaded OpenMP if it uses it.
    explicit OtherThreads(void* library)
        : set_threads_(reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"))),
          set_schedule_(reinterpret_cast<void (*)(int, int)>(dlsym(library, "omp_set_schedule"))) {
        struct sigaction action {};
        action.sa_handler = lag;
        action.sa_flags = SA_RESTART;
        (void)sigaction(SIGUSR1, &action, nullptr);
        // The thread that disturbs the others ends with the process.
        if (set_threads_ != nullptr) std::thread(disturb).detach();
    }

    /// Returns the change in words.
    std::string change() {
        if (set_threads_ == nullptr) return "";
        const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        const int threads = std::min(cores + 1 + static_cast<int>(random_() % (cores + 3)), most_threads);
        set_threads_(threads);
        constexpr int static_schedule = 1;
        constexpr int kinds = 3;  // static, dynamic, guided
        if (set_schedule_ != nullptr) set_schedule_(static_schedule + static_cast<int>(random_() % kinds), 1 << random_() % 6);
        return std::to_string(threads) + " threads";
    }

private:
    static constexpr int most_threads = 64;

    static void disturb() {
        const pid_t process = getpid();
        const auto self = static_cast<pid_t>(syscall(SYS_gettid));
        std::mt19937 random(1);
        for (std::vector<pid_t> threads;; threads.clear()) {
            std::error_code gone;
            std::filesystem::directory_iterator entry("/proc/self/task", gone);
            for (; !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
                const auto thread = static_cast<pid_t>(std::atol(entry->path().filename().c_str()));
                if (thread != self) threads.push_back(thread);
            }
            for (int i = 0; i < 20 && !threads.empty(); ++i) {
                (void)syscall(SYS_tgkill, process, threads[random() % threads.size()], SIGUSR1);
                std::this_thread::sleep_for(std::chrono::microseconds(20 + random() % 50));
            }
        }
    }

    void (*set_threads_)(int);
    void (*set_schedule_)(int, int);
    std::mt19937 random_{1};
};

/// New memory of malloc is filled with numbers that are huge or tiny, by turns, so that what is never written changes results.
void fill_new_memory(int number) {
    constexpr int huge = 0x80;  // memory has the complement, 0x7F7F...: 1.4e306
    constexpr int tiny = 0x5A;
    (void)mallopt(M_PERTURB, number % 2 == 0 ? huge : tiny);
}

}  // namespace

void try_on_host(const MappedTrial& trial) {
    TrialPlan& plan = trial.plan;
    void* const library = dlopen(plan.shared_object.data(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) conclude(plan.verdict, TrialKind::not_loadable, dlerror());
    using Function = void (*)(const void* arrays, const void* x, void* y, bool accumulate);
    const auto function = reinterpret_cast<Function>(dlsym(library, plan.function.data()));
    if (function == nullptr) conclude(plan.verdict, TrialKind::no_function);

    const int count = plan.array_count;
    const unsigned char* x = nullptr;
    unsigned char* y = nullptr;
    alignas(16) std::array<unsigned char, most_trial_arguments> arguments = plan.arguments;
    for (int i = 0; i < count; ++i) {
        TrialArray& array = plan.arrays[i];
        unsigned char* const address = map_array(trial, array, i == count - 1 ? PROT_READ | PROT_WRITE : PROT_READ);
        if (i == count - 1) {
            y = address;
        } else if (i == count - 2) {
            x = address;
        } else {
            std::memcpy(arguments.data() + array.pointer, &address, sizeof(address));
        }
    }
    const TrialArray& of_y = plan.arrays[count - 1];
    unsigned char* const first = y - (of_y.offset - of_y.pages);
    unsigned char* const last = first + of_y.page_bytes();
    unsigned char* const end = y + of_y.bytes;
    std::fill(first, y, trial_guard);
    std::fill(end, last, trial_guard);
    const auto changed = [](unsigned char byte) { return byte != trial_guard; };
    const auto multiply = [&](bool accumulate, double limits) {
        if (plan.launch.zero_y && !accumulate) std::fill(y, end, static_cast<unsigned char>(0));
        start_product(plan, accumulate, limits);
        function(arguments.data(), x, y, accumulate);
        set_timer(0);
        plan.array = count - 1;
        if (std::any_of(first, y, changed) || std::any_of(end, last, changed)) conclude(plan.verdict, TrialKind::wrote_outside);
    };
    const auto prepare = reinterpret_cast<void* (*)(const void*)>(dlsym(library, plan.prepare.data()));
    const auto prepare_own = [&] {
        if (prepare == nullptr) return;
        plan.preparing = true;
        start_product(plan, false, 1);
        const void* const prepared = prepare(arguments.data());
        set_timer(0);
        std::memcpy(arguments.data() + plan.prepared, &prepared, sizeof(prepared));
        plan.preparing = false;
    };
    prepare_own();
    std::array<std::vector<unsigned char>, 2> results;
    for (const bool accumulate : {false, true}) {
        if (accumulate && !plan.accumulates) continue;
        multiply(accumulate, 1);
        results[accumulate ? 1 : 0].assign(y, end);
    }
    if (plan.repeats) {
        fill_new_memory(0);
        prepare_own();
        OtherThreads threads(library);
        int number = 0;
        repeat_products(plan, results, [&](bool accumulate, std::vector<unsigned char>& bytes) {
            std::copy(bytes.begin(), bytes.end(), y);
            fill_new_memory(number++);
            const std::string how = threads.change();
            multiply(accumulate, limits_of_repeated);
            bytes.assign(y, end);
            return how;
        });
    }
    conclude(plan.verdict, TrialKind::fine);
}

}  // namespace workbench
