#include "support/rank_fibers.hpp"

#include <cxxabi.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

namespace workbench {
namespace {

/// The exceptions being handled, of which the C++ runtime keeps one list a thread; each fiber needs a list of its own.
using HandledExceptions = std::array<std::byte, sizeof(void*) + sizeof(unsigned)>;

void swap_handled(HandledExceptions& of_fiber) {
    HandledExceptions now;
    void* const handled = abi::__cxa_get_globals();
    std::memcpy(now.data(), handled, now.size());
    std::memcpy(handled, of_fiber.data(), of_fiber.size());
    of_fiber = now;
}

struct RankFiber {
    static constexpr std::size_t stack_bytes = std::size_t{8} << 20;
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack{new std::byte[stack_bytes]};
    HandledExceptions handled{};
    double now = 0;
    bool ended = false;
};

/// The fibers and what they share.
class FiberRound {
public:
    FiberRound(int size, const std::function<void(Ranks&)>& work, double* clock)
        : fibers_(size), sent_(size, std::vector<Bytes>(size)), work_(work), clock_(clock) {}

    void run();
    /// Returns to the main context, which continues this fiber after all others have reached the same call.
    void wait();
    void run_fiber(int rank);

    [[nodiscard]] int size() const { return static_cast<int>(fibers_.size()); }
    [[nodiscard]] std::vector<std::vector<Bytes>>& sent() { return sent_; }  // [from][to]

private:
    void prepare(int rank);

    std::vector<RankFiber> fibers_;
    std::vector<std::vector<Bytes>> sent_;
    const std::function<void(Ranks&)>& work_;
    double* clock_;
    ucontext_t main_{};
    int running_ = 0;
    std::exception_ptr failure_;
};

FiberRound* current_round = nullptr;

class FiberRank final : public Ranks {
public:
    FiberRank(FiberRound& round, int rank) : round_(round), rank_(rank) {}

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return round_.size(); }
    [[nodiscard]] int rank_on_machine() const override { return rank_; }
    [[nodiscard]] std::string engine() const override { return "fibers"; }

    [[nodiscard]] std::vector<Bytes> gather(std::span<const std::byte> mine) override {
        return exchange(std::vector<Bytes>(size(), Bytes(mine.begin(), mine.end())));
    }
    void gather(std::span<const double> mine, std::span<double> all) override {
        if (all.size() != mine.size() * size()) throw std::logic_error("ranks gather as many numbers as they give");
        auto place = std::as_writable_bytes(all).begin();
        for (const Bytes& of_rank : gather(std::as_bytes(mine))) place = std::copy(of_rank.begin(), of_rank.end(), place);
    }
    [[nodiscard]] std::vector<Bytes> exchange(const std::vector<Bytes>& to) override {
        round_.sent()[rank_] = to;
        barrier();
        std::vector<Bytes> received;
        for (int rank = 0; rank < size(); ++rank) received.push_back(round_.sent()[rank].at(rank_));
        barrier();
        return received;
    }
    void start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
        outgoing_ = std::vector<Bytes>(size());
        for (const Outgoing& message : outgoing) outgoing_[message.to].assign(message.bytes.begin(), message.bytes.end());
        incoming_.assign(incoming.begin(), incoming.end());
    }
    void finish() override {
        const std::vector<Bytes> received = exchange(outgoing_);
        for (const Incoming& message : incoming_) {
            if (received[message.from].size() != message.bytes.size()) throw std::logic_error("messages of different sizes");
            std::copy(received[message.from].begin(), received[message.from].end(), message.bytes.begin());
        }
    }
    void barrier() override { round_.wait(); }
    [[noreturn]] void end_all(ExitCode) override { throw std::logic_error("end_all"); }

private:
    FiberRound& round_;
    int rank_;
    std::vector<Bytes> outgoing_;
    std::vector<Incoming> incoming_;
};

void start_fiber(int rank) { current_round->run_fiber(rank); }

void FiberRound::prepare(int rank) {
    RankFiber& fiber = fibers_[rank];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = RankFiber::stack_bytes;
    fiber.context.uc_link = &main_;
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(start_fiber), 1, rank);
    fiber.now = clock_ == nullptr ? 0 : *clock_;
}

void FiberRound::run() {
    FiberRound* const outer = std::exchange(current_round, this);
    for (int rank = 0; rank < size(); ++rank) prepare(rank);
    const auto goes_on = [](const RankFiber& fiber) { return !fiber.ended; };
    while (std::any_of(fibers_.begin(), fibers_.end(), goes_on)) {
        for (running_ = 0; running_ < size(); ++running_) {
            RankFiber& fiber = fibers_[running_];
            if (fiber.ended) continue;
            if (clock_ != nullptr) *clock_ = fiber.now;
            swap_handled(fiber.handled);
            swapcontext(&main_, &fiber.context);
            swap_handled(fiber.handled);
            if (clock_ != nullptr) fiber.now = *clock_;
        }
        // Ranks that end while others wait for them would leave these waiting.
        const auto ended = std::ranges::count_if(fibers_, &RankFiber::ended);
        if (ended > 0 && ended < size() && failure_ == nullptr) {
            failure_ = std::make_exception_ptr(std::logic_error("a rank waits for one that has ended"));
        }
    }
    current_round = outer;
    if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void FiberRound::wait() {
    if (failure_ == nullptr) swapcontext(&fibers_[running_].context, &main_);
    if (failure_ != nullptr) throw std::runtime_error("another rank has failed");
}

void FiberRound::run_fiber(int rank) {
    FiberRank ranks(*this, rank);
    try {
        work_(ranks);
    } catch (...) {
        if (failure_ == nullptr) failure_ = std::current_exception();
    }
    fibers_[rank].ended = true;
}

}  // namespace

void on_rank_fibers(int size, const std::function<void(Ranks&)>& work, double* clock) { FiberRound(size, work, clock).run(); }

}  // namespace workbench
