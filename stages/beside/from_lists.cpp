#include "stages/beside/from_lists.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "core/input/npz/npz_archive.hpp"
#include "core/input/texts/line_reader.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/suggestion.hpp"
#include "core/text/words.hpp"
#include "stages/order.hpp"

namespace workbench {
namespace {

constexpr std::string_view matrix_market_start = "%%MatrixMarket";

NumberList numbers_of_npy(const std::string& file, ByteSource& source) {
    const NpyArray array = read_npy(file, source);
    const bool column = array.shape.size() == 2 && array.shape[1] == 1;
    if (array.shape.size() != 1 && !column) {
        throw Unsuitable(fmt::format("{}: found an array of {}; expected 1", file, counted(array.shape.size(), "dimension")));
    }
    const auto count = static_cast<std::size_t>(array.size());
    require_host_memory(count * sizeof(std::int64_t), file);
    std::vector<std::int64_t> numbers(count);
    const bool known = with_integer_type(array.type, [&](auto number) {
        for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(item<decltype(number)>(array, i));
    });
    if (!known) {
        throw Unsuitable(
            fmt::format("{}: found values of type {}; expected integers, little-endian, as of numpy's astype(numpy.int64)",
                        file, array.type));
    }
    return {file, std::move(numbers)};
}

/// An integer, possibly written as a real number.
std::int64_t integer_of(std::string_view word, const LineReader& lines) {
    if (const std::optional<std::int64_t> integer = parse_integer(word)) return *integer;
    const std::optional<double> real = parse_real(word);
    if (real && std::trunc(*real) == *real && std::abs(*real) < 9e15) return static_cast<std::int64_t>(*real);
    lines.fail("found {}; expected an integer", in_quotes(word));
}

/// The size that a Matrix Market header declares.
std::size_t size_of_array(LineReader& lines) {
    std::string_view rest = lines.line();
    std::vector<std::string> words;
    for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) words.push_back(lower_case(word));
    if (words.size() != 5 || words[1] != "matrix" || words[2] != "array" || (words[3] != "integer" && words[3] != "real") ||
        words[4] != "general") {
        lines.fail("found {}; expected '%%MatrixMarket matrix array integer general'", in_quotes(lines.line(), 80));
    }
    while (lines.next()) {
        std::string_view line = lines.line();
        if (line.starts_with('%') || next_word(line).empty()) continue;
        line = lines.line();
        return lines.with_place([&] {
            const std::int64_t rows = take_integer(line, "size", 0, no_limit);
            (void)take_integer(line, "number of columns", 1, 1);
            expect_end_of_line(line, "a size and one column");
            return static_cast<std::size_t>(rows);
        });
    }
    lines.fail("found the end of the file; expected the size of the array");
}

NumberList numbers_of_text(const std::string& file, std::unique_ptr<ByteSource> source) {
    LineReader lines(file, std::move(source));
    std::vector<std::int64_t> numbers;
    std::vector<std::int64_t> line_of;
    std::optional<std::size_t> size;
    while (lines.next()) {
        std::string_view line = lines.line();
        if (lines.number() == 1 && line.starts_with(matrix_market_start)) {
            size = size_of_array(lines);
            continue;
        }
        const std::string_view word = next_word(line);
        const auto is_comment = [](std::string_view text) { return text.starts_with('#') || text.starts_with('%'); };
        if (word.empty() || is_comment(word)) continue;
        numbers.push_back(integer_of(word, lines));
        line_of.push_back(lines.number());
        if (const std::string_view more = next_word(line); !more.empty() && !is_comment(more))
            lines.fail("found several numbers in a line; expected one");
    }
    if (size && *size != numbers.size()) {
        lines.fail("found {}; expected {}, as the header says", counted(numbers.size(), "number"), *size);
    }
    NumberList list(file, std::move(numbers));
    for (std::size_t i = 0; i < line_of.size(); ++i) list.note_line(i, line_of[i]);
    return list;
}

template <typename... Values>
[[noreturn]] void refuse_entry(const NumberList& list, std::size_t i, fmt::format_string<Values...> text, Values&&... values) {
    throw Unsuitable(fmt::format("{}: {}", list.where(i), fmt::format(text, std::forward<Values>(values)...)));
}

template <typename... Values>
[[noreturn]] void refuse_list(const NumberList& list, fmt::format_string<Values...> text, Values&&... values) {
    throw Unsuitable(fmt::format("{}: {}", list.file(), fmt::format(text, std::forward<Values>(values)...)));
}

/// The number counted from 0; negative if it is less than the base.
std::int64_t offset_from(std::int64_t number, int base) { return number < base ? -1 : number - base; }

/// Returns true if the list has an entry for each node, false if it has one for each row.
bool lists_nodes(const NumberList& list, Index length, Index node_size, std::string_view item) {
    const auto rows = static_cast<std::size_t>(length);
    if (list.size() == rows) return false;
    const std::size_t nodes = rows / static_cast<std::size_t>(node_size);
    if (node_size > 1 && list.size() == nodes) return true;
    if (node_size > 1) {
        refuse_list(list, "found {}; expected {}, one for each {}, or {}, one for each node", counted(list.size(), "number"),
                    rows, item, nodes);
    }
    refuse_list(list, "found {}; expected {}, one for each {}", counted(list.size(), "number"), rows, item);
}

/// The entries as indices from 0 to size - 1, each of which must occur once.
std::vector<Index> bijection(const NumberList& list, int base, std::string_view item) {
    const auto size = static_cast<std::int64_t>(list.size());
    constexpr std::size_t nowhere = SIZE_MAX;
    std::vector<std::size_t> found_at(list.size(), nowhere);
    std::vector<Index> result(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::int64_t value = offset_from(list[i], base);
        if (value < 0 || value >= size) {
            const char* const hint = base == 0 && list[i] == size ? "; if they are counted from 1, set base = 1" : "";
            refuse_entry(list, i, "found {}; expected a {} from {} to {}{}", list[i], item, base, size - 1 + base, hint);
        }
        std::size_t& first = found_at[static_cast<std::size_t>(value)];
        if (first != nowhere) {
            std::vector<bool> present(list.size(), false);
            for (std::size_t k = 0; k < list.size(); ++k) {
                const std::int64_t other = offset_from(list[k], base);
                if (other >= 0 && other < size) present[static_cast<std::size_t>(other)] = true;
            }
            const auto missing = std::find(present.begin(), present.end(), false) - present.begin();
            refuse_entry(list, i, "found {} {} a second time, after entry {}, and {} {} is missing; expected each once", item,
                         list[i], first, item, missing + base);
        }
        first = i;
        result[i] = static_cast<Index>(value);
    }
    return result;
}

/// Throws unless the rows of each node follow each other.
void check_whole_nodes(const NumberList& list, const Permutation& order, Index node_size) {
    for (Index i = 0; i < order.size(); ++i) {
        const Index within = i % node_size;
        const Index first = order.old_of_new(i - within);
        if (first % node_size == 0 && order.old_of_new(i) == first + within) continue;
        throw Unsuitable(
            fmt::format("{}: position {} of the new order has row {}; expected the {} of a node together and in order "
                        "(node_size)",
                        list.file(), i, order.old_of_new(i), counted(node_size, "row")));
    }
}

StageResult result_of_shares(std::vector<Share> shares) {
    StageResult result;
    for (const Share& share : shares) {
        result.notes.emplace_back(name_of(share.id), fmt::format("{} in {}", counted(share.entries.size(), "nonzero"),
                                                                 counted(share.rows.size(), "row")));
    }
    result.change.shares = std::move(shares);
    return result;
}

/// Throws unless every row stays in its part.
void check_parts(const NumberList& list, const Permutation& order, const StagedMatrix& staged) {
    const std::vector<Index> piece_of = staged.find_cuts(CutKind::partition)->pieces();
    for (Index i = 0; i < order.size(); ++i) {
        if (piece_of[i] == piece_of[order.old_of_new(i)]) continue;
        throw Unsuitable(fmt::format("{}: row {} moves from part {} to part {}; expected rows to stay in their part (within)",
                                     list.file(), order.old_of_new(i), piece_of[order.old_of_new(i)], piece_of[i]));
    }
}

std::string_view axis_of(Acts acts) { return acts == Acts::columns ? "column" : "row"; }

/// The part of each node.
std::vector<Index> parts_of_nodes(const NumberList& labels, const StagedMatrix& staged, int base) {
    const Index node_size = staged.node_size;
    const Index rows = staged.matrix.rows;
    const bool of_nodes = lists_nodes(labels, rows, node_size, "row");
    const Index step = of_nodes ? 1 : node_size;
    std::vector<Index> part_of(static_cast<std::size_t>(rows / node_size));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::int64_t part = offset_from(labels[i], base);
        if (part < 0) refuse_entry(labels, i, "found {}; expected a part of at least {}", labels[i], base);
        if (part >= rows) {
            refuse_entry(labels, i, "found part {}; expected fewer parts than the {}", labels[i], counted(rows, "row"));
        }
        const std::size_t node = i / static_cast<std::size_t>(step);
        if (i % static_cast<std::size_t>(step) == 0) {
            part_of[node] = static_cast<Index>(part);
        } else if (part_of[node] != part) {
            refuse_entry(labels, i,
                         "found part {} for row {}, but part {} for the first row of its node of {}; expected "
                         "one part for a node",
                         labels[i], i, part_of[node] + base, counted(node_size, "row"));
        }
    }
    return part_of;
}

}  // namespace

