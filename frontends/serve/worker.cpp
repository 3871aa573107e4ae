#include "frontends/serve/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/contract/failure.hpp"

namespace workbench {
namespace {

using Work = std::function<std::string(const std::string& request, const GoOn& go_on)>;
using Clock = std::chrono::steady_clock;

/// The kinds of messages: a request, and the answers of the child about it.
enum class Kind : std::int64_t { request, taken, done, failed };

struct MessageHead {
    std::int64_t number = 0;  // of the request
    Kind kind = Kind::request;
    std::uint64_t bytes = 0;  // that follow
};

std::string framed(std::int64_t number, Kind kind, std::string_view text) {
    const MessageHead head{number, kind, text.size()};
    return std::string(reinterpret_cast<const char*>(&head), sizeof(head)).append(text);
}

/// Thrown when a newer request waits, to end the run of an older one.
struct Replaced {};

/// Returns false at the end of the stream.
bool read_all(int file, char* bytes, std::size_t count) {
    while (count > 0) {
        const ssize_t got = read(file, bytes, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        count -= static_cast<std::size_t>(got);
    }
    return true;
}

/// Returns false if the other end of the connection was closed.
bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = send(file, text.data(), text.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

void throw_if_request_waits(int file) {
    pollfd ready{file, POLLIN, 0};
    if (poll(&ready, 1, 0) > 0) throw Replaced();
}

void answer_requests(const Work& work, int file) {
    MessageHead head;
    while (read_all(file, reinterpret_cast<char*>(&head), sizeof(head))) {
        std::string request(head.bytes, '\0');
        if (!read_all(file, request.data(), request.size())) return;
        if (!write_all(file, framed(head.number, Kind::taken, ""))) return;
        std::string answer;
        try {
            answer = framed(head.number, Kind::done, work(request, [file] { throw_if_request_waits(file); }));
        } catch (const Replaced&) {
            continue;
        } catch (...) {
            answer = framed(head.number, Kind::failed, current_failure().text);
        }
        if (!write_all(file, answer)) return;
    }
}

/// The child: connections and the listening socket are closed, so that clients see the server's end of them.
[[noreturn]] void work_in_child(const Work& work, int connection, pid_t parent) {
    (void)setpgid(0, 0);  // the terminal's Ctrl-C does not reach it
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(signal, SIG_DFL);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, nullptr);  // the server's threads block these signals
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) (void)dup2(nowhere, standard);
    constexpr int kept = 3;
    if (connection != kept) (void)dup2(connection, kept);
    (void)close_range(kept + 1, ~0U, 0);
    answer_requests(work, kept);
    _exit(0);
}

}  // namespace

/// A child process and the connection to it. The destructor ends it.
class Worker::Child {
public:
    Child(const Work& work, std::mutex& forking) {
        std::array<int, 2> ends{};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            throw MachineError("cannot create a connection to a child process");
        }
        const pid_t parent = getpid();
        {
            const std::scoped_lock lock(forking);
            child_ = fork();
        }
        if (child_ == 0) work_in_child(work, ends[1], parent);
        (void)close(ends[1]);
        connection_ = ends[0];
        if (child_ > 0) return;
        (void)close(connection_);
        throw MachineError(fmt::format("cannot start a child process ({})", std::strerror(errno)));
    }
    ~Child() {
        (void)kill(-child_, SIGKILL);
        (void)kill(child_, SIGKILL);  // in case it has not yet called setpgid
        (void)close(connection_);
        if (!ended_) (void)wait_for_end();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Begins to send a request. The request before must have been sent completely.
    void give(std::int64_t number, const std::string& request) {
        unsent_ = framed(number, Kind::request, request);
        was_taken = false;
    }

    /// Sends and receives what is possible, and waits for it up to a few milliseconds. Returns false if the child has ended.
    bool exchange() {
        constexpr int poll_milliseconds = 5;
        const bool sends = !unsent_.empty();
        pollfd ready{connection_, static_cast<short>(POLLIN | (sends ? POLLOUT : 0)), 0};
        if (poll(&ready, 1, poll_milliseconds) <= 0) return true;
        if ((ready.revents & POLLOUT) != 0) {
            const ssize_t count = send(connection_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));
        }
        if ((ready.revents & ~POLLOUT) == 0) return true;
        std::array<char, 65536> buffer{};
        const ssize_t count = recv(connection_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count < 0) return errno == EINTR || errno == EAGAIN;
        received_.append(buffer.data(), static_cast<std::size_t>(count));
        return count > 0;
    }

