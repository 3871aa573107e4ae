#include "core/system/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

using Clock = std::chrono::steady_clock;

void print(std::string_view text) { (void)(write(STDERR_FILENO, text.data(), text.size()) < 0); }

/// Redirects stdout and stderr of the program to one file, or to a pipe whose contents are printed or returned up to a limit.
class Outputs {
public:
    explicit Outputs(const ProcessOptions& options) : output_(options.output) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions_, options.folder.c_str());
        if (output_ == ProcessOutput::written) {
            posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, options.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                             0600);
        } else if (pipe2(ends_.data(), O_CLOEXEC) == 0) {
            (void)fcntl(ends_[0], F_SETFL, O_NONBLOCK);
            posix_spawn_file_actions_adddup2(&actions_, ends_[1], STDOUT_FILENO);
        } else {
            posix_spawn_file_actions_destroy(&actions_);
            throw MachineError(fmt::format("no pipe for the output of a program: {}", std::strerror(errno)));
        }
        posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    }
    ~Outputs() {
        posix_spawn_file_actions_destroy(&actions_);
        for (const int end : ends_) {
            if (end >= 0) (void)close(end);
        }
    }
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;
    [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
    [[nodiscard]] bool printed() const { return left_ < most_printed_bytes; }

    /// Waits at most this long for output, and takes what is there.
    void wait(std::chrono::microseconds most) {
        if (ends_[0] < 0) return std::this_thread::sleep_for(most);
        pollfd readable{ends_[0], POLLIN, 0};
        const timespec time{0, static_cast<long>(most.count()) * 1000};
        if (ppoll(&readable, 1, &time, nullptr) > 0) take_available();
    }

    /// Takes what is in the pipe, which holds at most as much as one read takes.
    void take_available() {
        std::array<char, 65536> bytes{};
        const ssize_t count = ends_[0] < 0 ? 0 : read(ends_[0], bytes.data(), bytes.size());
        if (count <= 0) return;
        const std::string_view text(bytes.data(), static_cast<std::size_t>(count));
        if (output_ == ProcessOutput::returned) {
            last_ += text;
            if (last_.size() > most_printed_bytes) last_.erase(0, last_.size() - most_printed_bytes);
            return;
        }
        print(text.substr(0, left_));
        if (text.size() > left_ && !cut_) {
            print(fmt::format("\n... the output is cut after {} bytes\n", most_printed_bytes));
            cut_ = true;
        }
        left_ -= std::min(left_, text.size());
    }

    [[nodiscard]] std::string last() && { return std::move(last_); }

private:
    ProcessOutput output_;
    posix_spawn_file_actions_t actions_{};
    std::array<int, 2> ends_{-1, -1};
    std::size_t left_ = most_printed_bytes;
    bool cut_ = false;
    std::string last_;
};

/// Starts the program in a new process group, so that its children can be ended with it.
class OwnGroup {
public:
    OwnGroup() {
        posix_spawnattr_init(&attributes_);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    }
    ~OwnGroup() { posix_spawnattr_destroy(&attributes_); }
    OwnGroup(const OwnGroup&) = delete;
    OwnGroup& operator=(const OwnGroup&) = delete;
    [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_{};
};

/// Returns false if the process still runs at the limit. Does not reap it, so that the ids of the process and its group stay
/// valid.
bool wait_for(pid_t process, double limit_seconds, Outputs& outputs) {
    const auto limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_seconds));
    std::chrono::microseconds pause(200);
    for (;;) {
        siginfo_t ended{};
        const int result = waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
        if ((result == 0 && ended.si_pid == process) || (result < 0 && errno != EINTR)) return true;
        if (Clock::now() > limit) return false;
        outputs.wait(pause);
        pause = std::min(2 * pause, std::chrono::microseconds(20000));
    }
}

}  // namespace

ProcessEnd run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
    std::vector<std::string> words = command;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    Outputs outputs(options);
    const OwnGroup group;
    ProcessEnd end;
    pid_t process = 0;
    const int error =
        posix_spawnp(&process, arguments.front(), outputs.actions(), group.attributes(), arguments.data(), environ);
    if (error != 0) {
        end.not_started = std::strerror(error);
        return end;
    }
    end.too_long = !wait_for(process, options.limit_seconds, outputs);
    (void)kill(-process, SIGKILL);  // also ends the children that it left running
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    outputs.take_available();
    end.printed = outputs.printed();
    end.output = std::move(outputs).last();
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    return end;
}

NoOutput::NoOutput() : kept_{fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)} {
    static const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)std::fflush(stdout);
    if (kept_[0] >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    if (kept_[1] >= 0) (void)dup2(nowhere, STDERR_FILENO);
}

NoOutput::~NoOutput() {
    (void)std::fflush(stdout);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
        if (kept_[i] < 0) continue;
        (void)dup2(kept_[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO);
        (void)close(kept_[i]);
    }
}

bool program_exists(const std::string& name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!name.empty() && access((folder + "/" + name).c_str(), X_OK) == 0) return true;
    }
    return false;
}

WorkFolder::WorkFolder() {
    std::error_code failure;
    const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
    std::string name = (failure ? std::filesystem::path("/tmp") : temporary).string() + "/workbench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        throw MachineError(fmt::format("no folder for temporary files: {}: {}", name, std::strerror(errno)));
    }
    path_ = name;
}

WorkFolder::~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace workbench
