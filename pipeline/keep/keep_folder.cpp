#include "pipeline/keep/keep_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/checksum.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {
namespace {

// Increased when the format of files changes.
constexpr std::string_view beginning = "SpMV workbench, kept result 1\n";

constexpr std::size_t checksum_letters = 32;

class KeptWriter final : public Transfer {
public:
    explicit KeptWriter(WholeFile& file) : file_(file) {}
    [[nodiscard]] bool reads() const override { return false; }
    void add(std::string_view text) {
        checksum_.add(text.data(), text.size());
        file_.write(text);
    }
    void finish() {
        file_.write(checksum_.text());
        file_.finish();
    }

private:
    void pass_bytes(void* data, std::size_t bytes) override { add({static_cast<const char*>(data), bytes}); }
    [[nodiscard]] std::size_t left() const override { return 0; }

    WholeFile& file_;
    Checksum checksum_;
};

class KeptReader final : public Transfer {
public:
    explicit KeptReader(const std::filesystem::path& path) : file_(std::fopen(path.c_str(), "rb")) {
        if (file_ == nullptr) throw BrokenTransfer(std::strerror(errno));
        const bool ended = std::fseek(file_.get(), 0, SEEK_END) == 0;
        const long bytes = ended ? std::ftell(file_.get()) : -1;
        std::rewind(file_.get());
        if (bytes < static_cast<long>(checksum_letters)) throw BrokenTransfer("cut");
        left_ = static_cast<std::size_t>(bytes) - checksum_letters;
    }
    [[nodiscard]] bool reads() const override { return true; }

    /// Skips the next bytes if they equal these.
    [[nodiscard]] bool next_is(std::string_view expected) {
        std::string found(std::min(expected.size(), left_), '\0');
        pass_bytes(found.data(), found.size());
        return found == expected;
    }
    void finish() {
        if (left_ != 0) throw BrokenTransfer("longer than what was kept");
        std::string expected(checksum_letters, '\0');
        if (std::fread(expected.data(), 1, expected.size(), file_.get()) != expected.size()) throw BrokenTransfer("cut");
        if (expected != checksum_.text()) throw BrokenTransfer("its checksum is another one");
    }

private:
    void pass_bytes(void* data, std::size_t bytes) override {
        if (bytes > left_) throw BrokenTransfer("cut");
        if (bytes == 0) return;
        if (std::fread(data, 1, bytes, file_.get()) != bytes) throw BrokenTransfer("cannot be read");
        checksum_.add(data, bytes);
        left_ -= bytes;
    }
    [[nodiscard]] std::size_t left() const override { return left_; }

    struct CloseFile {
        void operator()(std::FILE* file) const { (void)std::fclose(file); }
    };
    std::unique_ptr<std::FILE, CloseFile> file_;
    std::size_t left_ = 0;
    Checksum checksum_;
};

}  // namespace

KeepFolder::KeepFolder(std::filesystem::path folder, std::string maker) : folder_(std::move(folder)), maker_(std::move(maker)) {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed) throw MachineError(fmt::format("{}: no folder to keep results in: {}", folder_.string(), failed.message()));
}

KeepFolder::Key KeepFolder::key_of(const CsrMatrix& matrix) const {
    Checksum checksum;
    const auto add = [&](const auto& array) { checksum.add(array.data(), array.size() * sizeof(*array.data())); };
    add(std::array<std::int64_t, 2>{matrix.rows, matrix.columns});
    add(matrix.row_offsets);
    add(matrix.column_indices);
    add(matrix.values);
    Key key{checksum.text(), "matrix", ""};
    key.text = fmt::format("{}\nmatrix of {} x {} with {} nonzeros, {}\n", maker_, matrix.rows, matrix.columns,
                           matrix.nonzeros(), key.matrix);
    return key;
}

std::filesystem::path KeepFolder::file_of(const Key& key) const {
    return folder_ / key.matrix / fmt::format("{}-{}.kept", key.name, checksum_of(key.text));
}

bool KeepFolder::read(const Key& key, const std::function<void(Transfer&)>& body) {
    const std::filesystem::path file = file_of(key);
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) return false;
    std::string reason;
    try {
        KeptReader reader(file);
        if (!reader.next_is(beginning) || !reader.next_is(fmt::format("{}\n{}", key.text.size(), key.text))) {
            throw BrokenTransfer("of something else");
        }
        body(reader);
        reader.finish();
        return true;
    } catch (const BrokenTransfer& broken) {
        reason = broken.what();
    } catch (const std::bad_alloc&) {
        reason = "no memory to read it";
    }
    notes_.push_back(fmt::format("{}: not what was kept ({}); made anew", file.string(), reason));
    return false;
}

void KeepFolder::write(const Key& key, const std::function<void(Transfer&)>& body) {
    if (!writable_) return;
    try {
        WholeFile file(file_of(key));
        KeptWriter writer(file);
        writer.add(beginning);
        writer.add(fmt::format("{}\n{}", key.text.size(), key.text));
        body(writer);
        writer.finish();
    } catch (const MachineError& failure) {
        writable_ = false;
        notes_.push_back(fmt::format("{}; nothing more is kept", failure.what()));
    }
}

std::vector<std::string> KeepFolder::take_notes() { return std::exchange(notes_, {}); }

std::string checksum_of_program() { return checksum_of_file("/proc/self/exe"); }

Keeping Keeping::after(const std::string& name, const std::string& line) const {
    Keeping next = *this;
    if (folder_ == nullptr) return next;
    next.key_.name = name;
    next.key_.text += line + '\n';
    return next;
}

}  // namespace workbench
