// Compressed files, archives, and damaged ones.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <zlib.h>

#include <utility>

#include "core/contract/errors.hpp"
#include "core/input/inline_matrix.hpp"
#include "core/system/container.hpp"
#include "input/input_files.hpp"
#include "input/npz_files.hpp"
#include "support/free_memory.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;  // names and contents

// Written by hand after the .xz file format 1.0.4: one LZMA2 block with one uncompressed chunk, with CRC32 check sums.
std::string xz(const std::string& text) {
    const auto sum = [](const std::string& bytes) {
        return bytes_of(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())), 4);
    };
    const auto padded = [](const std::string& bytes) { return bytes + std::string((4 - bytes.size() % 4) % 4, '\0'); };
    const auto number = [](std::size_t value) {  // seven bits per byte; the highest bit is set in all but the last
        std::string bytes;
        for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
        return bytes + static_cast<char>(value);
    };
    const std::string flags("\0\x01", 2);
    const std::string block_header("\x02\0\x21\x01\x10\0\0\0", 8);
    const std::size_t size = text.size();
    const std::string chunk = size == 0 ? "" : '\x01' + bytes_of((size - 1) >> 8, 1) + bytes_of((size - 1) & 0xff, 1) + text;
    const std::string lzma2 = chunk + '\0';
    const std::string index =
        padded(std::string("\0\x01", 2) + number(block_header.size() + 4 + lzma2.size() + 4) + number(size));
    const std::string footer = bytes_of((index.size() + 4) / 4 - 1, 4) + flags;
    return std::string(
               "\xfd"
               "7zXZ\0",
               6) +
           flags + sum(flags) + block_header + sum(block_header) + padded(lzma2) + sum(text) + index + sum(index) +
           sum(footer) + footer + "YZ";
}

// Written by hand after RFC 8878: one frame with one uncompressed block, without a check sum.
std::string zstd(const std::string& text) {
    return "\x28\xb5\x2f\xfd\xa0" + bytes_of(text.size(), 4) + bytes_of(text.size() << 3 | 1, 3) + text;
}

// The example, compressed by the program zstd, with a check sum.
const std::string zstd_of_example =
    "28b52ffd04681d0200d2c40e11a0ed2cdcacfcaba516f07bd2068caf6e50393ebe192ebeb9d76f8aef35f57a4df2f1cdc5af5ba32feef786dcd2"
    "79ce99b3c3568f4b4c0f720120010040984bdb9494f6";

std::string from_hexadecimal(const std::string& digits) {
    std::string bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2) bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return bytes;
}

// Written by hand after POSIX.1-2017 (ustar): a header of 512 bytes, the contents, zeros up to a multiple of 512.
std::string tar(const Files& files) {
    std::string archive;
    for (const auto& [name, text] : files) {
        std::string header = name;
        header.resize(512);
        header.replace(100, 7, "0000644");
        header.replace(124, 12, fmt::format("{:011o} ", text.size()));
        header.replace(136, 12, "00000000000 ");
        header.replace(148, 8, "        ");
        header[156] = name.ends_with('/') ? '5' : '0';
        header.replace(257, 8,
                       std::string("ustar\0"
                                   "00",
                                   8));
        unsigned sum = 0;
        for (const char c : header) sum += static_cast<unsigned char>(c);
        header.replace(148, 6, fmt::format("{:06o}", sum));
        header[154] = '\0';
        archive += header + text + std::string((512 - text.size() % 512) % 512, '\0');
    }
    return archive + std::string(1024, '\0');
}

// Truncates and changes a compressed file at every byte: the matrix is right or refused. Returns the number of refusals.
int damage(const std::string& whole) {
    const CsrMatrix expected = csr_from_rows(example);
    for (std::size_t length = 2; length < whole.size(); ++length) {
        CAPTURE(length);
        const auto matrix = read_or_refuse(write("cut", whole.substr(0, length)));
        // The last bytes may be an index or padding that the reader does not need.
        CHECK((!matrix || (*matrix == expected && length + 64 > whole.size())));
    }
    int refused = 0;
    for (std::size_t place = 2; place < whole.size(); ++place) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x11);
        const auto matrix = read_or_refuse(write("damaged", damaged));
        CAPTURE(place);
        CHECK((!matrix || *matrix == expected));
        if (!matrix) ++refused;
    }
    return refused;
}

}  // namespace

TEST_CASE("paths that are not regular files") {
    CHECK(refusal(folder() / "absent") == "absent: there is no such file; " + kinds);
    std::filesystem::create_directory(folder() / "sub");
    CHECK(refusal(folder() / "sub") == "sub: is a directory; " + kinds);
    CHECK(refusal("/dev/null") == "null: is not a regular file; " + kinds);
}

