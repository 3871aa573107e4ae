#include "pipeline/input/line_reader.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "pipeline/contract/errors.hpp"

namespace workbench {

void LineReader::Close::operator()(gzFile_s* file) const { gzclose_r(file); }

// zlib rather than libarchive, which does not compare the check sums of gzip files.
LineReader::LineReader(const std::filesystem::path& path)
    : path_(path.string()), file_(gzopen(path.c_str(), "rb")), buffer_(longest_line) {
    if (!file_) throw InputError(fmt::format("{}: cannot be opened: {}", path_, std::strerror(errno)));
    gzbuffer(file_.get(), 1U << 18);
}

void LineReader::fail(const std::string& what) const { throw InputError(fmt::format("{}:{}: {}", path_, number_, what)); }

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
        if (at_end_of_file_) {
            line_ = {start, end_ - begin_};
            begin_ = end_;
            return !line_.empty();
        }
        searched = end_ - begin_;  // where the refill puts the end of what is there
        refill();
    }
}

void LineReader::refill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const std::size_t room = buffer_.size() - end_;
    if (room == 0) fail(fmt::format("found a line of more than {} characters; expected a text file", longest_line));

    const int read = gzread(file_.get(), buffer_.data() + end_, static_cast<unsigned>(room));
    int error = Z_OK;
    gzerror(file_.get(), &error);
    if (error == Z_ERRNO) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (error == Z_BUF_ERROR) fail("found a gzip stream that breaks off; expected a whole one");
    if (read < 0 || error != Z_OK) fail("found a damaged gzip stream; expected one whose check sums agree");
    end_ += static_cast<std::size_t>(read);
    at_end_of_file_ = read == 0;
}

}  // namespace workbench
