#include "stages/beside/code_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/output/numpy_writer.hpp"
#include "core/system/child.hpp"
#include "core/system/process.hpp"
#include "stages/beside/from_lists.hpp"
#include "stages/parameters.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t longest_shown = 400;  // characters of a program's output in a message

/// One line: the last lines of a text that are not empty, without control characters.
std::string last_lines(std::string_view text) {
    std::vector<std::string> lines(1);
    for (const char letter : text) {
        if (letter == '\n') {
            if (!lines.back().empty()) lines.emplace_back();
        } else {
            const auto byte = static_cast<unsigned char>(letter);
            if (letter != '\r') lines.back() += byte < 0x20 || byte == 0x7F ? ' ' : letter;
        }
    }
    if (lines.back().empty()) lines.pop_back();
    constexpr std::size_t most_lines = 3;
    std::string shown;
    for (std::size_t i = lines.size() - std::min(lines.size(), most_lines); i < lines.size(); ++i) {
        shown += (shown.empty() ? "" : " | ") + lines[i];
    }
    if (shown.size() <= longest_shown) return shown;
    std::size_t begin = shown.size() - longest_shown;
    while (begin < shown.size() && (static_cast<unsigned char>(shown[begin]) & 0xC0) == 0x80) ++begin;  // a whole character
    return "..." + shown.substr(begin);
}

Json json_of(const ParameterValue& value) {
    return std::visit([](const auto& plain) { return Json(plain); }, value);
}

std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string parameters_text(const CodeRun& run) {
    const CsrMatrix& matrix = run.staged.matrix;
    Json json{{"rows", matrix.rows},
              {"columns", matrix.columns},
              {"nonzeros", matrix.nonzeros()},
              {"node_size", run.staged.node_size},
              {"precision", std::string(name_of(run.precision))},
              {"gives", run.parameters.text("gives")}};
    if (run.parameters.text("gives") == "order") json["apply"] = std::string(name_of(axes_of(run.parameters)));
    if (run.parameters.has("names")) {
        for (const ShareKind kind : kinds_of_names(run.parameters)) json["names"].push_back(std::string(name_of(kind)));
    }
    json["cuts"] = Json::object();
    for (const Cuts& cuts : run.staged.cuts) json["cuts"][std::string(name_of(cuts.kind))] = cuts.boundaries;
    json["parameters"] = Json::object();
    for (const auto& [name, value] : parameters_for_code(run.parameters, run.declared))
        json["parameters"][name] = json_of(value);
    return dump(json);
}

void write_input(const std::filesystem::path& folder, const CodeRun& run) {
    WholeFile matrix(folder / code_matrix_file);
    write_scipy_npz(matrix, run.staged.matrix);
    matrix.finish();
    write_whole_file(folder / code_parameters_file, parameters_text(run));
}

/// Throws unless the program ended well.
void check_end(const CodeRun& run, const Ending& end, double limit_seconds) {
    if (!end.not_started.empty()) {
        throw Unsuitable(
            fmt::format("{} cannot be started: {}: {}; expected a program on PATH, or a path relative to the recipe", run.shown,
                        run.command.front(), end.not_started));
    }
    const std::string lines = last_lines(end.output);
    const std::string output = lines.empty() ? "it printed nothing" : "its last output: " + lines;
    if (end.too_long) {
        throw Unsuitable(fmt::format("{} does not end within {} s (limit_seconds); {}", run.shown, limit_seconds, output));
    }
    if (end.signal != 0)
        throw Unsuitable(fmt::format("{} ends with a signal: {}; {}", run.shown, strsignal(end.signal), output));
    if (end.exit_code == code_says_why && !lines.empty()) throw Unsuitable(fmt::format("{}: {}", run.shown, lines));
    if (end.exit_code != 0) throw Unsuitable(fmt::format("{} ends with exit code {}; {}", run.shown, end.exit_code, output));
}

/// The file of a result, with one of the known endings; none if there is none.
std::optional<std::filesystem::path> find_result(const std::filesystem::path& folder, const std::string& name) {
    for (const char* ending : {".npy", ".txt", ".mtx"}) {
        std::filesystem::path file = folder / (name + ending);
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored)) return file;
    }
    return std::nullopt;
}

std::string name_of_result(const std::filesystem::path& file, const CodeRun& run) {
    return fmt::format("{} of {}", file.filename().string(), run.shown);
}

NumberList read_result(const std::filesystem::path& folder, const std::string& name, const CodeRun& run) {
    const auto file = find_result(folder, name);
    if (!file) {
        throw Unsuitable(fmt::format("{} wrote no {}.npy; expected it in its current folder, as gives = \"{}\"", run.shown,
                                     name, run.parameters.text("gives")));
    }
    return read_numbers(*file, name_of_result(*file, run));
}

