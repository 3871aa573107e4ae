#include "core/input/bytes/byte_source.hpp"

#include <archive_entry.h>
#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/contract/errors.hpp"
#include "core/input/bytes/libarchive.hpp"

namespace workbench {
namespace {

/// A zlib or liblzma stream, which share the names of their buffer members.
template <typename Stream>
class Unpacked : public ByteSource {
public:
    Unpacked(std::unique_ptr<ByteSource> source, Stream stream)
        : source_(std::move(source)), input_(std::size_t{1} << 18), stream_(stream) {}

    [[nodiscard]] std::size_t read(std::span<char> buffer) final {
        if (!broken_.empty()) throw BrokenSource(broken_);
        buffer = buffer.first(std::min<std::size_t>(buffer.size(), std::numeric_limits<unsigned>::max()));
        stream_.next_out = reinterpret_cast<unsigned char*>(buffer.data());
        stream_.avail_out = static_cast<unsigned>(buffer.size());
        try {
            while (stream_.avail_out > 0 && unpack_further()) {
            }
        } catch (const BrokenSource& broken) {  // bytes before the damage are returned first
            broken_ = broken.what();
            if (stream_.avail_out == buffer.size()) throw;
        }
        return buffer.size() - stream_.avail_out;
    }

protected:
    /// Unpacks some bytes; false at the end.
    [[nodiscard]] virtual bool unpack_further() = 0;

    /// Refills the input buffer; false at the end of the source.
    [[nodiscard]] bool has_input() {
        if (stream_.avail_in > 0) return true;
        stream_.next_in = reinterpret_cast<unsigned char*>(input_.data());
        stream_.avail_in = static_cast<unsigned>(source_->read(input_));
        return stream_.avail_in > 0;
    }

    [[nodiscard]] const ByteSource& source() const { return *source_; }
    [[nodiscard]] Stream& stream() { return stream_; }

private:
    std::unique_ptr<ByteSource> source_;
    std::vector<char> input_;
    Stream stream_;
    std::string broken_;
};

class Gunzip final : public Unpacked<z_stream> {
public:
    explicit Gunzip(std::unique_ptr<ByteSource> source) : Unpacked(std::move(source), z_stream{}) {
        constexpr int largest_window_of_gzip = 15 + 16;
        if (inflateInit2(&stream(), largest_window_of_gzip) != Z_OK) throw std::bad_alloc();
    }
    Gunzip(const Gunzip&) = delete;
    Gunzip& operator=(const Gunzip&) = delete;
    ~Gunzip() override { inflateEnd(&stream()); }

    /// Deflate encodes at most 258 bytes in two bits.
    [[nodiscard]] std::uintmax_t most_bytes() const override {
        constexpr std::uintmax_t best_ratio = 1032;
        const std::uintmax_t packed = source().most_bytes();
        return packed > unknown_size / best_ratio ? unknown_size : packed * best_ratio;
    }

private:
    bool unpack_further() override {
        if (!has_input()) {
            if (in_member_) throw BrokenSource("found a truncated gzip stream; expected a whole one");
            return false;
        }
        if (!in_member_) return start_member();
        const int status = inflate(&stream(), Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            in_member_ = false;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            throw BrokenSource("found a damaged gzip stream; expected one whose check sums agree");
        }
        return true;
    }

    // After a member follows another one, or zero padding.
    bool start_member() {
        if (*stream().next_in == 0) {
            ++stream().next_in;
            --stream().avail_in;
            return true;
        }
        inflateReset(&stream());
        in_member_ = true;
        return true;
    }

    bool in_member_ = true;
};

class Unxz final : public Unpacked<lzma_stream> {
public:
    explicit Unxz(std::unique_ptr<ByteSource> source) : Unpacked(std::move(source), lzma_stream LZMA_STREAM_INIT) {
        constexpr std::uint32_t flags = LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK;
        if (lzma_stream_decoder(&stream(), most_memory, flags) != LZMA_OK) throw std::bad_alloc();
    }
    Unxz(const Unxz&) = delete;
    Unxz& operator=(const Unxz&) = delete;
    ~Unxz() override { lzma_end(&stream()); }

private:
    // Mostly for the dictionary, whose size the file determines: 64 MiB with xz -9.
    static constexpr std::uint64_t most_memory = std::uint64_t{1} << 27;