std::string NumberList::where(std::size_t i) const {
    if (lines_.empty()) return fmt::format("{}: entry {}", file_, i);
    const auto after = std::upper_bound(lines_.begin(), lines_.end(), i,
                                        [](std::size_t entry, const EntryLine& line) { return entry < line.entry; });
    const EntryLine& line = *(after - 1);
    return fmt::format("{}:{}", file_, line.line + static_cast<std::int64_t>(i - line.entry));
}

void NumberList::note_line(std::size_t i, std::int64_t line) {
    if (!lines_.empty()) {
        const EntryLine& last = lines_.back();
        if (line - last.line == static_cast<std::int64_t>(i - last.entry)) return;
    }
    lines_.push_back({i, line});
}

NumberList read_numbers(const std::filesystem::path& path, const std::string& name) {
    try {
        std::unique_ptr<ByteSource> source = open_file(path, "a list of integers");
        constexpr std::size_t start_bytes = 16;
        Start start = look_at_start(source, start_bytes);
        if (const std::string_view compression = compression_of(start.bytes); !compression.empty()) {
            source = decompressed(std::move(source), compression);
            start = look_at_start(source, start_bytes);
        }
        if (is_npy(start.bytes)) return numbers_of_npy(name, *source);
        if (is_zip(start.bytes)) {
            throw Unsuitable(fmt::format("{}: found a zip archive; expected a list of integers: .npy, .mtx or text", name));
        }
        return numbers_of_text(name, std::move(source));
    } catch (const InputError& wrong) {
        std::string text = wrong.what();
        if (text.starts_with(path.string())) text.replace(0, path.string().size(), name);
        throw Unsuitable(text);
    }
}

