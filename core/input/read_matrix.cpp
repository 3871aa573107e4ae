#include "core/input/read_matrix.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "core/input/bytes/libarchive.hpp"
#include "core/input/foreign_file.hpp"
#include "core/input/npz/npz_archive.hpp"
#include "core/input/npz/scipy_npz.hpp"
#include "core/input/texts/line_reader.hpp"
#include "core/input/texts/matrix_market.hpp"
#include "core/input/texts/metis_graph.hpp"
#include "core/input/texts/rutherford_boeing.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "core/system/container.hpp"
#include "core/system/host_memory.hpp"
#include "core/system/process.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

/// Source: The MathWorks, "MAT-File Format": 124 bytes of text and places, the version, and "MI" in the byte order of the file.
bool is_matlab(std::string_view start) {
    constexpr std::size_t place = 124;
    constexpr std::array<std::string_view, 4> versions{
        {{"\x00\x01IM", 4}, {"\x00\x02IM", 4}, {"\x01\x00MI", 4}, {"\x02\x00MI", 4}}};
    return start.size() >= place + 4 && std::ranges::find(versions, start.substr(place, 4)) != versions.end();
}

/// Source: The HDF Group, "HDF5 File Format Specification": the signature follows a block of 0, 512, 1024, ... bytes.
bool is_hdf5(std::string_view start) {
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    for (std::size_t block = 0; block < start.size(); block = block == 0 ? 512 : 2 * block) {
        if (start.substr(block).starts_with(signature)) return true;
    }
    return false;
}

/// The container of a file that begins with these bytes; null if it is none.
const Container* container_of(std::string_view start) {
    if (is_matlab(start)) return &matlab_file;
    return is_hdf5(start) ? &hdf5_file : nullptr;
}

/// Reads the matrix of this name, or the only one. Its program writes a .npz into a temporary file, which is read and checked
/// here. Throws like read_scipy_npz and run_container.
CsrMatrix read_container(const Container& container, const std::filesystem::path& path, const std::string& member) {
    const WorkFolder folder;
    const std::filesystem::path npz = folder.path() / "matrix.npz";
    run_container(container, path, {"read", path.string(), member, npz.string()});
    try {
        return read_scipy_npz(npz);
    } catch (const InputError& error) {
        const std::string what = error.what();
        throw InputError(path.string() + ", as a .npz" + what.substr(std::min(npz.string().size(), what.size())));
    }
}

constexpr const char* accepted =
    "a Matrix Market file ('%%MatrixMarket ...'), a Rutherford-Boeing file or a METIS graph, each also compressed (gzip, xz, "
    "zstd) or in a tar archive, a .npz of scipy.sparse.save_npz, a MATLAB file, or HDF5 with Binsparse";

[[noreturn]] void fail(const std::string& name, const std::string& found) {
    throw InputError(fmt::format("{}: {}; expected {}", name, found, accepted));
}

std::string name_in_quotes(std::string_view name) {
    constexpr std::size_t longest = 200;
    return in_quotes(name, longest);
}

struct TextFormat {
    bool (*begins)(std::string_view start);  // true if the text begins like this format
    CsrMatrix (*read)(LineReader&);
};

/// Accepts a byte order mark, blank lines and a wrong number of percent signs, so that the reader reports what is wrong with
/// the banner.
bool is_matrix_market(std::string_view start) {
    constexpr std::string_view name = "matrixmarket";
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (start.starts_with(mark)) start.remove_prefix(mark.size());
    start.remove_prefix(std::min(start.find_first_not_of("% \r\n\t"), start.size()));
    return lower_case(start.substr(0, name.size())) == name;
}

constexpr std::array formats{TextFormat{is_matrix_market, read_matrix_market},
                             TextFormat{is_rutherford_boeing, read_rutherford_boeing},
                             TextFormat{is_metis_graph, read_metis_graph}};

