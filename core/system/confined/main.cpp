// workbench_confined [--write FOLDER]... [--read FOLDER]... [-- COMMAND...]: runs a command without a network, without files
// of the user other than in these folders, and without a view of other processes. Without a command it prints what this machine
// does not permit, one line each. The folders are absolute. Namespaces need no privileges (user_namespaces(7)).
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr int not_started = 127;

/// A place of the machine that the command sees at the same path.
struct VisiblePath {
    fs::path place;
    fs::path real;  // without symbolic links
    bool writable = false;
};

struct ConfinedPlan {
    std::vector<VisiblePath> shown;
    std::vector<char*> command;  // with a null pointer at the end
};

/// What the machine does not permit.
std::vector<std::string> missing;

bool note(bool works, const std::string& what) {
    if (!works) missing.push_back(what + " (" + std::strerror(errno) + ")");
    return works;
}

void add_shown(ConfinedPlan& plan, const fs::path& place, bool writable) {
    std::error_code failure;
    const fs::path real = fs::canonical(place, failure);
    if (failure || !place.is_absolute() || real == "/") return;
    plan.shown.push_back({real, real, writable});
    if (place != real) plan.shown.push_back({place, real, writable});
}

/// The folders of compilers and libraries, which contain neither homes nor secrets of the system.
void add_system(ConfinedPlan& plan) {
    for (const char* place : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/sys", "/etc/ld.so.cache",
                              "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"}) {
        add_shown(plan, place, false);
    }
    for (const char* name : {"PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH"}) {
        const char* const value = std::getenv(name);
        std::string_view rest = value == nullptr ? "" : value;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(':'), rest.size());
            add_shown(plan, fs::path(rest.substr(0, end)).lexically_normal(), false);
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
}

bool write_text(const char* file, const std::string& text) {
    const int opened = open(file, O_WRONLY | O_CLOEXEC);
    if (opened < 0) return false;
    const bool written = write(opened, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    (void)close(opened);
    return written;
}

void limit_resources() {
    const auto limit = [](auto resource, rlim_t most) {
        rlimit now{};
        if (getrlimit(resource, &now) != 0) return;
        now.rlim_max = std::min(now.rlim_max, most);
        now.rlim_cur = std::min(now.rlim_cur, now.rlim_max);
        (void)setrlimit(resource, &now);
    };
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, rlim_t{4} << 30);  // bytes of a file
    limit(RLIMIT_NOFILE, 4096);
    limit(RLIMIT_NPROC, 8192);
}

/// The user and the group stay, since files of the folders belong to them. Returns false without a user namespace.
bool enter_namespaces() {
    const std::string user = std::to_string(getuid());
    const std::string group = std::to_string(getgid());
    if (!note(unshare(CLONE_NEWUSER) == 0, "files, network and processes are open: no user namespace")) return false;
    (void)write_text("/proc/self/setgroups", "deny");
    const bool mapped = write_text("/proc/self/uid_map", user + " " + user + " 1") &&
                        write_text("/proc/self/gid_map", group + " " + group + " 1");
    if (!note(mapped, "files, network and processes are open: the user cannot be mapped")) return false;
    (void)note(unshare(CLONE_NEWNET) == 0, "the network is open: no network namespace");
    (void)note(unshare(CLONE_NEWPID) == 0, "processes are open: no process namespace");
    (void)unshare(CLONE_NEWIPC);
    return true;
}

/// Mounted read-only, with the other flags that it has and must keep.
bool make_read_only(const fs::path& place) {
    struct statvfs facts {};
    if (statvfs(place.c_str(), &facts) != 0) return false;
    unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
    constexpr std::array<std::pair<unsigned long, unsigned long>, 6> kept{{{ST_NOSUID, MS_NOSUID},
                                                                           {ST_NODEV, MS_NODEV},
                                                                           {ST_NOEXEC, MS_NOEXEC},
                                                                           {ST_NOATIME, MS_NOATIME},
                                                                           {ST_NODIRATIME, MS_NODIRATIME},
                                                                           {ST_RELATIME, MS_RELATIME}}};
    for (const auto& [has, flag] : kept) {
        if ((facts.f_flag & has) != 0) flags |= flag;
    }
    return mount(nullptr, place.c_str(), nullptr, flags, nullptr) == 0;
}

