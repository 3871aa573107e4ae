#include "core/system/kokkos_runtime.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

constexpr const char* threads_of_openmp = "OMP_NUM_THREADS";
constexpr const char* threads_of_kokkos = "KOKKOS_NUM_THREADS";
constexpr int most_threads = 512;  // the pool of Kokkos has room for these

/// A variable that contains a whole number, and the least one.
struct NumberVariable {
    const char* name;
    int least;
};
constexpr std::array numbers_of_kokkos{NumberVariable{threads_of_kokkos, 1},     NumberVariable{"KOKKOS_NUMA", 1},
                                       NumberVariable{"KOKKOS_DEVICE_ID", 0},    NumberVariable{"KOKKOS_NUM_DEVICES", 0},
                                       NumberVariable{"KOKKOS_RAND_DEVICES", 0}, NumberVariable{"KOKKOS_SKIP_DEVICE", 0}};

/// A whole number between blanks; one that is too large for an int is the largest int.
std::optional<int> whole_number_in(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || text.front() == '-' || end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) return std::numeric_limits<int>::max();
    return error == std::errc{} ? std::optional(number) : std::nullopt;
}

[[noreturn]] void refuse(const char* name, std::string_view value, const std::string& expected) {
    constexpr std::size_t most_shown = 60;  // characters
    throw UserError(ExitCode::bad_recipe, fmt::format("the environment variable {} is '{}'; expected {}", name,
                                                      printable(value, most_shown), expected));
}

/// The parts of OMP_NUM_THREADS: one number for each level of nested parallel regions.
void check_threads_of_openmp() {
    const char* const value = std::getenv(threads_of_openmp);
    if (value == nullptr) return;
    std::string_view rest = value;
    for (bool more = true; more;) {
        const std::size_t comma = rest.find(',');
        if (whole_number_in(rest.substr(0, comma)).value_or(0) < 1)
            refuse(threads_of_openmp, value, "a whole number, at least 1");
        more = comma != std::string_view::npos;
        rest.remove_prefix(more ? comma + 1 : 0);
    }
}

/// The processors that a control group grants: "QUOTA PERIOD" in version 2, two files in version 1. Infinite: no quota.
double quota_of(const std::string& group) {
    double quota = 0;
    double period = 0;
    std::ifstream both(group + "/cpu.max");
    if (!(both >> quota >> period)) {
        std::ifstream(group + "/cpu.cfs_quota_us") >> quota;
        std::ifstream(group + "/cpu.cfs_period_us") >> period;
    }
    return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

int usable_threads() {
    const int processors = std::min(omp_get_num_procs(), most_threads);
    return std::max(std::min(processors, processors_of_quota("/").value_or(processors)), 1);
}

/// The processors of all processes of this machine, within this process's quota, which they share.
int processors_of_machine() {
    const auto online = static_cast<int>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
    return std::min(online, processors_of_quota("/").value_or(online));
}

/// While it lives, the environment has no variables of Kokkos except those of its tools: Kokkos reads some in a way of its own
/// (0 threads lose loops, a device chosen at random among one that is skipped never ends), and refuses some beside arguments.
class HiddenVariables {
public:
    HiddenVariables() {
        for (char** entry = environ; *entry != nullptr; ++entry) {
            const std::string_view text = *entry;
            const bool is_of_tools = text.starts_with("KOKKOS_PROFILE") || text.starts_with("KOKKOS_TOOLS");
            if (!text.starts_with("KOKKOS_") || is_of_tools) continue;
            const std::size_t end = text.find('=');
            hidden_.emplace_back(text.substr(0, end), text.substr(std::min(end, text.size() - 1) + 1));
        }
        for (const auto& [name, value] : hidden_) (void)unsetenv(name.c_str());
    }
    ~HiddenVariables() {
        for (const auto& [name, value] : hidden_) (void)setenv(name.c_str(), value.c_str(), 1);
    }
    HiddenVariables(const HiddenVariables&) = delete;
    HiddenVariables& operator=(const HiddenVariables&) = delete;

private:
    std::vector<std::pair<std::string, std::string>> hidden_;
};

}  // namespace

void check_thread_variables() {
    check_threads_of_openmp();
    for (const auto& [name, least] : numbers_of_kokkos) {
        const char* const value = std::getenv(name);
        if (value == nullptr || whole_number_in(value).value_or(-1) >= least) continue;
        refuse(name, value, fmt::format("a whole number, at least {}", least));
    }
}

std::optional<int> processors_of_quota(const std::filesystem::path& root) {
    // "0::/user.slice/job" in version 2, "4:cpu,cpuacct:/job" in version 1. The quotas of the groups around a group count, too.
    double least = std::numeric_limits<double>::infinity();
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
        const std::string top = (root / (controllers.empty() ? "sys/fs/cgroup" : "sys/fs/cgroup/cpu")).string();
        std::string group = line.substr(second + 1);
        for (; !group.empty(); group.erase(std::min(group.rfind('/'), group.size())))
            least = std::min(least, quota_of(top + group));
        least = std::min(least, quota_of(top));
    }
    if (!std::isfinite(least)) return std::nullopt;
    constexpr double most = 1 << 30;
    return static_cast<int>(std::clamp(std::ceil(least), 1.0, most));
}

ProcessorsOfPlaces::ProcessorsOfPlaces() {
    CPU_ZERO(&processors_);
    if (omp_get_proc_bind() == omp_proc_bind_false) return;
    for (int place = 0; place < omp_get_num_places(); ++place) {
        std::vector<int> ids(std::max(omp_get_place_num_procs(place), 0));
        omp_get_place_proc_ids(place, ids.data());
        for (const int id : ids) CPU_SET(id, &processors_);  // ignores those beyond its size
    }
}

void ProcessorsOfPlaces::use() const {
    if (CPU_COUNT(&processors_) > 0) (void)sched_setaffinity(0, sizeof processors_, &processors_);
}

int share_of_threads(int usable, int processors, int processes) {
    return std::clamp(processors / std::max(processes, 1), 1, usable);
}

KokkosRuntime::KokkosRuntime(const std::function<void(const std::string&)>& note, int processes_on_machine) {
    check_thread_variables();
    const char* const of_kokkos = std::getenv(threads_of_kokkos);
    const int requested = of_kokkos == nullptr ? omp_get_max_threads() : whole_number_in(of_kokkos).value();
    const bool is_requested = of_kokkos != nullptr || std::getenv(threads_of_openmp) != nullptr;
    const int usable = usable_threads();
    const int threads =
        std::min(requested, is_requested ? usable : share_of_threads(usable, processors_of_machine(), processes_on_machine));
    const char* const variable = of_kokkos == nullptr ? threads_of_openmp : threads_of_kokkos;
    if (const char* const value = std::getenv(variable); note && value != nullptr && threads < requested) {
        note(fmt::format("note: {} = {} is more than the processors that this process may use; it runs {}", variable, value,
                         counted(threads, "thread")));
    }
    // Kokkos takes the number of threads of a first parallel region of OpenMP, and later regions must not have fewer.
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    const HiddenVariables hidden;
    // Kokkos' own advice on OMP_PROC_BIND would stand in the middle of the program's output.
    std::string program = "workbench";
    std::string quiet = "--kokkos-disable-warnings";
    std::array<char*, 3> arguments{program.data(), quiet.data(), nullptr};
    int count = 2;
    Kokkos::initialize(count, arguments.data());
}

KokkosRuntime::~KokkosRuntime() { Kokkos::finalize(); }

}  // namespace workbench