OrderChange order_from(const NumberList& list, const StagedMatrix& staged, const OrderForm& form) {
    const std::string_view item = axis_of(form.acts);
    const Index length = form.acts == Acts::columns ? staged.matrix.columns : staged.matrix.rows;
    const bool of_nodes = lists_nodes(list, length, staged.node_size, item);
    std::vector<Index> indices = bijection(list, form.base, of_nodes ? "node" : item);
    Permutation order =
        form.new_of_old ? Permutation::from_new_of_old(std::move(indices)) : Permutation::from_old_of_new(std::move(indices));
    if (of_nodes) {
        order = expand(order, staged.node_size);
    } else if (staged.node_size > 1) {
        check_whole_nodes(list, order, staged.node_size);
    }
    if (form.in_parts) check_parts(list, order, staged);
    return {form.acts, std::move(order)};
}

StageResult partition_from(const NumberList& labels, const StagedMatrix& staged, int base) {
    const std::vector<Index> part_of = parts_of_nodes(labels, staged, base);
    const Index parts = part_of.empty() ? 1 : *std::max_element(part_of.begin(), part_of.end()) + 1;
    std::vector<Index> begins(static_cast<std::size_t>(parts) + 1, 0);
    for (const Index part : part_of) ++begins[static_cast<std::size_t>(part) + 1];
    for (Index part = 0; part < parts; ++part) {
        if (begins[part + 1] == 0 && !part_of.empty()) {
            refuse_list(labels, "found no row in part {}, but some in part {}; expected rows in each part{}", part + base,
                        parts - 1 + base, base == 0 && part == 0 ? "; if parts are counted from 1, set base = 1" : "");
        }
        begins[part + 1] += begins[part];
    }
    std::vector<Index> order = all_of(static_cast<Index>(part_of.size()));
    stable_sort_by(order, part_of);
    for (Index& begin : begins) begin *= staged.node_size;
    StageResult result;
    result.change.order = order_of_nodes(std::move(order), staged.node_size);
    result.change.cuts = {{CutKind::partition, std::move(begins)}};
    result.notes.emplace_back("partitions", std::to_string(parts));
    return result;
}