bool show(const fs::path& old_root, const VisiblePath& shown) {
    std::error_code failure;
    const fs::path from = old_root / shown.real.relative_path();
    if (fs::is_directory(from, failure)) {
        fs::create_directories(shown.place, failure);
    } else {
        fs::create_directories(shown.place.parent_path(), failure);
        if (!fs::exists(shown.place, failure)) std::ofstream(shown.place).flush();
    }
    if (mount(from.c_str(), shown.place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return false;
    return shown.writable || make_read_only(shown.place) || shown.place == "/sys";
}

/// Exchanges the root for one in memory, in which only these places are.
bool change_root(const ConfinedPlan& plan) {
    const fs::path old_root = "/old";
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0 || mkdir("/tmp/old", 0700) != 0 ||
        chdir("/tmp") != 0 || syscall(SYS_pivot_root, ".", "old") != 0 || chdir("/") != 0) {
        return false;
    }
    for (const VisiblePath& shown : plan.shown) {
        if (!show(old_root, shown) && shown.writable) return false;
    }
    std::error_code failure;
    for (const char* folder : {"/dev", "/proc", "/tmp"}) fs::create_directories(folder, failure);
    if (mount("/old/dev", "/dev", nullptr, MS_BIND | MS_REC, nullptr) != 0) return false;
    (void)mount("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, nullptr);
    if (!note(mount("none", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0, "processes are open: no /proc") &&
        mount("/old/proc", "/proc", nullptr, MS_BIND | MS_REC, nullptr) != 0) {
        return false;
    }
    return umount2("/old", MNT_DETACH) == 0 && rmdir("/old") == 0;
}

/// From here on, no mount can be undone.
void drop_privileges() {
    for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) (void)prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    const std::array<__user_cap_data_struct, 2> none{};
    (void)syscall(SYS_capset, &head, none.data());
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/// In a copy of this process. Returns how it ended, as waitpid does.
int run_in_copy(const auto& work) {
    const pid_t copy = fork();
    if (copy == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        work();
        _exit(not_started);
    }
    int status = not_started << 8;
    for (pid_t ended = copy; copy > 0 && ended != -1;) {
        int its = 0;
        ended = waitpid(-1, &its, 0);
        if (ended == copy) return its;
        if (ended < 0 && errno == EINTR) ended = 0;
    }
    return status;
}

void run_command(const ConfinedPlan& plan) {
    drop_privileges();
    if (plan.command.size() == 1) {
        for (const std::string& what : missing) (void)std::puts(what.c_str());
        std::exit(0);
    }
    (void)execvp(plan.command.front(), plan.command.data());
    (void)std::fprintf(stderr, "%s: %s\n", plan.command.front(), std::strerror(errno));
}

/// The first process of the namespace of processes; they end with it. `to`: where the end of the command is written.
void be_first(const ConfinedPlan& plan, const fs::path& folder, int to) {
    if (!note(change_root(plan), "files are open: the root cannot be changed")) (void)chdir(folder.c_str());
    std::error_code failure;
    fs::current_path(fs::exists(folder, failure) ? folder : "/", failure);
    const int status = run_in_copy([&] { run_command(plan); });
    (void)(write(to, &status, sizeof(status)) < 0);
    _exit(0);
}

/// Ends as the command did.
[[noreturn]] void end_as(int status) {
    if (WIFSIGNALED(status)) {
        (void)std::signal(WTERMSIG(status), SIG_DFL);
        (void)kill(getpid(), WTERMSIG(status));
    }
    std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : not_started);
}

int run(int argc, char** argv) {
    ConfinedPlan plan;
    add_system(plan);
    int next = 1;
    for (; next + 1 < argc && std::string_view(argv[next]) != "--"; next += 2) {
        const std::string_view option = argv[next];
        if (option != "--read" && option != "--write") break;
        add_shown(plan, argv[next + 1], option == "--write");
    }
    if (next < argc && std::string_view(argv[next]) != "--") {
        (void)std::fputs("workbench_confined is started by the workbench\n", stderr);
        return 2;
    }
    // A folder before those inside it, which it would cover otherwise; what is writable last.
    std::stable_sort(plan.shown.begin(), plan.shown.end(), [](const VisiblePath& a, const VisiblePath& b) {
        return std::pair(a.place.string().size(), a.writable) < std::pair(b.place.string().size(), b.writable);
    });
    plan.command.assign(argv + std::min(next + 1, argc), argv + argc);
    plan.command.push_back(nullptr);
    limit_resources();
    std::error_code failure;
    const fs::path folder = fs::current_path(failure);
    std::array<int, 2> ends{};
    if (!enter_namespaces() || pipe2(ends.data(), O_CLOEXEC) != 0) {
        end_as(run_in_copy([&] { run_command(plan); }));
    }
    const int of_first = run_in_copy([&] { be_first(plan, folder, ends[1]); });
    (void)close(ends[1]);
    int status = 0;
    end_as(read(ends[0], &status, sizeof(status)) == sizeof(status) ? status : of_first);
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) { return workbench::run(argc, argv); }