    /// Returns the result of this request if it has arrived, and drops results of other requests.
    [[nodiscard]] std::optional<WorkResult> result_of(std::int64_t number) {
        while (received_.size() >= sizeof(MessageHead)) {
            MessageHead head;
            std::memcpy(&head, received_.data(), sizeof(head));
            if (received_.size() - sizeof(head) < head.bytes) break;
            std::string text = received_.substr(sizeof(head), head.bytes);
            received_.erase(0, sizeof(head) + head.bytes);
            if (head.number != number) continue;
            if (head.kind != Kind::taken) {
                return WorkResult{head.kind == Kind::done ? WorkResult::End::done : WorkResult::End::failed, std::move(text)};
            }
            was_taken = true;
        }
        return std::nullopt;
    }

    /// Waits for the end of the child, and returns a result that says how it ended.
    [[nodiscard]] WorkResult loss() {
        const int status = wait_for_end();
        ended_ = true;
        if (!WIFSIGNALED(status)) return {WorkResult::End::lost, fmt::format("exit code {}", WEXITSTATUS(status))};
        const int signal = WTERMSIG(status);
        return {WorkResult::End::lost, fmt::format("killed by signal {} ({}){}", signal, strsignal(signal),
                                                   signal == SIGKILL ? ": the machine may have run out of memory" : "")};
    }

    [[nodiscard]] bool has_all() const { return unsent_.empty(); }
    bool was_taken = false;  // the child works on the request

private:
    [[nodiscard]] int wait_for_end() const {
        int status = 0;
        while (waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
        return status;
    }

    pid_t child_ = -1;
    int connection_ = -1;
    bool ended_ = false;
    std::string unsent_;
    std::string received_;
};

Worker::Worker(std::mutex& forking, Work work) : forking_(forking), work_(std::move(work)) {}
Worker::~Worker() = default;

WorkResult Worker::run(long number, const std::string& request, double limit_seconds, const std::function<bool()>& wanted,
                       bool last) {
    using End = WorkResult::End;
    constexpr double patience_seconds = 0.1;  // for the next step of older work
    const std::scoped_lock turn(turn_);
    if (stopped_) return {End::unwanted};
    if (newest_ != number) return {End::replaced};
    const auto begin = Clock::now();
    bool is_new = child_ == nullptr;
    const auto renew = [&] {
        child_.reset();
        child_ = std::make_unique<Child>(work_, forking_);
    };
    if (is_new) renew();
    child_->give(number, request);
    while (true) {
        const bool goes_on = child_->exchange();
        if (std::optional<WorkResult> result = child_->result_of(number)) {
            if (last) child_.reset();
            return *std::move(result);
        }
        const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
        const bool is_stuck = !child_->was_taken && !is_new && (!goes_on || passed > patience_seconds);
        if (stopped_ || !wanted()) {
            child_.reset();
            return {End::unwanted};
        }
        if (newest_ != number) {
            if (!child_->has_all()) child_.reset();
            return {End::replaced};
        }
        if (passed > limit_seconds) {
            child_.reset();
            return {End::too_long};
        }
        if (is_stuck) {  // in older work, or it ended there
            renew();
            is_new = true;
            child_->give(number, request);
        } else if (!goes_on) {
            const WorkResult loss = child_->loss();
            child_.reset();
            return loss;
        }
    }
}

}  // namespace workbench