    bool unpack_further() override {
        const lzma_ret status = lzma_code(&stream(), has_input() ? LZMA_RUN : LZMA_FINISH);
        switch (status) {
            case LZMA_OK: return true;
            case LZMA_STREAM_END: return false;
            case LZMA_BUF_ERROR: throw BrokenSource("found a truncated xz stream; expected a whole one");
            case LZMA_MEMLIMIT_ERROR:
                throw BrokenSource(
                    fmt::format("found an xz stream that needs {} bytes of memory to unpack; expected at most {}",
                                lzma_memusage(&stream()), most_memory));
            default: throw BrokenSource("found a damaged xz stream; expected one whose check sums agree");
        }
    }
};

/// A zstd stream without the skippable frames at its beginning, which libarchive would not recognize as zstd.
class UnskippedZstd final : public ByteSource {
public:
    explicit UnskippedZstd(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

    [[nodiscard]] std::size_t read(std::span<char> buffer) override {
        if (!begun_) skip_frames();
        if (start_.empty()) return source_->read(buffer);
        const std::size_t count = start_.copy(buffer.data(), buffer.size());
        start_.erase(0, count);
        return count;
    }

private:
    void skip_frames() {
        constexpr std::size_t header_bytes = 8;  // magic number and size
        begun_ = true;
        for (take(header_bytes); is_skippable_zstd_frame(start_); take(header_bytes)) {
            std::uint32_t size = 0;
            if (start_.size() < header_bytes) fail();
            std::memcpy(&size, start_.data() + 4, sizeof(size));
            skip(size);
        }
    }

    void take(std::size_t count) {
        start_.resize(count);
        std::size_t had = 0;
        for (std::size_t got = 1; got > 0 && had < count; had += got) got = source_->read(std::span(start_).subspan(had));
        start_.resize(had);
    }

    void skip(std::size_t count) {
        std::vector<char> bytes(std::min(count, std::size_t{1} << 16));
        while (count > 0) {
            const std::size_t got = source_->read(std::span(bytes).first(std::min(count, bytes.size())));
            if (got == 0) fail();
            count -= got;
        }
    }

    [[noreturn]] static void fail() { throw BrokenSource("truncated"); }

    std::unique_ptr<ByteSource> source_;
    bool begun_ = false;
    std::string start_;  // bytes behind the skipped frames that are not yet returned
};

class Unzstd final : public ByteSource {
public:
    explicit Unzstd(std::unique_ptr<ByteSource> source) : reader_(std::make_unique<UnskippedZstd>(std::move(source))) {}

    [[nodiscard]] std::size_t read(std::span<char> buffer) override {
        try {
            if (!open_) open();
            return empty_ ? 0 : reader_.read(buffer, "zstd stream");
        } catch (const BrokenSource&) {
            if (reader_.message().find("too much memory") == std::string::npos) throw;
            throw BrokenSource(
                "found a zstd stream that needs more than 128 MiB of memory to unpack; expected at most the window of zstd "
                "--long=27");
        }
    }

private:
    void open() {
        archive_entry* entry = nullptr;
        if (archive_read_support_filter_zstd(reader_.get()) != ARCHIVE_OK) {
            throw BrokenSource("found a zstd stream; expected a libarchive that reads it");
        }
        archive_read_support_format_raw(reader_.get());
        archive_read_support_format_empty(reader_.get());
        const int opened = reader_.open();
        const int status = opened == ARCHIVE_OK ? reader_.next(entry) : opened;
        if (status != ARCHIVE_OK && status != ARCHIVE_EOF) {
            throw BrokenSource(fmt::format("found a damaged zstd stream ({}); expected a whole one", reader_.message()));
        }
        // libarchive would unpack further layers, each of which can grow a thousandfold.
        constexpr int zstd_and_raw = 2;
        if (archive_filter_count(reader_.get()) > zstd_and_raw) {
            throw BrokenSource("found nested compression; expected one layer");
        }
        open_ = true;
        empty_ = status == ARCHIVE_EOF;
    }

