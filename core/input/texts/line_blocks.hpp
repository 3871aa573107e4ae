// Parallel parsing of the lines of a text. Errors are the same as those of one thread.
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/input/texts/line_reader.hpp"
#include "core/matrix/host_threads.hpp"

namespace workbench {

/// The line of each item in a block. Items mostly stand on consecutive lines, so only the exceptions are stored.
class ItemLines {
public:
    /// Records the line of an item; both are counted from 0, and items come in order.
    void add(std::int64_t item, std::int64_t line) {
        if (line - item == shift_) return;
        shift_ = line - item;
        jumps_.push_back({item, shift_});
    }
    [[nodiscard]] std::int64_t line_of(std::int64_t item) const {
        const auto after = std::ranges::upper_bound(jumps_, item, {}, &Jump::item);
        return item + (after == jumps_.begin() ? 0 : std::prev(after)->shift);
    }
    [[nodiscard]] std::size_t bytes() const { return jumps_.size() * sizeof(Jump); }

private:
    struct Jump {
        std::int64_t item;
        std::int64_t shift;
    };
    std::int64_t shift_ = 0;
    std::vector<Jump> jumps_;
};

/// The result of parsing one block; readers derive from it to add what they found.
struct BlockOutcome {
    std::int64_t first_line = 0;  // number in the text, known once all blocks are parsed
    std::int64_t lines = 0;       // parsed without an error
    ItemLines item_lines;
    bool failed = false;  // on the line after these
    LineError error;
};

/// The place of a block in the text, for outcomes that have a member `place`: counting lines takes some of the time in which
/// only one thread reads.
struct BlockPlace {
    std::int64_t lines_before = 0;  // among those that are parsed in blocks
    bool open_end = false;          // its last line lacks the newline
};

/// Parses the remaining lines in blocks on all threads. parse(block, outcome) counts the lines it has parsed, throws LineError
/// for a bad line and returns false to stop; other exceptions are rethrown here. `Outcome` derives from BlockOutcome. Returns
/// the outcomes in the order of the text: all blocks before the first that failed, and perhaps some after it. One thread reads
/// at a time, so that decompression overlaps with parsing.
template <typename Outcome, typename Parse>
std::deque<Outcome> parse_blocks(LineReader& lines, const Parse& parse) {
    std::deque<Outcome> outcomes;
    std::mutex reading;
    std::atomic<bool> stop = false;
    std::exception_ptr failure;
    std::int64_t lines_read = 0;
    const auto next_outcome = [&](std::vector<char>& block) -> Outcome* {
        const std::scoped_lock lock(reading);
        if (stop || !lines.next_block(block)) return nullptr;
        Outcome& outcome = outcomes.emplace_back();
        if constexpr (requires { outcome.place; }) {
            outcome.place = {lines_read, lines.open_end()};
            lines_read += std::count(block.begin(), block.end(), '\n');
        }
        return &outcome;
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

/// Throws InputError if the block failed.
inline void check_outcome(const LineReader& lines, const BlockOutcome& outcome) {
    if (outcome.failed) lines.fail_at(outcome.first_line + outcome.lines, outcome.error.what);
}

}  // namespace workbench