/// The format of a text that begins with these bytes; null if it is not supported.
const TextFormat* text_format_of(std::string_view start) {
    const auto format = std::ranges::find_if(formats, [&](const TextFormat& each) { return each.begins(start); });
    return format == formats.end() ? nullptr : &*format;
}

/// A file, or a member of an archive.
struct OpenedSource {
    std::string name;
    std::unique_ptr<ByteSource> bytes;
    Start start;
    bool compressed = false;
};

constexpr std::size_t start_bytes = std::size_t{1} << 14;  // suffice to recognize a format

OpenedSource look_into(std::string name, std::unique_ptr<ByteSource> bytes, bool compressed) {
    OpenedSource opened{.name = std::move(name), .bytes = std::move(bytes), .start = {}, .compressed = compressed};
    opened.start = look_at_start(opened.bytes, start_bytes);
    const std::string_view compression = compression_of(opened.start.bytes);
    if (compression.empty()) return opened;
    // Each layer can grow a thousandfold.
    if (compressed) throw InputError(opened.name + ": found nested compression; expected one layer");
    return look_into(std::move(opened.name), decompressed(std::move(opened.bytes), compression), true);
}

[[noreturn]] void fail(const std::string& name, const ForeignFile& file) {
    throw InputError(
        fmt::format("{}: found {}; expected {}", name, file.found, file.expected.empty() ? accepted : file.expected));
}

/// "starts with '1 2'"
std::string start_in_words(std::string_view start) {
    return start.empty() ? "is empty" : fmt::format("starts with {}", in_quotes(start.substr(0, start.find('\n'))));
}

CsrMatrix read_text(OpenedSource opened, const LineReader::Note& note) {
    const std::string& start = opened.start.bytes;
    const TextFormat* format = text_format_of(start);
    const bool is_whole = start.size() < start_bytes;
    if (format == nullptr) {
        if (!opened.start.broken.empty()) throw InputError(opened.name + ":1: " + opened.start.broken);
        if (const auto file = foreign_file(start)) fail(opened.name, *file);
        if (const auto file = without_banner(start, is_whole)) fail(opened.name, *file);
        fail(opened.name, start_in_words(start));
    }
    LineReader lines(opened.name, std::move(opened.bytes), note);
    if (format->read != read_metis_graph) return format->read(lines);
    try {
        return format->read(lines);
    } catch (const InputError&) {  // any text that begins with numbers was taken for a graph
        if (const auto file = without_banner(start, is_whole)) fail(opened.name, *file);
        throw;
    }
}

/// "west0067.mtx" for "folder/west0067.tar.gz": the SuiteSparse collection's name of the matrix in an archive of several files.
std::string named_after(const std::string& archive) {
    std::string name = std::filesystem::path(archive).filename().string();
    return name.substr(0, std::min(name.find(".tar"), name.find(".tgz"))) + ".mtx";
}

constexpr const char* ending_of_right_hand_sides = "_b.mtx";

/// Selects the matrix of an archive in one pass, because a second pass costs as much as the first.
class MemberChoice {
public:
    MemberChoice(std::string archive, ReadOptions options)
        : archive_(std::move(archive)),
          wanted_(std::move(options.member)),
          namesake_(named_after(archive_)),
          note_(std::move(options.note)) {}

    void offer(const std::string& name, OpenedSource member) {
        if (!wanted_.empty() ? !is_wanted(name) : text_format_of(member.start.bytes) == nullptr) {
            if (text_format_of(member.start.bytes) != nullptr) matrices_.push_back(name);
            return;
        }
        matrices_.push_back(name);
        const bool is_namesake = wanted_.empty() && !has_namesake_ && (name == namesake_ || name.ends_with("/" + namesake_));
        if (++chosen_ > 1 && !is_namesake) return;
        has_namesake_ = has_namesake_ || is_namesake;
        error_.reset();
        // An error in the first of several members is ignored, since there must be only one, or the namesake.
        try {
            matrix_ = read_text(std::move(member), note_);
        } catch (const InputError& error) {
            error_ = error;
        }
    }

