// Real and malformed files, compared with an oracle that shares no code with the reader.
#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "core/contract/errors.hpp"
#include "core/input/inline_matrix.hpp"
#include "input/input_files.hpp"
#include "support/data_folder.hpp"

namespace workbench {
namespace {

std::string decompressed(const std::filesystem::path& path) {
    archive* in = archive_read_new();
    archive_read_support_filter_gzip(in);
    archive_read_support_format_raw(in);
    REQUIRE(archive_read_open_filename(in, path.c_str(), 1 << 16) == ARCHIVE_OK);
    archive_entry* entry = nullptr;
    REQUIRE(archive_read_next_header(in, &entry) == ARCHIVE_OK);
    std::string text;
    std::vector<char> buffer(1 << 16);
    for (la_ssize_t got = 0; (got = archive_read_data(in, buffer.data(), buffer.size())) > 0;) text.append(buffer.data(), got);
    archive_read_free(in);
    return text;
}

struct NaiveMatrix {
    bool supported = false;
    long rows = 0;
    long columns = 0;
    std::map<std::pair<long, long>, double> entries;
};

NaiveMatrix read_naively(const std::string& text) {
    NaiveMatrix matrix;
    std::istringstream in(text);
    std::string line;
    std::getline(in, line);
    std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto banner_has = [&line](const char* word) { return line.find(word) != std::string::npos; };
    if (banner_has("complex")) return matrix;
    const bool array = banner_has("array");
    matrix.supported = true;
    const double sign = banner_has("skew") ? -1 : 1;
    const bool mirrored = banner_has("symmetric");
    const bool pattern = banner_has("pattern");
    bool sizes_known = false;
    long next_row = 0;
    long next_column = 0;
    while (std::getline(in, line)) {
        char* rest = line.data();
        const double first = std::strtod(line.data(), &rest);
        if (rest == line.data()) continue;  // blank line or comment
        if (array && sizes_known) {
            if (mirrored) next_row = std::max(next_row, next_column);
            matrix.entries[{next_row, next_column}] = first;
            if (mirrored) matrix.entries[{next_column, next_row}] = sign * first;
            if (++next_row == matrix.rows) next_row = 0, ++next_column;
            continue;
        }
        const long row = std::lround(first);
        const long column = std::strtol(rest, &rest, 10);
        const double value = pattern ? 1 : std::strtod(rest, nullptr);
        if (!sizes_known) {
            matrix.rows = row;
            matrix.columns = column;
            sizes_known = true;
            continue;
        }
        matrix.entries[{row - 1, column - 1}] += value;
        if (mirrored && row != column) matrix.entries[{column - 1, row - 1}] += sign * value;
    }
    return matrix;
}

bool same(const CsrMatrix& matrix, const NaiveMatrix& naive) {
    if (matrix.rows != naive.rows || matrix.columns != naive.columns ||
        matrix.nonzeros() != static_cast<Offset>(naive.entries.size())) {
        return false;
    }
    auto expected = naive.entries.begin();
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i, ++expected) {
            const double value = matrix.values[i];
            if (expected->first != std::pair<long, long>(row, matrix.column_indices[i])) return false;
            if (value != expected->second && !(std::isnan(value) && std::isnan(expected->second))) return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("real files are read as a naive reader reads them") {
    const auto small = data_folder("small");
    if (small.empty()) return;
    int read = 0;
    int refused = 0;
    for (const auto& file : std::filesystem::directory_iterator(small)) {
        CAPTURE(file.path().filename().string());
        const NaiveMatrix expected = read_naively(decompressed(file.path()));
        if (expected.supported) {
            CHECK(same(read_matrix(file.path()), expected));
            ++read;
        } else {
            CHECK(refusal(file.path()).find("which is not supported") != std::string::npos);
            ++refused;
        }
    }
    CHECK(read >= 65);
    CHECK(refused >= 4);
}

TEST_CASE("malformed files are refused, or read correctly where the format is ambiguous") {
    const auto bad = data_folder("bad");
    if (bad.empty()) return;
    std::ifstream expectations(bad / "EXPECT.tsv");
    std::string line;
    std::getline(expectations, line);
    int count = 0;
    while (std::getline(expectations, line)) {
        const auto tab = line.find('\t');
        const std::filesystem::path path = bad / line.substr(0, tab);
        const std::string expected = line.substr(tab + 1, 6);
        const std::string outcome = refusal(path);
        CAPTURE(line);
        if (expected == "reject") CHECK(outcome != "read");
        if (expected == "accept") CHECK(outcome == "read");
        if (outcome == "read") {
            CHECK(same(read_matrix(path), read_naively(decompressed(path))));
        } else {
            // FILE:LINE: what was found; what was expected. Only errors of files without lines have no line.
            const std::string name = path.filename().string() + ":";
            CHECK(outcome.substr(0, name.size()) == name);
            const bool with_line = outcome.size() > name.size() && std::isdigit(outcome[name.size()]) != 0;
            CHECK((with_line || outcome.find(" is empty;") != std::string::npos ||
                   outcome.find(" starts with ") != std::string::npos));
            CHECK(outcome.find("; expected ") != std::string::npos);
        }
        ++count;
    }
    CHECK(count >= 39);
}

}  // namespace workbench
