// The lines of a text, parsed by all threads at once, with errors as if one had read them in order.
#pragma once

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/input/line_reader.hpp"
#include "pipeline/matrix/host_threads.hpp"

namespace workbench {

/// What is wrong with a line of a block.
struct LineError {
    std::string what;
};

/// Which line each item of a block stands on. As a rule one follows the other, so that only the exceptions are kept.
class ItemLines {
public:
    /// Item number `item` stands on this line; both from 0, called in order.
    void add(std::int64_t item, std::int64_t line) {
        if (line - item == shift_) return;
        shift_ = line - item;
        jumps_.push_back({item, shift_});
    }
    [[nodiscard]] std::int64_t line_of(std::int64_t item) const;
    [[nodiscard]] std::size_t bytes() const { return jumps_.size() * sizeof(Jump); }

private:
    struct Jump {
        std::int64_t item;
        std::int64_t shift;
    };
    std::int64_t shift_ = 0;
    std::vector<Jump> jumps_;
};

/// What became of a block; readers add what they found in it.
struct BlockOutcome {
    std::int64_t first_line = 0;  // its number in the text, once all are parsed
    std::int64_t lines = 0;       // that were parsed
    ItemLines item_lines;
    bool failed = false;  // on the line behind these
    LineError error;
};

/// Hands out the remaining lines of `lines` in blocks to all threads. `parse(block, outcome)` is called from several threads at
/// once, each time with an Outcome of its own, which is a BlockOutcome; it counts the lines, throws LineError for a bad one and
/// returns whether to go on. The outcomes come back in the order of the text. Behind one that failed there may be others; all
/// that lie before it are there. Other exceptions of `parse` are passed on. Reading is one thread's work at a time, so that
/// decompressing goes on beside parsing.
template <typename Outcome, typename Parse>
std::deque<Outcome> parse_blocks(LineReader& lines, const Parse& parse) {
    std::deque<Outcome> outcomes;
    std::mutex reading;
    std::atomic<bool> stop = false;
    std::exception_ptr failure;
    const auto next_outcome = [&](std::vector<char>& block) -> Outcome* {
        const std::scoped_lock lock(reading);
        return !stop && lines.next_block(block) ? &outcomes.emplace_back() : nullptr;
    };
    const auto work = [&](int /*thread*/) {
        std::vector<char> block;
        try {
            while (Outcome* outcome = next_outcome(block)) {
                try {
                    if (!parse(std::string_view(block.data(), block.size()), *outcome)) stop = true;
                } catch (LineError& error) {
                    outcome->failed = true;
                    outcome->error = std::move(error);
                    stop = true;
                }
            }
        } catch (...) {
            const std::scoped_lock lock(reading);
            failure = std::current_exception();
            stop = true;
        }
    };
    using Host = Kokkos::DefaultHostExecutionSpace;
    Kokkos::parallel_for("parse_blocks", Kokkos::RangePolicy<Host, Kokkos::IndexType<int>>(0, host_threads()), work);
    if (failure) std::rethrow_exception(failure);
    std::int64_t line = lines.number() + 1;
    for (Outcome& outcome : outcomes) {
        outcome.first_line = line;
        line += outcome.lines;
    }
    return outcomes;
}

/// Throws InputError where the block failed.
inline void check_outcome(const LineReader& lines, const BlockOutcome& outcome) {
    if (outcome.failed) lines.fail_at(outcome.first_line + outcome.lines, outcome.error.what);
}

}  // namespace workbench
