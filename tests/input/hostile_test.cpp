// Files that claim more than they contain, or contain more than fits memory, are refused quickly and in bounded memory.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>

#include "core/contract/errors.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "core/input/bytes/reading_memory.hpp"
#include "core/input/texts/entry_store.hpp"
#include "input/input_files.hpp"
#include "support/free_memory.hpp"

namespace workbench {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
    std::string result;
    result.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) result += text;
    return result;
}

/// "3 ..." for a bad file, "4 ..." if memory is short, otherwise "read".
std::string outcome(const std::filesystem::path& path) {
    try {
        const CsrMatrix matrix = read_matrix(path);
        return "read";
    } catch (const UserError& error) {
        return fmt::format("{} {}", static_cast<int>(error.exit_code), error.what());
    }
}

void check_refused_cheaply(const std::filesystem::path& path, const std::string& words) {
    std::string result;
    const std::size_t taken = memory_taken([&] { result = outcome(path); });
    CAPTURE(result);
    CHECK(result.substr(0, 2) == "3 ");
    CHECK(result.find(words) != std::string::npos);
    if (memory_is_ours) CHECK(taken < 16 * mebibyte);
}

}  // namespace

TEST_CASE("a claimed size takes no memory") {
    const std::string general = "%%MatrixMarket matrix coordinate real general\n";
    check_refused_cheaply(write("m", general + "3 3 1099511627776\n1 1 1\n"), "after 1 of 1099511627776 entries");
    check_refused_cheaply(write("m", general + "2147483647 2147483647 9223372036854775807\n1 1 1\n"),
                          "after 1 of 9223372036854");
    check_refused_cheaply(write("m", "%%MatrixMarket matrix coordinate real symmetric\n9 9 9223372036854775807\n1 1 1\n"),
                          "after 1 of 9223372036854775807");
    check_refused_cheaply(write("m", "%%MatrixMarket matrix array real general\n2147483647 2147483647\n1\n"),
                          "after 1 of 4611686014132420609 entries");
    check_refused_cheaply(write("m", "2147483647 4611686018427387903\n2\n1\n"), "after 2 of 2147483647 vertices");
    const auto rb = [](const std::string& sizes) {
        return "title\n3 1 1 1\nrua " + sizes + "\n(4I4) (4I4) (4E12.4)\n   1   2\n   1\n  1.0000E+00\n";
    };
    check_refused_cheaply(write("m", rb("1 2147483647 1099511627776 0")), "found no field 3; expected 2147483648 pointers");
    check_refused_cheaply(write("m", rb("1 1 1099511627776 0")), "as the last pointer; expected 1099511627777");
    check_refused_cheaply(write("m", rb("1 9223372036854775807 1 0")), "found a matrix of 1 x 9223372036854775807");
    check_refused_cheaply(write("m", "title\n3 1 1 1\nrua 1 1 1 0\n(9999I9999) (9999(99I4)) (4E12.4)\n"), "as the format");
}

TEST_CASE("large numbers of rows and columns require entries") {
    const std::string general = "%%MatrixMarket matrix coordinate real general\n";
    // A row takes 8 bytes of memory and none of the file, so beyond a limit rows must have entries.
    check_refused_cheaply(write("m", general + "2147483648 1 0\n"), "expected at most 2147483647 rows and columns");
    check_refused_cheaply(write("m", general + "2147483647 1 0\n"),
                          "too empty to read; expected at least one entry per 64 rows and columns above 2^24 of them");
    check_refused_cheaply(write("m", general + "1 2147483647 0\n"),
                          "too empty to read; expected at least one entry per 64 rows and columns above 2^24 of them");
    check_refused_cheaply(write("m", general + "2147483647 1 40000000\n1 1 1\n"), "after 1 of 40000000 entries");
    check_refused_cheaply(write("m", "2147483647 0\n"),
                          "too empty to read; expected at least one entry per 64 rows and columns above 2^24 of them");
    CHECK(read_matrix(write("m", general + "8388608 8388608 0\n")).rows == 8388608);
}

