#include "input/input_files.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <fstream>

#include "core/contract/errors.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {

const std::filesystem::path& folder() {
    static const TemporaryFolder folder;
    return folder.path();
}

std::filesystem::path write(const std::string& name, const std::string& bytes) {
    std::filesystem::remove(folder() / name);  // truncating a file that was just written would wait for the disk
    std::ofstream(folder() / name, std::ios::binary) << bytes;
    return folder() / name;
}

CsrMatrix read_text(const std::string& text) { return read_matrix(write("m.mtx", text)); }

std::optional<CsrMatrix> read_or_refuse(const std::filesystem::path& path) {
    try {
        return read_matrix(path);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::string refusal(const std::filesystem::path& path, const ReadOptions& options) {
    try {
        const CsrMatrix matrix = read_matrix(path, options);
        return "read";
    } catch (const InputError& error) {
        CHECK(error.exit_code == ExitCode::bad_input);
        std::string what = error.what();
        const std::string prefix = path.parent_path().string() + "/";
        return what.substr(what.compare(0, prefix.size(), prefix) == 0 ? prefix.size() : 0);
    }
}

std::string refusal_of_text(const std::string& text) { return refusal(write("m.mtx", text)); }

std::string real_general(const std::string& rest) { return "%%MatrixMarket matrix coordinate real general\n" + rest; }

std::string deflated(const std::string& text, int window_bits) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string result(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(result.data());
    stream.avail_out = static_cast<uInt>(result.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    result.resize(stream.total_out);
    deflateEnd(&stream);
    return result;
}

std::string compressed(const std::string& text) { return deflated(text, 31); }

std::string bytes_of(std::uint64_t number, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += static_cast<char>(number >> (8 * i) & 0xff);
    return result;
}

}  // namespace workbench