TEST_CASE("gzip: any number of members; truncated or damaged files are refused or read correctly") {
    const std::string text = real_general("3 4 5\n1 1 1\n1 3 2\n3 1 3\n3 2 0\n3 4 4\n");
    const CsrMatrix expected = csr_from_rows(example);
    const std::string whole = compressed(text);
    CHECK(read_matrix(write("named_otherwise.txt", whole)) == expected);
    CHECK(read_matrix(write("m.gz", compressed(text.substr(0, 60)) + compressed("") + compressed(text.substr(60)))) ==
          expected);

    CHECK(refusal(write("m.gz", whole.substr(0, 10))) == "m.gz:1: found a truncated gzip stream; expected a whole one");
    CHECK(refusal(write("m.gz", compressed(""))) == "m.gz: is empty; " + kinds);
    CHECK(refusal(write("m.gz", whole.substr(0, whole.size() - 1))) ==
          "m.gz:8: found a truncated gzip stream; expected a whole one");
    CHECK(damage(whole) >= static_cast<int>(whole.size()) - 12);  // only the header's time and system may change
    // Zeros after the stream are padding; anything else is damage.
    CHECK(read_matrix(write("m.gz", whole + std::string(1000, '\0'))) == expected);
    CHECK(refusal(write("m.gz", whole + "more")) == "m.gz:8: found a damaged gzip stream; expected one whose check sums agree");
}

TEST_CASE("xz and zstd: recognised by content, check sums compared, any number of streams") {
    const CsrMatrix expected = csr_from_rows(example);
    const std::string text = example_text;
    for (const auto& compress : {xz, zstd}) {
        const std::string whole = compress(text);
        CHECK(read_matrix(write("named_otherwise.npz", whole)) == expected);
        CHECK(read_matrix(write("m", compress(text.substr(0, 60)) + compress(text.substr(60)))) == expected);
        CHECK(refusal(write("m", compress(""))) == "m: is empty; " + kinds);
        CHECK(refusal(write("m", compress(compressed(text)))) == "m: found nested compression; expected one layer");
        CHECK(refusal(write("m", compressed(compress(text)))) == "m: found nested compression; expected one layer");
        CHECK(refusal(write("m", compress(compress(text)))).find("nested compression") != std::string::npos);
    }
    CHECK(damage(xz(text)) == static_cast<int>(xz(text).size()) - 2);
    const std::string packed = from_hexadecimal(zstd_of_example);
    CHECK(read_matrix(write("m", packed)) == expected);
    CHECK(damage(packed) >= static_cast<int>(packed.size()) - 12);
    CHECK(refusal(write("m", xz(text).substr(0, 40))) == "m:1: found a truncated xz stream; expected a whole one");
    // The block header demands a dictionary of 4 GiB, which any reader would have to allocate.
    std::string hungry = xz(text);
    hungry[16] = 40;
    hungry.replace(20, 4, bytes_of(crc32(0, reinterpret_cast<const Bytef*>(hungry.data()) + 12, 8), 4));
    CHECK(refusal(write("m", hungry)).find("bytes of memory to unpack; expected at most 134217728") != std::string::npos);
}

TEST_CASE("xz and zstd: how much they unpack to is unknown, so that a matrix is refused after its entries were read") {
    const FreeMemory little(64 * mebibyte);
    const std::string sizes = "rua 16000000 1 1 0\n(4I4) (4I4) (4E12.4)\n   1   2\n   1\n  1.0000E+00\n";
    for (const std::string& text : {real_general("16000000 1 1\n1 1 1\n"), "title\n3 1 1 1\n" + sizes}) {
        for (const auto& compress : {xz, zstd}) {
            const auto path = write("m", compress(text));
            CHECK(message_of<MachineError>([&] {
                      (void)read_matrix(path);
                  }).find("m: a matrix of 16000000 rows and 1 nonzero needs 128000016 bytes of memory; ") != std::string::npos);
        }
    }
}

