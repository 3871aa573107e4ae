#include "pipeline/input/decompression.hpp"

#include <archive_entry.h>
#include <fmt/core.h>
#include <zlib.h>

#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/input/libarchive.hpp"

namespace workbench {
namespace {

class Gunzip final : public ByteSource {
public:
    explicit Gunzip(std::unique_ptr<ByteSource> source) : source_(std::move(source)), input_(std::size_t{1} << 18) {
        constexpr int largest_window_of_gzip = 15 + 16;
        if (inflateInit2(&stream_, largest_window_of_gzip) != Z_OK) throw std::bad_alloc();
    }
    ~Gunzip() override { inflateEnd(&stream_); }

    [[nodiscard]] std::size_t read(std::span<char> buffer) override {
        if (!broken_.empty()) throw BrokenSource(broken_);
        buffer = buffer.first(std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max()));
        stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream_.avail_out = static_cast<uInt>(buffer.size());
        try {
            while (stream_.avail_out > 0 && inflate_further()) {
            }
        } catch (const BrokenSource& broken) {  // what lies before the damage is given first
            broken_ = broken.what();
            if (stream_.avail_out == buffer.size()) throw;
        }
        return buffer.size() - stream_.avail_out;
    }

    /// Deflate cannot do better than 258 bytes for two bits.
    [[nodiscard]] std::uintmax_t most_bytes() const override {
        constexpr std::uintmax_t best_ratio = 1032;
        const std::uintmax_t packed = source_->most_bytes();
        return packed > unknown_size / best_ratio ? unknown_size : packed * best_ratio;
    }

private:
    // False at the end.
    bool inflate_further() {
        if (stream_.avail_in == 0) {
            stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
            stream_.avail_in = static_cast<uInt>(source_->read(input_));
            if (stream_.avail_in == 0) {
                if (in_member_) throw BrokenSource("found a gzip stream that breaks off; expected a whole one");
                return false;
            }
        }
        if (!in_member_) return start_member();
        const int status = inflate(&stream_, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            in_member_ = false;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            throw BrokenSource("found a damaged gzip stream; expected one whose check sums agree");
        }
        return true;
    }

    // Another member may follow the last one, or the zeros with which tapes are filled up.
    bool start_member() {
        if (*stream_.next_in == 0) {
            ++stream_.next_in;
            --stream_.avail_in;
            return true;
        }
        inflateReset(&stream_);
        in_member_ = true;
        return true;
    }

    std::unique_ptr<ByteSource> source_;
    std::vector<char> input_;
    z_stream stream_{};
    bool in_member_ = true;
    std::string broken_;
};

class ArchiveFilter final : public ByteSource {
public:
    ArchiveFilter(std::unique_ptr<ByteSource> source, std::string_view name)
        : reader_(std::move(source)), stream_(fmt::format("{} stream", name)) {}

    [[nodiscard]] std::size_t read(std::span<char> buffer) override {
        if (!open_) open();
        return empty_ ? 0 : reader_.read(buffer, stream_);
    }

private:
    void open() {
        archive_entry* entry = nullptr;
        const bool supported = archive_read_support_filter_xz(reader_.get()) == ARCHIVE_OK &&
                               archive_read_support_filter_zstd(reader_.get()) == ARCHIVE_OK;
        if (!supported) throw BrokenSource(fmt::format("found a {}; expected a libarchive that reads it", stream_));
        archive_read_support_format_raw(reader_.get());
        archive_read_support_format_empty(reader_.get());
        const int opened = reader_.open();
        const int status = opened == ARCHIVE_OK ? reader_.next(entry) : opened;
        if (status != ARCHIVE_OK && status != ARCHIVE_EOF) {
            throw BrokenSource(fmt::format("found a damaged {} ({}); expected a whole one", stream_, reader_.message()));
        }
        // libarchive would take off further layers, each of which can grow a thousandfold.
        constexpr int this_layer_and_the_bytes = 2;
        if (archive_filter_count(reader_.get()) > this_layer_and_the_bytes) {
            throw BrokenSource("found one compression inside another; expected one");
        }
        open_ = true;
        empty_ = status == ARCHIVE_EOF;
    }

    ArchiveReader reader_;
    std::string stream_;
    bool open_ = false;
    bool empty_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> out_of_gzip(std::unique_ptr<ByteSource> source) {
    return std::make_unique<Gunzip>(std::move(source));
}

std::unique_ptr<ByteSource> out_of_archive_filter(std::unique_ptr<ByteSource> source, std::string_view name) {
    return std::make_unique<ArchiveFilter>(std::move(source), name);
}

}  // namespace workbench
