// workbench_trial FILE_DESCRIPTOR (kernels/source/trial_plan.hpp). Only the workbench starts it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/system/child.hpp"
#include "kernels/source/trial_plan.hpp"

namespace workbench {
namespace {

int run(int argc, char** argv) {
    if (argc != 2) {
        (void)std::fputs("workbench_trial is started by the workbench\n", stderr);
        return 2;
    }
    const int file = std::atoi(argv[1]);
    void* const head = mmap(nullptr, sizeof(TrialPlan), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (head == MAP_FAILED) return 2;
    TrialPlan& plan = *static_cast<TrialPlan*>(head);
    const void* const bytes = mmap(nullptr, plan.file_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return 2;
    begin_trial(plan.verdict);
    const MappedTrial trial{plan, file, static_cast<const unsigned char*>(bytes)};
    if (plan.on_gpu) try_on_gpu(trial);
    try_on_host(trial);
}

constexpr unsigned char fill = 0xFF;  // of y before y = A x

/// The first element of y that differs.
std::size_t different_element(const TrialArray& y, const std::vector<unsigned char>& found,
                              const std::vector<unsigned char>& expected) {
    const auto place = std::mismatch(found.begin(), found.end(), expected.begin()).first - found.begin();
    return static_cast<std::size_t>(place) / y.element_bytes;
}

bool is_filled(const TrialArray& y, const std::vector<unsigned char>& found, std::size_t element) {
    const unsigned char* const begin = found.data() + element * y.element_bytes;
    return std::all_of(begin, begin + y.element_bytes, [](unsigned char byte) { return byte == fill; });
}

/// "y[12] is 7 and was 8".
std::string difference(const TrialArray& y, const std::vector<unsigned char>& found, const std::vector<unsigned char>& expected,
                       std::size_t element) {
    const auto value_at = [&](const std::vector<unsigned char>& bytes, std::size_t at) {
        if (y.element_bytes == sizeof(float)) {
            float value = 0;
            std::memcpy(&value, bytes.data() + at, sizeof(value));
            return static_cast<double>(value);
        }
        double value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof(value));
        return value;
    };
    std::array<char, 128> text{};
    (void)std::snprintf(text.data(), text.size(), "y[%zu] is %.10g and was %.10g", element,
                        value_at(found, element * y.element_bytes), value_at(expected, element * y.element_bytes));
    return text.data();
}

/// What the kernel prints from here on is not shown.
void silence() {
    (void)std::fflush(nullptr);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
}

}  // namespace

void start_product(TrialPlan& plan, bool accumulating, double limits) {
    plan.accumulating = accumulating;
    set_timer(std::max(limits * plan.limit_seconds, 1e-3));
}

void repeat_products(TrialPlan& plan, const std::array<std::vector<unsigned char>, 2>& expected,
                     const std::function<std::string(bool accumulate, std::vector<unsigned char>& y)>& run) {
    if (!plan.repeats) return;
    silence();
    const TrialArray& of_y = plan.arrays[plan.array_count - 1];
    const auto begin = std::chrono::steady_clock::now();
    std::vector<unsigned char> y;
    for (int number = 0; number < 2 || std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(250); ++number) {
        for (const bool accumulate : {false, true}) {
            if (accumulate && !plan.accumulates) continue;
            if (accumulate) {
                y = expected[0];
            } else {
                y.assign(of_y.bytes, fill);
            }
            const std::string how = run(accumulate, y);
            const std::vector<unsigned char>& first = expected[accumulate ? 1 : 0];
            if (y == first) continue;
            const std::string with = how.empty() ? "" : " with " + how;
            const std::size_t element = different_element(of_y, y, first);
            if (!accumulate && is_filled(of_y, y, element)) {
                conclude(plan.verdict, TrialKind::unwritten, "y[" + std::to_string(element) + "]" + with);
            }
            conclude(plan.verdict, TrialKind::differs, difference(of_y, y, first, element) + with);
        }
    }
}

}  // namespace workbench

int main(int argc, char** argv) { return workbench::run(argc, argv); }