TEST_CASE("zstd: skippable frames are skipped wherever they are, and a window that is too large is named") {
    const CsrMatrix expected = csr_from_rows(example);
    const std::string text = example_text;
    const auto skippable = [](int number, const std::string& bytes) {
        return static_cast<char>(0x50 + number) + std::string("\x2a\x4d\x18") + bytes_of(bytes.size(), 4) + bytes;
    };
    const std::string size = skippable(0, bytes_of(123, 4));  // as pzstd writes before each frame
    CHECK(read_matrix(write("m", size + zstd(text))) == expected);
    CHECK(read_matrix(write("m", size + zstd(text.substr(0, 60)) + size + zstd(text.substr(60)))) == expected);
    CHECK(read_matrix(write("m", skippable(15, "") + skippable(7, std::string(100000, 'x')) + zstd(text) + size)) == expected);
    std::string many;
    for (int i = 0; i < 10000; ++i) many += size;
    CHECK(read_matrix(write("m", many + zstd(text))) == expected);
    CHECK(read_matrix(write("m.tar.zst", size + zstd(tar({{"a.mtx", text}})))) == expected);
    CHECK(refusal(write("m", size)) == "m: is empty; " + kinds);
    CHECK(refusal(write("m", size + zstd(compressed(text)))) == "m: found nested compression; expected one layer");
    for (const std::size_t length : {4, 7, 8, 10}) {
        CHECK(refusal(write("m", size.substr(0, length))) ==
              "m:1: found a damaged zstd stream (truncated); expected a whole one");
    }
    // A frame of zstd --long=31: its window has 2^31 bytes.
    const std::string wide =
        "\x28\xb5\x2f\xfd" + bytes_of(0, 1) + bytes_of(21 << 3, 1) + bytes_of(text.size() << 3 | 1, 3) + text;
    CHECK(refusal(write("m", wide)) ==
          "m:1: found a zstd stream that needs more than 128 MiB of memory to unpack; expected at most the window of zstd "
          "--long=27");
}

TEST_CASE("tar archives: the only matrix, or the one that is named") {
    const CsrMatrix expected = csr_from_rows(example);
    const std::string graph = "2 1\n2\n1\n";
    const Files one{{"west/", ""}, {"west/README", "Some words."}, {"west/west.mtx", example_text}, {"west/empty", ""}};
    for (const auto& bytes : {tar(one), compressed(tar(one)), xz(tar(one)), zstd(tar(one))}) {
        CHECK(read_matrix(write("named_otherwise.mtx", bytes)) == expected);
        CHECK(read_matrix(write("m", bytes), {"west/west.mtx"}) == expected);
        CHECK(read_matrix(write("m", bytes), {"west.mtx"}) == expected);
    }
    CHECK(read_matrix(write("m.tar", tar({{"a.mtx/", ""}, {"a.mtx/b.mtx", example_text}}))) == expected);  // a folder
    CHECK(read_matrix(write("m.tar", tar({{"a.mtx.gz", compressed(example_text)}}))) == expected);
    CHECK(refusal(write("m.tar", compressed(tar({{"a.mtx.gz", compressed(example_text)}})))) ==
          "m.tar: member 'a.mtx.gz': found nested compression; expected one layer");

    const Files several{{"a/a.mtx", example_text}, {"a/a_b.mtx", real_general("x")}, {"b/a.mtx", example_text}, {"g", graph}};
    const std::string list = "m.tar: found the matrices 'a/a.mtx', 'a/a_b.mtx', 'b/a.mtx', 'g'; expected ";
    const auto path = write("m.tar", tar(several));
    CHECK(refusal(path) == list + "one, or --member NAME");
    CHECK(refusal(path, {"a.mtx"}) == list + "one member 'a.mtx'");
    CHECK(refusal(path, {"c.mtx"}) == list + "a member 'c.mtx'");
    CHECK(read_matrix(path, {"b/a.mtx"}) == expected);
    CHECK(read_matrix(path, {"g"}) == csr_from_rows(Rows{". 1", "1 ."}));
    CHECK(refusal(path, {"a_b.mtx"}) ==
          "m.tar: member 'a/a_b.mtx':2: found the number of rows 'x'; expected an integer, 0 or greater");
    // A member with the name of the archive is the matrix, whatever the archive's ending; another's folder does not matter.
    const Files with_namesake{{"x/x_b.mtx", real_general("x")}, {"x/x.mtx", example_text}, {"y/x.mtx", graph}};
    for (const char* name : {"x.tar", "x.tar.gz", "x.tgz", "x.tar.xz"}) {
        CAPTURE(name);
        CHECK(read_matrix(write(name, tar(with_namesake))) == expected);
    }
    const Files namesake_first{{"x/x.mtx", example_text}, {"x/x_b.mtx", graph}, {"y/x.mtx", graph}};
    CHECK(read_matrix(write("x.tar", tar(namesake_first))) == expected);
    CHECK(refusal(write("y.tgz", tar(with_namesake))).find("expected one, or --member NAME") != std::string::npos);
    CHECK(refusal(write("m.tar", tar({{"a", "words"}}))) == "m.tar: found an archive without a matrix; " + kinds);
    CHECK(refusal(write("m.tar", tar({{"a", "words"}})), {"a"}) == "m.tar: member 'a': starts with 'words'; " + kinds);
    CHECK(refusal(write("m.mtx", example_text), {"a"}) ==
          "m.mtx: found no tar archive, MATLAB file or HDF5 file; expected one to take member 'a' from");
    Files many;
    for (int i = 0; i < 30; ++i) many.emplace_back(fmt::format("{}.mtx", i), example_text);
    CHECK(refusal(write("m.tar", tar(many))).find("'19.mtx' and 10 more; expected one") != std::string::npos);
}