    ArchiveReader reader_;
    bool open_ = false;
    bool empty_ = false;
};

/// Uses zlib because libarchive does not compare the check sums of gzip files.
std::unique_ptr<ByteSource> out_of_gzip(std::unique_ptr<ByteSource> source) {
    return std::make_unique<Gunzip>(std::move(source));
}

/// Uses liblzma because libarchive does not limit the memory that a file can demand.
std::unique_ptr<ByteSource> out_of_xz(std::unique_ptr<ByteSource> source) { return std::make_unique<Unxz>(std::move(source)); }

/// Uses libarchive, which lets a file demand at most 128 MiB.
std::unique_ptr<ByteSource> out_of_zstd(std::unique_ptr<ByteSource> source) {
    return std::make_unique<Unzstd>(std::move(source));
}

class FileSource final : public ByteSource {
public:
    explicit FileSource(const std::filesystem::path& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        std::error_code unknown;
        const std::uintmax_t size = std::filesystem::file_size(path, unknown);
        if (!unknown) size_ = size;
    }
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;
    ~FileSource() override {
        if (is_open()) close(descriptor_);
    }

    [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

    [[nodiscard]] std::size_t read(std::span<char> buffer) override {
        for (;;) {
            const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno != EINTR) throw BrokenSource(fmt::format("cannot be read: {}", std::strerror(errno)));
        }
    }

    [[nodiscard]] std::uintmax_t most_bytes() const override { return size_; }

private:
    int descriptor_;
    std::uintmax_t size_ = unknown_size;
};

class MemorySource final : public ByteSource {
public:
    explicit MemorySource(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}

    [[nodiscard]] std::size_t read(std::span<char> buffer) override {
        const std::size_t count = bytes_.copy(buffer.data(), buffer.size());
        bytes_.remove_prefix(count);
        return count;
    }

    [[nodiscard]] std::uintmax_t most_bytes() const override { return size_; }

private:
    std::string_view bytes_;
    std::size_t size_;
};

/// Returns the bytes that were already read, then the rest.
class Replayed final : public ByteSource {
public:
    Replayed(std::string start, std::unique_ptr<ByteSource> rest) : start_(std::move(start)), rest_(std::move(rest)) {}

    [[nodiscard]] std::size_t read(std::span<char> buffer) override {
        if (returned_ == start_.size()) return rest_->read(buffer);
        const std::size_t count = start_.copy(buffer.data(), buffer.size(), returned_);
        returned_ += count;
        return count;
    }

    [[nodiscard]] std::uintmax_t most_bytes() const override { return rest_->most_bytes(); }

private:
    std::string start_;
    std::size_t returned_ = 0;
    std::unique_ptr<ByteSource> rest_;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path, std::string_view expected) {
    const auto fail = [&](const std::string& found) {
        throw InputError(fmt::format("{}: {}; expected {}", path.string(), found, expected));
    };
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) fail("there is no such file");
    if (std::filesystem::is_directory(status)) fail("is a directory");
    if (!std::filesystem::is_regular_file(status)) fail("is not a regular file");
    auto file = std::make_unique<FileSource>(path);
    if (!file->is_open()) fail(fmt::format("cannot be opened ({})", std::strerror(errno)));
    return file;
}

std::unique_ptr<ByteSource> bytes_in_memory(std::string_view bytes) { return std::make_unique<MemorySource>(bytes); }

Start look_at_start(std::unique_ptr<ByteSource>& source, std::size_t count) {
    Start start;
    start.bytes.resize(count);
    std::size_t had = 0;
    try {
        while (had < count) {
            const std::size_t got = source->read(std::span(start.bytes).subspan(had));
            if (got == 0) break;
            had += got;
        }
    } catch (const BrokenSource& broken) {
        start.broken = broken.what();
    }
    start.bytes.resize(had);
    source = std::make_unique<Replayed>(start.bytes, std::move(source));
    return start;
}

std::string_view compression_of(std::string_view start) {
    if (start.starts_with("\x1f\x8b")) return "gzip";
    if (start.starts_with(std::string_view("\xfd\x37zXZ\0", 6))) return "xz";
    if (start.starts_with("\x28\xb5\x2f\xfd") || is_skippable_zstd_frame(start)) return "zstd";
    return {};
}

bool is_skippable_zstd_frame(std::string_view start) {
    return start.size() >= 4 && (start[0] & '\xf0') == '\x50' && start.substr(1).starts_with("\x2a\x4d\x18");
}

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source, std::string_view compression) {
    if (compression == "gzip") return out_of_gzip(std::move(source));
    return compression == "xz" ? out_of_xz(std::move(source)) : out_of_zstd(std::move(source));
}

}  // namespace workbench