    [[nodiscard]] CsrMatrix result() {
        if (chosen_ != 1 && !has_namesake_) fail_to_choose();
        if (error_) throw InputError(*error_);
        return std::move(*matrix_);
    }

private:
    [[nodiscard]] bool is_wanted(const std::string& name) const {
        const bool is_end = wanted_ == ending_of_right_hand_sides;
        return name == wanted_ || name.ends_with(is_end ? wanted_ : "/" + wanted_);
    }

    [[noreturn]] void fail_to_choose() const {
        const std::string found = matrices_.empty() ? "found no matrix" : "found the matrices " + names_in_quotes(matrices_);
        if (wanted_.empty() && matrices_.empty()) fail(archive_, "found an archive without a matrix");
        if (wanted_.empty()) throw InputError(fmt::format("{}: {}; expected one, or --member NAME", archive_, found));
        throw InputError(
            fmt::format("{}: {}; expected {} member {}", archive_, found, chosen_ == 0 ? "a" : "one", name_in_quotes(wanted_)));
    }

    std::string archive_;
    std::string wanted_;
    std::string namesake_;
    LineReader::Note note_;
    bool has_namesake_ = false;
    std::vector<std::string> matrices_;
    int chosen_ = 0;
    std::optional<CsrMatrix> matrix_;
    std::optional<InputError> error_;
};

CsrMatrix read_from_tar(OpenedSource archive, const ReadOptions& options) {
    MemberChoice choice(archive.name, options);
    try {
        for_each_member(std::move(archive.bytes), [&](const std::string& name, std::unique_ptr<ByteSource> bytes) {
            const std::string where = fmt::format("{}: member {}", archive.name, name_in_quotes(name));
            choice.offer(name, look_into(where, std::move(bytes), archive.compressed));
        });
    } catch (const BrokenSource& broken) {
        throw InputError(fmt::format("{}: {}", archive.name, broken.what()));
    }
    return choice.result();
}

using Columns = std::vector<std::vector<double>>;

std::string columns_in_words(Index most) { return most == 1 ? "one column" : fmt::format("1 to {} columns", most); }

Columns columns_of(const std::string& name, const CsrMatrix& matrix, Index most) {
    if (matrix.columns < 1 || matrix.columns > most) {
        throw InputError(fmt::format("{}: found a matrix of {} x {}; expected {}", name, matrix.rows, matrix.columns,
                                     columns_in_words(most)));
    }
    Columns columns(matrix.columns, std::vector<double>(matrix.rows));
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            columns[matrix.column_indices[i]][row] = matrix.values[i];
        }
    }
    return columns;
}

Columns read_npy_columns(OpenedSource opened, Index most) {
    const NpyArray array = read_npy(opened.name, *opened.bytes);
    const std::size_t dimensions = array.shape.size();
    const std::int64_t found_columns = dimensions == 2 ? array.shape[1] : 1;
    if (dimensions < 1 || dimensions > 2 || found_columns < 1 || found_columns > most) {
        throw InputError(fmt::format("{}: found an array of shape ({}); expected one dimension, or {}", opened.name,
                                     fmt::join(array.shape, ", "), columns_in_words(most)));
    }
    require_host_memory(static_cast<std::size_t>(array.size()) * sizeof(double), opened.name + ": vectors");
    const auto rows = static_cast<std::size_t>(array.shape[0]);
    Columns columns(found_columns, std::vector<double>(rows));
    const bool known = with_number_type(array.type, [&](auto number) {
        for (std::size_t i = 0; i < rows * columns.size(); ++i) {
            const auto found = item<decltype(number)>(array, i);
            double& here = array.by_columns ? columns[i / rows][i % rows] : columns[i % columns.size()][i / columns.size()];
            here = static_cast<double>(found);
            if (std::is_floating_point_v<decltype(number)> || is_exact(found, here)) continue;
            throw InputError(
                fmt::format("{}: found {} at place {}, which f64 rounds to {:.0f}; expected exact integers, or f64",
                            opened.name, found, i, here));
        }
    });
    if (!known) {
        throw InputError(
            fmt::format("{}: found the type {}; expected f32, f64, integers or bool, little-endian", opened.name, array.type));
    }
    return columns;
}