TEST_CASE("an index that overflows is refused") {
    for (const char* index : {"4294967297", "18446744073709551617", "-4294967295", "340282366920938463463374607431768211457"}) {
        CAPTURE(index);
        CHECK(refusal_of_text(real_general(fmt::format("2 2 1\n{} 1 1\n", index))) ==
              fmt::format("m.mtx:3: found the row '{}'; expected an integer from 1 to 2", index));
        CHECK(refusal_of_text(real_general(fmt::format("2 2 1\n1 {} 1\n", index))) ==
              fmt::format("m.mtx:3: found the column '{}'; expected an integer from 1 to 2", index));
        CHECK(refusal(write("g", fmt::format("2 1\n{}\n1\n", index))) ==
              fmt::format("g:2: found the neighbour '{}'; expected an integer from 1 to 2", index));
    }
}

TEST_CASE("decompression bombs: unpacked bytes are never kept") {
    const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    const std::size_t much = 32 * mebibyte;
    check_refused_cheaply(write("zeros.gz", compressed(banner + std::string(much, '\0'))),
                          "found a line of 1048576 characters");
    check_refused_cheaply(write("lines.gz", compressed(banner + std::string(much, '\n'))), "found the end of the file");
    check_refused_cheaply(write("comments.gz", compressed(banner + "2 2 1\n" + repeated("%\n", much / 2))), "after 0 of 1 ent");
    check_refused_cheaply(write("entries.gz", compressed(banner + "2 2 1\n" + repeated("1 1 1\n", much / 6))),
                          "entries.gz:4: found a further entry; expected 1");
    check_refused_cheaply(write("graph.gz", compressed("9 1\n" + std::string(much, '\n') + "1")),
                          "found a line after the last vertex");
    check_refused_cheaply(write("title.gz", compressed(std::string(much, ' '))), "starts with");
}

TEST_CASE("memory is counted while reading, even for small claims") {
    const FreeMemory some(40 * mebibyte);
    ReadingMemory memory("m.mtx", {4, 10, 10}, 1, ByteSource::unknown_size);
    CHECK_NOTHROW(memory.take(20 * mebibyte));
    CHECK_NOTHROW(memory.take(10 * mebibyte));
    CHECK_THROWS_AS(memory.take(20 * mebibyte), MachineError);
}

TEST_CASE("there is room for more entries than a text was expected to have") {
    EntryStore store(3);
    const std::span<Entry> first = store.take(2);
    CHECK(first.size() >= 2);
    CHECK(store.take(1000).size() >= 1000);
    store.give_back(first.subspan(1));
    CHECK(store.take(1).data() == first.data() + 1);
}

TEST_CASE("a matrix that does not fit is refused with the bytes needed and available") {
    // Each line is an entry, which takes 16 bytes to read, 4 to sort and 12 to keep.
    const std::size_t entries = 4000000;
    const std::string text = real_general(fmt::format("2 2 {}\n", entries)) + repeated("1 1 1\n", entries);
    const auto plain = write("plain.mtx", text);
    const auto packed = write("packed.mtx.gz", compressed(text));
    for (const auto& path : {plain, packed}) {
        const FreeMemory little(40 * mebibyte);
        std::string result;
        const std::size_t taken = memory_taken([&] { result = outcome(path); });
        CAPTURE(result);
        CHECK(result.substr(0, 2) == "4 ");
        CHECK(result.find("reading a matrix of 2 rows and 4000000 entries needs 128000016 bytes of memory; ") !=
              std::string::npos);
        CHECK(result.find(" are free") != std::string::npos);
        if (memory_is_ours) CHECK(taken < 80 * mebibyte);
    }
    CHECK(read_matrix(packed).values == std::vector<double>{4000000});
    // The entries fit, the rows do not.
    const FreeMemory little(64 * mebibyte);
    const std::string wide = real_general("16000000 1 1\n1 1 1\n");
    CHECK(outcome(write("m.mtx", wide)).find("m.mtx: reading a matrix of 16000000 rows and 1 entry needs 128000032 bytes") !=
          std::string::npos);
}

}  // namespace workbench
