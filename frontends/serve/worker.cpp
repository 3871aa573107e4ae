#include "frontends/serve/worker.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/contract/failure.hpp"
#include "core/system/child.hpp"

namespace workbench {
namespace {

using Work = std::function<std::string(const std::string& request, const GoOn& go_on)>;
using Clock = std::chrono::steady_clock;

/// The kinds of messages: a request, and the answers of the child about it.
enum class MessageKind : std::int64_t { request, taken, done, failed };

struct MessageHead {
    std::int64_t number = 0;  // of the request
    MessageKind kind = MessageKind::request;
    std::uint64_t bytes = 0;  // that follow
};

std::string framed(std::int64_t number, MessageKind kind, std::string_view text) {
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

void throw_if_request_waits(int file) {
    pollfd ready{file, POLLIN, 0};
    if (poll(&ready, 1, 0) > 0) throw Replaced();
}

void answer_requests(const Work& work, int file) {
    MessageHead head;
    while (read_all(file, reinterpret_cast<char*>(&head), sizeof(head))) {
        std::string request(head.bytes, '\0');
        if (!read_all(file, request.data(), request.size())) return;
        if (!send_all(file, framed(head.number, MessageKind::taken, ""))) return;
        std::string answer;
        try {
            answer = framed(head.number, MessageKind::done, work(request, [file] { throw_if_request_waits(file); }));
        } catch (const Replaced&) {
            continue;
        } catch (...) {
            answer = framed(head.number, MessageKind::failed, current_failure().text);
        }
        if (!send_all(file, answer)) return;
    }
}

/// In the child: connections and the listening socket are closed, so that clients see the server's end of them.
[[noreturn]] void work_in_child(const Work& work, int connection) {
    constexpr int kept = 3;
    if (connection != kept) (void)dup2(connection, kept);
    (void)close_range(kept + 1, ~0U, 0);
    answer_requests(work, kept);
    _exit(0);
}

}  // namespace

/// A child process that answers requests. The destructor ends it.
class Worker::Answerer {
public:
    Answerer(const Work& work, std::mutex& forking) {
        {
            const std::scoped_lock lock(forking);
            child_.emplace(ChildOptions{.output = ChildOutput::nowhere, .connected = true});
        }
        if (child_->inside()) work_in_child(work, child_->connection());
    }

    /// Begins to send a request. The request before must have been sent completely.
    void give(std::int64_t number, const std::string& request) {
        unsent_ = framed(number, MessageKind::request, request);
        was_taken = false;
    }

    /// Sends and receives what is possible, and waits for it up to a few milliseconds. Returns false if the child has ended.
    bool exchange() {
        constexpr int poll_milliseconds = 5;
        if (unsent_.empty()) return child_->receive(received_, poll_milliseconds);
        pollfd ready{child_->connection(), POLLIN | POLLOUT, 0};
        if (poll(&ready, 1, poll_milliseconds) <= 0) return true;
        const ssize_t count = send(child_->connection(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));
        return child_->receive(received_, 0);
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
            if (head.kind != MessageKind::taken) {
                return WorkResult{head.kind == MessageKind::done ? WorkResult::WorkEnd::done : WorkResult::WorkEnd::failed,
                                  std::move(text)};
            }
            was_taken = true;
        }
        return std::nullopt;
    }

    /// Waits for the end of the child, and returns a result that says how it ended.
    [[nodiscard]] WorkResult loss() { return {WorkResult::WorkEnd::lost, child_->wait().text_of_loss()}; }

    [[nodiscard]] bool has_all() const { return unsent_.empty(); }
    bool was_taken = false;  // the child works on the request

private:
    std::optional<Child> child_;
    std::string unsent_;
    std::string received_;
};

Worker::Worker(std::mutex& forking, Work work) : forking_(forking), work_(std::move(work)) {}
Worker::~Worker() = default;

WorkResult Worker::run(const std::string& request, double limit_seconds, const std::function<Wanted()>& wanted, bool last) {
    using WorkEnd = WorkResult::WorkEnd;
    constexpr double patience_seconds = 0.1;  // for the next step of older work
    const std::scoped_lock turn(turn_);
    if (stopped_ || wanted() != Wanted::yes) return {WorkEnd::unwanted};
    const long number = ++last_;
    const auto begin = Clock::now();
    bool is_new = child_ == nullptr;
    const auto renew = [&] {
        child_.reset();
        child_ = std::make_unique<Answerer>(work_, forking_);
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
        const Wanted now = wanted();
        if (stopped_ || now != Wanted::yes) {
            if (stopped_ || now == Wanted::gone || !child_->has_all()) child_.reset();
            return {WorkEnd::unwanted};
        }
        if (passed > limit_seconds) {
            child_.reset();
            return {WorkEnd::too_long};
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