Cuts cuts_from(const NumberList& boundaries, const StagedMatrix& staged, CutKind kind) {
    const Index length = cuts_rows(kind) ? staged.matrix.rows : staged.matrix.columns;
    if (boundaries.size() < 2) {
        refuse_list(boundaries, "found {}; expected boundaries from 0 to {}", counted(boundaries.size(), "number"), length);
    }
    Cuts cuts{kind, {}};
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
        const std::int64_t least = i == 0 ? 0 : boundaries[i - 1];
        if (i == 0 && boundaries[i] != 0)
            refuse_entry(boundaries, i, "found {}; expected 0, the first boundary", boundaries[i]);
        if (boundaries[i] < least || boundaries[i] > length) {
            refuse_entry(boundaries, i, "found {}; expected a boundary from {} to {}", boundaries[i], least, length);
        }
        if (kind == CutKind::partition && boundaries[i] % staged.node_size != 0) {
            refuse_entry(boundaries, i, "found {}, which cuts a node of {}; expected whole nodes", boundaries[i],
                         counted(staged.node_size, "row"));
        }
        cuts.boundaries.push_back(static_cast<Index>(boundaries[i]));
    }
    if (cuts.boundaries.back() != length) {
        refuse_entry(boundaries, boundaries.size() - 1, "found {}; expected {}, the last boundary",
                     boundaries[boundaries.size() - 1], length);
    }
    return cuts;
}

std::vector<std::uint8_t> numbers_of_shares(const NumberList& labels, const ShareView& rows, std::size_t shares, int base) {
    if (static_cast<Offset>(labels.size()) != rows.entry_count()) {
        refuse_list(labels, "found {}; expected {}, one for each nonzero", counted(labels.size(), "number"),
                    rows.entry_count());
    }
    const auto count = static_cast<std::int64_t>(shares);
    std::vector<std::uint8_t> numbers(labels.size());
    for (Index row = 0; row < rows.row_count(); ++row) {
        for (Offset k = 0; k < rows.length(row); ++k) {
            const auto i = static_cast<std::size_t>(rows.offsets()[row] + k);
            const std::int64_t label = offset_from(labels[i], base);
            if (label < 0 || label >= count) {
                refuse_entry(labels, i, "found label {} for a nonzero of row {}; expected one from {} to {}, as names has {}",
                             labels[i], row, base, count - 1 + base, count);
            }
            numbers[i] = static_cast<std::uint8_t>(label);
        }
    }
    return numbers;
}