/// True for lines without numbers: blank ones, and comments after % or #.
bool is_empty_line(std::string_view line) {
    const std::string_view word = next_word(line);
    return word.empty() || word[0] == '%' || word[0] == '#';
}

/// True if the first line that is no comment has one word, a number.
bool is_number_list(std::string_view start) {
    while (!start.empty()) {
        std::string_view line = start.substr(0, start.find('\n'));
        start.remove_prefix(std::min(line.size() + 1, start.size()));
        if (is_empty_line(line)) continue;
        const std::string_view word = next_word(line);
        return next_word(line).empty() && parse_real(word).has_value();
    }
    return false;
}

std::vector<double> read_number_list(OpenedSource opened) {
    LineReader lines(std::move(opened.name), std::move(opened.bytes));
    std::vector<double> vector;
    while (lines.next()) {
        if (is_empty_line(lines.line())) continue;
        std::string_view rest = lines.line();
        const std::string_view word = next_word(rest);
        const auto number = parse_real(word);
        if (!number) lines.fail("{}", why_not_real(word));
        lines.with_place([&] { expect_end_of_line(rest, "one number per line"); });
        vector.push_back(*number);
    }
    return vector;
}

}  // namespace

CsrMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options) {
    OpenedSource opened = look_into(path.string(), open_file(path, accepted), false);
    if (is_tar(opened.start.bytes)) return read_from_tar(std::move(opened), options);
    const Container* const container = container_of(opened.start.bytes);
    if (container == nullptr && !options.member.empty()) {
        throw InputError(fmt::format("{}: found no tar archive, MATLAB file or HDF5 file; expected one to take member {} from",
                                     opened.name, name_in_quotes(options.member)));
    }
    if (container == nullptr && !is_zip(opened.start.bytes)) return read_text(std::move(opened), options.note);
    if (opened.compressed) {
        throw InputError(fmt::format("{0}: found a compressed {1}; expected the {1} itself", opened.name,
                                     container == nullptr ? ".npz" : container->file));
    }
    return container == nullptr ? read_scipy_npz(path) : read_container(*container, path, options.member);
}

Columns read_columns(const std::filesystem::path& path, const std::string& member, Index most) {
    OpenedSource opened = look_into(path.string(), open_file(path, accepted), false);
    const std::string& start = opened.start.bytes;
    if (is_tar(start)) {
        const std::string wanted = member.empty() ? ending_of_right_hand_sides : member;
        return columns_of(path.string(), read_from_tar(std::move(opened), {wanted}), most);
    }
    if (!member.empty()) return columns_of(path.string(), read_matrix(path, {member}), most);
    if (is_npy(start)) return read_npy_columns(std::move(opened), most);
    if (is_number_list(start)) return {read_number_list(std::move(opened))};
    const TextFormat* const format = text_format_of(start);
    const bool is_binary = container_of(start) != nullptr || is_zip(start);
    // Any text that begins with numbers looks like a graph of METIS.
    if (!is_binary && opened.start.broken.empty() && (format == nullptr || format->read == read_metis_graph)) {
        const auto file = foreign_file(start);
        throw InputError(fmt::format("{}: {}; expected one number per line, a .npy, or a matrix with {}", opened.name,
                                     file ? "found " + file->found : start_in_words(start), columns_in_words(most)));
    }
    return columns_of(path.string(), read_matrix(path), most);
}

std::vector<double> read_vector(const std::filesystem::path& path, const std::string& member) {
    return std::move(read_columns(path, member, 1).front());
}

}  // namespace workbench