TEST_CASE("vectors: lists of numbers, .npy, matrices with one column, and the right-hand sides of the collection") {
    const std::vector<double> expected{2.5, 0, -1};
    const std::string column = "%%MatrixMarket matrix array real general\n3 1\n2.5\n0\n-1\n";
    for (const std::string& text : {std::string("2.5\n0\n-1\n"), std::string("# b\n\n% of A\n 2.5 \r\n0\n-1"), column}) {
        CHECK(read_vector(write("b", text)) == expected);
        CHECK(read_vector(write("b", compressed(text))) == expected);
    }
    CHECK(read_vector(write("b.npy", npy<double>("<f8", {2.5, 0, -1}))) == expected);
    CHECK(read_vector(write("b.npy", npy<float>("<f4", {2.5, 0, -1}))) == expected);
    CHECK(read_vector(write("b.npy", npy_header("<i8", "(2, 1)") + bytes_of(7, 8) + bytes_of(8, 8))) ==
          std::vector<double>{7, 8});
    CHECK(read_vector(write_npz("b.npz", {{"format", npy_format("coo")},
                                          {"shape", npy_int({3, 1})},
                                          {"row", npy_int({0, 2})},
                                          {"col", npy_int({0, 0})},
                                          {"data", npy<double>("<f8", {2.5, -1})}})) == expected);
    const Files both{{"x/x.mtx", example_text}, {"x/x_b.mtx", column}, {"x/x_x.mtx", column}};
    for (const char* name : {"x.tar", "renamed.tar.gz"}) {
        CHECK(read_vector(write(name, tar(both))) == expected);
        CHECK(read_vector(write(name, tar(both)), "x_x.mtx") == expected);
    }
    const auto refused = [](const std::filesystem::path& path, const std::string& member = {}) {
        return message_of<InputError>([&] { (void)read_vector(path, member); }).substr(folder().string().size() + 1);
    };
    CHECK(refused(write("x.tar", tar({{"x/x.mtx", example_text}}))) ==
          "x.tar: found the matrices 'x/x.mtx'; expected a member '_b.mtx'");
    CHECK(refused(write("x.tar", tar(both)), "x.mtx") == "x.tar: found a matrix of 3 x 4; expected one column");
    CHECK(refused(write("b", "1\n2 3\n")) == "b:2: found '3' at the end of the line; expected one number per line");
    CHECK(refused(write("b", "1\nx\n")) == "b:2: found 'x'; expected a number");
    const std::string vectors = "; expected one number per line, a .npy, or a matrix with one column";
    CHECK(refused(write("b", "1.5D+00\n2\n")) == "b: starts with '1.5D+00'" + vectors);
    CHECK(refused(write("b", "1 2 3\n")) == "b: starts with '1 2 3'" + vectors);
    CHECK(refused(write("b", "1 2\n2 1\n")) == "b: starts with '1 2'" + vectors);
    CHECK(refused(write("b", "1,2\n3,4\n")) == "b: found a table of numbers with commas (CSV)" + vectors);
    CHECK(refused(write("b", "")) == "b: is empty" + vectors);
    CHECK(refused(write("b.npy", npy_header("<f8", "(1, 3)") + std::string(24, '\0'))) ==
          "b.npy: found an array of shape (1, 3); expected one dimension, or one column");
    CHECK(refused(write("b.npy", npy_header("<c16", "(1,)") + std::string(16, '\0'))) ==
          "b.npy: found the type <c16; expected f32, f64, integers or bool, little-endian");
}

TEST_CASE("tar archives: damaged ones are refused or read correctly, byte by byte") {
    const CsrMatrix expected = csr_from_rows(example);
    const std::string whole = tar({{"a.mtx", example_text}});
    int refused = 0;
    for (std::size_t place = 0; place < 512 + example_text.size(); ++place) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x11);
        const auto matrix = read_or_refuse(write("m.tar", damaged));
        if (matrix) CHECK_NOTHROW(check_csr(*matrix));
        if (place < 512 && !matrix) ++refused;
    }
    CHECK(refused >= 510);  // the header has a check sum, the contents have none
    for (std::size_t length = 1; length < 512 + example_text.size(); ++length) {
        CHECK(refusal(write("m.tar", whole.substr(0, length))) != "read");
    }
}

TEST_CASE("a file whose program is missing names the library and its package") {
    const Container none{"workbench_none", "NONE file", "libnone (Debian, Ubuntu: libnone-dev)"};
    const std::string message = message_of<MachineError>([&] { run_container(none, "m.none", {"read"}); });
    CHECK(message.starts_with("m.none: a NONE file needs libnone (Debian, Ubuntu: libnone-dev): no workbench_none in "));
    CHECK(message.ends_with("this program was built without it"));
}

}  // namespace workbench