bool are_checked(const std::vector<ShareKind>& kinds) {
    return std::ranges::any_of(kinds, [](ShareKind kind) {
        return kind == ShareKind::inside || kind == ShareKind::outside || kind == ShareKind::first;
    });
}

StageResult shares_from(const NumberList& labels, const StagedMatrix& staged, const std::vector<ShareKind>& kinds, int base) {
    const CsrMatrix& matrix = staged.matrix;
    const std::vector<std::uint8_t> numbers = numbers_of_shares(labels, ShareView(matrix), kinds.size(), base);
    std::vector<Share> shares;
    for (const ShareKind kind : kinds) shares.push_back({.id = {kind}});
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset entry = matrix.row_offsets[row]; entry < matrix.row_offsets[row + 1]; ++entry) {
            Share& share = shares[numbers[static_cast<std::size_t>(entry)]];
            if (share.rows.empty() || share.rows.back() != row) {
                share.rows.push_back(row);
                share.row_offsets.push_back(share.row_offsets.back());
            }
            share.entries.push_back(entry);
            ++share.row_offsets.back();
        }
    }
    if (are_checked(kinds)) return checked_shares(std::move(shares), staged, labels.file());
    return result_of_shares(std::move(shares));
}

StageResult checked_shares(std::vector<Share> shares, const StagedMatrix& staged, const std::string& file) {
    StagedMatrix with_shares;
    with_shares.matrix = staged.matrix;
    with_shares.cuts = staged.cuts;
    with_shares.shares = std::move(shares);
    try {
        check_shares(with_shares);
    } catch (const std::logic_error& wrong) {
        throw Unsuitable(fmt::format("{}: {}; expected shares of this matrix", file, wrong.what()));
    }
    return result_of_shares(std::move(with_shares.shares));
}

ParameterDeclaration within_parameter() {
    return choice_parameter("within", not_required, {"all", "partition"},
                            "order: rows move anywhere, or stay within their partition, which then remains; default: all");
}

bool stays_in_parts(const Parameters& parameters) {
    return parameters.has("within") && parameters.text("within") == "partition";
}

StageContract contract_of_own_order(const Parameters& parameters) {
    StageContract contract = contract_of_order(parameters);
    if (stays_in_parts(parameters)) contract.needs.cuts = contract.keeps = {CutKind::partition};
    return contract;
}

ParameterDeclaration names_parameter() {
    return declare("names", ParameterType::text, not_required, {},
                   "shares: the shares that labels 0, 1, ... stand for, as \"label_0, label_1\", or names of stage split");
}

std::vector<ShareKind> kinds_of_names(const Parameters& parameters) {
    std::vector<std::string> known;
    for (const ShareKind kind : kinds_of_shares) {
        if (!has_places(kind)) known.emplace_back(name_of(kind));
    }
    std::vector<ShareKind> kinds;
    std::string_view rest = parameters.text("names");
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        std::string_view word = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        const std::optional<ShareId> id = single_share(word);
        if (!id || id->is_split_again()) {
            throw ParameterError("names", fmt::format("found '{}'{}", word.substr(0, 40), expected_one_of(word, known)));
        }
        if (std::find(kinds.begin(), kinds.end(), id->kind) != kinds.end()) {
            throw ParameterError("names", fmt::format("found '{}' twice, expected each name once", word));
        }
        kinds.push_back(id->kind);
    }
    if (kinds.empty()) throw ParameterError("names", R"(found none, expected names such as "label_0, label_1")");
    return kinds;
}

StageContract contract_of_shares(const std::vector<ShareKind>& kinds) {
    StageContract contract{.needs = {.unsplit = true}};
    for (const ShareKind kind : kinds) {
        contract.gives_shares.push_back({kind});
        const bool of_partition = kind == ShareKind::inside || kind == ShareKind::outside;
        if (of_partition && contract.needs.cuts.empty()) contract.needs.cuts = {CutKind::partition};
    }
    return contract;
}

StageContract contract_of_parts() {
    return {.needs = {.square = true}, .acts = Acts::symmetric, .gives_cuts = {CutKind::partition}};
}

}  // namespace workbench
