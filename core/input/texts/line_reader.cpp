#include "core/input/texts/line_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/system/host_memory.hpp"

namespace workbench {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

}  // namespace

LineReader::LineReader(std::string name, std::unique_ptr<ByteSource> bytes, Note note)
    : name_(std::move(name)), bytes_(std::move(bytes)), note_(std::move(note)), buffer_(std::size_t{1} << 16) {}

void LineReader::fail_at(std::int64_t line, const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", name_, line, what));
}

void LineReader::note(std::int64_t line, const std::string& what) const {
    if (note_) note_(fmt::format("{}:{}: {}", name_, line, what));
}

bool LineReader::read_more(std::vector<char>& buffer, std::size_t& end) {
    if (at_end_) return false;
    try {
        if (end == buffer.size()) {
            if (end >= longest_line_) {
                broken_ = fmt::format("found a line of {} characters or more; expected shorter ones", longest_line_);
                at_end_ = true;
                return false;
            }
            if (end >= usual_longest_line) require_host_memory(2 * end, fmt::format("{}: a line of {} bytes", name_, end));
            buffer.resize(2 * end);
        }
        const std::size_t got = bytes_->read(std::span(buffer).subspan(end));
        end += got;
        at_end_ = got == 0;
    } catch (const BrokenSource& broken) {
        broken_ = broken.what();
        at_end_ = true;
    }
    return !at_end_;
}

bool LineReader::next() {
    ++number_;
    std::size_t searched = begin_;
    for (;;) {
        const char* start = buffer_.data() + begin_;
        if (const void* newline = std::memchr(buffer_.data() + searched, '\n', end_ - searched)) {
            line_ = {start, static_cast<std::size_t>(static_cast<const char*>(newline) - start)};
            begin_ += line_.size() + 1;
            return true;
        }
        std::memmove(buffer_.data(), start, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        searched = end_;
        if (read_more(buffer_, end_)) continue;
        if (!broken_.empty()) fail_at(number_, broken_);
        line_ = {buffer_.data(), end_};
        begin_ = end_;
        open_end_ = true;
        return !line_.empty();
    }
}

bool LineReader::next_block(std::vector<char>& block) {
    block.resize(std::max(block_bytes, end_ - begin_));
    std::size_t end = end_ - begin_;
    std::memcpy(block.data(), buffer_.data() + begin_, end);
    begin_ = end_ = 0;
    for (;;) {
        while (end < block.size() && read_more(block, end)) {
        }
        if (at_end_ && broken_.empty() && end > 0 && block[end - 1] != '\n') {
            block.resize(std::max(block.size(), end + 1));
            block[end++] = '\n';
            open_end_ = true;
        }
        const void* newline = end == 0 ? nullptr : memrchr(block.data(), '\n', end);
        const std::size_t whole = newline == nullptr ? 0 : static_cast<const char*>(newline) - block.data() + 1;
        if (whole > 0 || at_end_) {
            buffer_.resize(std::max(buffer_.size(), end - whole));
            end_ = end - whole;
            std::memcpy(buffer_.data(), block.data() + whole, end_);
            block.resize(whole);
            return whole > 0;
        }
        read_more(block, end);  // the line is longer than the block, which grows
    }
}

}  // namespace workbench