StageResult read_results(const std::filesystem::path& folder, const CodeRun& run) {
    const std::string& gives = run.parameters.text("gives");
    if (gives == "shares") {
        const std::vector<ShareKind> kinds = kinds_of_names(run.parameters);
        const std::filesystem::path exported = folder / "shares.npz";
        std::error_code ignored;
        if (std::filesystem::exists(exported, ignored)) {
            return shares_from_export(exported, name_of_result(exported, run), run.staged, kinds);
        }
        return shares_from(read_result(folder, "shares", run), run.staged, kinds, 0);
    }
    if (gives == "partition" && !find_result(folder, "cuts_partition")) {
        return partition_from(read_result(folder, "partition", run), run.staged, 0);
    }
    StageResult result;
    result.change.order = order_from(read_result(folder, "order", run), run.staged,
                                     {.acts = axes_of(run.parameters), .in_parts = stays_in_parts(run.parameters)});
    if (gives == "partition") {
        result.change.cuts = {cuts_from(read_result(folder, "cuts_partition", run), run.staged, CutKind::partition)};
    }
    return result;
}

void read_notes(const std::filesystem::path& folder, const CodeRun& run, StageResult& result) {
    constexpr std::uintmax_t longest = 1 << 16;
    const std::filesystem::path file = folder / code_notes_file;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    const auto refuse = [&] {
        throw Unsuitable(fmt::format("{}: expected an object of texts and numbers, of at most {} bytes",
                                     name_of_result(file, run), longest));
    };
    if (std::filesystem::file_size(file, ignored) > longest) refuse();
    std::ifstream stream(file, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) refuse();
    for (const auto& [name, value] : json.items()) {
        if (!value.is_string() && !value.is_number()) refuse();
        result.notes.emplace_back(last_lines(name), last_lines(value.is_string() ? value.get<std::string>() : value.dump()));
    }
}

StageResult run_once(const CodeRun& run) {
    const WorkFolder folder;
    write_input(folder.path(), run);
    const double limit = run.parameters.real("limit_seconds");
    const auto begin = std::chrono::steady_clock::now();
    const Ending end = Child(run.command, {.output = ChildOutput::returned, .folder = folder.path()}).wait(limit);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    check_end(run, end, limit);
    StageResult result = read_results(folder.path(), run);
    result.notes.emplace_back("code ran", fmt::format("{:.3g} s", seconds.count()));
    read_notes(folder.path(), run, result);
    if (const std::string lines = last_lines(end.output); !lines.empty()) result.notes.emplace_back("printed", lines);
    return result;
}

bool is_same(const StageChange& a, const StageChange& b) {
    const bool same_order = a.order.has_value() == b.order.has_value() && (!a.order || a.order->order == b.order->order);
    return same_order && a.cuts == b.cuts && a.shares == b.shares;
}

}  // namespace

std::vector<ParameterDeclaration> parameters_of_code(ParameterDeclaration own) {
    return {std::move(own),
            choice_parameter("gives", by_default("order"), {"order", "partition", "shares"},
                             "what the code gives: an order, the part of each row, or the share of each nonzero"),
            apply_parameter(not_required, {"symmetric", "rows", "columns"}, "; default: symmetric; only if it gives an order"),
            within_parameter(),
            names_parameter(),
            real_parameter("limit_seconds", by_default(60.0), between(0.001, 86400, "s"), "end the code after this time"),
            declare("check_purity", ParameterType::boolean, by_default(false), {},
                    "run the code twice, and refuse it if the second result differs")};
}

StageContract contract_of_code(const Parameters& parameters, const std::string& other) {
    const std::string& gives = parameters.text("gives");
    if (parameters.has(other)) throw ParameterError(other, "found a second piece of code, expected only one in a stage");
    for (const char* const of_order : {"apply", "within"}) {
        if (!parameters.has(of_order) || gives == "order") continue;
        throw ParameterError(of_order, "found for code that gives " + gives + ", expected it only with gives = \"order\"");
    }
    if (parameters.has("names") != (gives == "shares")) {
        throw ParameterError(
            "names", gives == "shares" ? R"(found none, expected the names of the shares, as "label_0, label_1")"
                                       : "found for code that gives " + gives + ", expected it only with gives = \"shares\"");
    }
    if (gives == "shares") return contract_of_shares(kinds_of_names(parameters));
    if (gives == "partition") return contract_of_parts();
    return contract_of_own_order(parameters);
}

std::map<std::string, ParameterValue> parameters_for_code(const Parameters& parameters,
                                                          const std::vector<ParameterDeclaration>& own) {
    std::map<std::string, ParameterValue> values(parameters.values().begin(), parameters.values().end());
    for (const ParameterDeclaration& declaration : own) values.erase(declaration.name);
    return values;
}

StageResult run_code(const CodeRun& run) {
    StageResult result = run_once(run);
    if (!run.parameters.boolean("check_purity")) return result;
    if (!is_same(result.change, run_once(run).change)) {
        throw Unsuitable(fmt::format(
            "{} gives another result in a second run; expected the same one for the same input (check_purity)", run.shown));
    }
    return result;
}

}  // namespace workbench
