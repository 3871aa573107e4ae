#include "core/input/bytes/byte_source.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/input/bytes/decompression.hpp"

namespace workbench {
namespace {

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
