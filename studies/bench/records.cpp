#include "studies/bench/records.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "studies/bench/line.hpp"
#include "studies/bench/tell_apart.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;  // a sweep's label lists its values in nesting order

std::string text_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

bool truth_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

const Json& list_at(const Json& object, const char* key) {
    static const Json none = Json::array();
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : none;
}

const Json& object_at(const Json& object, const char* key) {
    static const Json none = Json::object();
    const auto found = object.find(key);
    return found != object.end() && found->is_object() ? *found : none;
}

/// Collects all numbers of a JSON object; nested ones get names such as "row_length.mean".
void add_numbers(const Json& object, const std::string& prefix, std::map<std::string, double>& numbers) {
    for (const auto& [key, value] : object.items()) {
        if (value.is_number()) numbers[prefix + key] = value.get<double>();
        if (value.is_object()) add_numbers(value, prefix + key + ".", numbers);
    }
}

/// The fields shared by all records of one report or line.
Record common_of(const Json& report) {
    Record record;
    const Json& recipe = object_at(report, "recipe");
    record.name = text_at(recipe, "name");
    record.facts = facts_of_recipe(text_at(recipe, "resolved"));
    const auto add_fact = [&record](const char* key, const std::string& value) {
        if (!value.empty()) record.facts.emplace(key, value);
    };
    add_fact("file", std::filesystem::path(text_at(recipe, "file")).filename().string());
    add_fact("cache", text_at(report, "cache"));
    add_fact("vectors", fmt::format("{}", report.value("vectors", 1)));
    add_fact("threads", text_at(object_at(report, "machine"), "threads"));
    std::string point;
    for (const auto& [name, value] : object_at(report, "sweep").items()) {
        point += fmt::format("{}{}={}", point.empty() ? ": " : ", ", name.substr(name.rfind('.') + 1),
                             value.is_string() ? value.get<std::string>() : value.dump());
    }
    record.name += point;
    const Json& matrix = object_at(report, "matrix");
    const std::string named = text_at(object_at(report, "key"), "matrix");
    record.matrix = named.empty() ? text_at(matrix, "source") : named;
    const Json& stages = list_at(report, "stages");
    if (!stages.empty()) add_numbers(object_at(stages[0], "metrics"), "", record.metrics);
    for (const char* key : {"rows", "columns", "nonzeros"}) {
        if (matrix.contains(key)) record.metrics[key] = number_at(matrix, key);
    }
    std::set<std::string> seen;
    for (const Json& stage : stages) {
        const std::string id = text_at(stage, "id");
        if (id == "input" || !seen.insert(id).second) continue;
        record.shape += text_at(stage, "name") + ' ';
        add_numbers(object_at(stage, "parameters"), "stage." + id + ".", record.parameters);
    }
    const Json& layouts = list_at(report, "layouts");
    if (!layouts.empty()) {
        record.shape += text_at(layouts[0], "name");
        add_numbers(object_at(layouts[0], "parameters"), "layout.", record.parameters);
    }
    return record;
}

/// True if the kernel belongs to the recipe. The baseline does if the recipe is the baseline: its layout without stages.
bool is_own(const Json& report, const Json& kernel) {
    if (!truth_at(kernel, "baseline")) return true;
    const Json& layouts = list_at(report, "layouts");
    return list_at(report, "stages").size() == 1 && !layouts.empty() &&
           text_at(layouts[0], "name") == text_at(kernel, "layout");
}

void add_preparation(const Json& report, const Json& kernel, Record& record) {
    for (const Json& stage : list_at(report, "stages")) {
        const std::string precision = text_at(stage, "precision");
        if (text_at(stage, "id") == "input" || (!precision.empty() && precision != record.precision)) continue;
        record.preparation.emplace_back(text_at(stage, "id"), number_at(stage, "seconds"));
    }
    double layouts = 0;
    for (const Json& layout : list_at(report, "layouts")) {
        const bool is_share = !text_at(layout, "share").empty();  // the sum of all shares is listed as well
        if (!is_share && text_at(layout, "precision") == record.precision) layouts += number_at(layout, "seconds");
    }
    record.preparation.emplace_back("layout", layouts);
    record.preparation.emplace_back("copy", number_at(kernel, "prepare_seconds"));
    const double vectors = number_at(kernel, "vector_permutation_seconds");
    if (vectors > 0) record.preparation.emplace_back("vectors", vectors);
}

/// The warnings about a kernel's time, and about that of the baseline, to which its speed-up is relative.
void add_warnings(const Json& report, const Json& kernel, Record& record) {
    std::vector<std::string>& all = record.warnings;
    for (const Json& other : list_at(report, "kernels")) {
        const bool is_baseline = other.is_object() && truth_at(other, "baseline") &&
                                 text_at(other, "precision") == record.precision &&
                                 device_of_backend(text_at(other, "backend")) == record.device;
        if (&other != &kernel && !is_baseline) continue;
        for (const Json& warning : list_at(other, "warnings")) {
            if (warning.is_string() && std::ranges::count(all, warning.get<std::string>()) == 0) all.push_back(warning);
        }
    }
}

std::optional<double> known_number_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

void add_kernel(const Json& report, const Json& kernel, Record& record) {
    record.status = "measured";
    record.layout = text_at(kernel, "layout");
    record.kernel = text_at(kernel, "kernel");
    record.backend = text_at(kernel, "backend");
    record.seconds = number_at(kernel, "median_seconds");
    record.gflops = number_at(kernel, "gflops");
    record.gbytes_per_second = number_at(kernel, "gbytes_per_second");
    record.bytes_per_nonzero = number_at(kernel, "bytes_per_nonzero");
    record.speedup = known_number_at(kernel, "speedup");
    record.setup_seconds = known_number_at(kernel, "setup_seconds");
    record.first_seconds = known_number_at(kernel, "first_seconds");
    record.new_values_seconds = known_number_at(kernel, "new_values_seconds");
    add_warnings(report, kernel, record);
    const Json& interval = list_at(kernel, "speedup_interval");
    if (interval.size() == 2 && interval[0].is_number() && interval[1].is_number()) {
        record.interval = Interval{interval[0], interval[1]};
    }
    if (truth_at(kernel, "baseline")) record.interval = Interval{1, 1};
    record.verdict = truth_at(kernel, "baseline") ? "baseline" : text_at(kernel, "verdict");
    if (record.verdict == "busy machine") record.interval.reset();
    if (const double products = number_at(kernel, "break_even"); products > 0) record.break_even = products;
    for (const Json& device : list_at(report, "devices")) {
        if (text_at(device, "kind") != record.device) continue;
        if (const std::string name = text_at(device, "name"); !name.empty()) record.facts[record.device] = name;
        record.copy_bandwidth = number_at(device, "copy_bytes_per_second");
        record.read_bandwidth = number_at(device, "read_bytes_per_second");
    }
}

void add_report(const Json& report, std::vector<Record>& records) {
    const Record common = common_of(report);
    std::map<std::pair<std::string, std::string>, const Json*> best;  // by precision and device
    bool own = false;
    for (const Json& kernel : list_at(report, "kernels")) {
        if (!kernel.is_object() || !is_own(report, kernel)) continue;
        own = true;
        const std::string precision = text_at(kernel, "precision");
        if (text_at(kernel, "status") == "wrong") {
            Record wrong = common;
            wrong.precision = precision;
            wrong.status = "wrong";
            wrong.reason = text_at(kernel, "reason");
            records.push_back(std::move(wrong));
        }
        if (text_at(kernel, "status") != "measured" || !text_at(kernel, "share").empty()) continue;
        const Json*& fastest = best[{precision, device_of_backend(text_at(kernel, "backend"))}];
        if (fastest == nullptr || number_at(kernel, "median_seconds") < number_at(*fastest, "median_seconds")) {
            fastest = &kernel;
        }
    }
    const std::vector<FailedOwnKernel> failed = failed_own_kernels(common.facts, report);
    for (const FailedOwnKernel& kernel : failed) {
        best.erase({kernel.precision, kernel.device});
        if (kernel.status == "wrong") continue;  // recorded above
        Record record = common;
        record.precision = kernel.precision;
        record.status = kernel.status;
        record.reason = kernel.reason;
        records.push_back(std::move(record));
    }
    for (const auto& [where, kernel] : best) {
        Record record = common;
        std::tie(record.precision, record.device) = where;
        add_kernel(report, *kernel, record);
        add_preparation(report, *kernel, record);
        records.push_back(std::move(record));
    }
    if (!best.empty() || !failed.empty()) return;
    Record none = common;
    none.precision = text_at(object_at(report, "key"), "precision");
    none.status = text_at(report, "status");
    none.reason = text_at(report, "reason");
    const Json& errors = list_at(report, "errors");
    const bool is_unsuitable = errors.empty() || !text_at(report, "unsuitable").empty();
    if (none.status.empty()) none.status = is_unsuitable ? "unsuitable" : "failed";
    if (none.reason.empty() && !errors.empty() && errors[0].is_string()) none.reason = errors[0];
    for (const Json& layout : list_at(report, "layouts")) {
        if (none.reason.empty()) none.reason = text_at(layout, "unsuitable");
    }
    for (const Json& kernel : list_at(report, "kernels")) {
        if (none.reason.empty() && is_own(report, kernel)) none.reason = text_at(kernel, "reason");
    }
    if (none.status != "wrong" || !own) records.push_back(std::move(none));
}

/// Adds the records of a run's JSON, which contains one report or several.
void add_run(const Json& run, std::vector<Record>& records) {
    const auto add = [&records](const Json& report) {
        const int number = records.empty() ? 0 : records.back().report + 1;
        const std::size_t before = records.size();
        add_report(report, records);
        for (std::size_t i = before; i < records.size(); ++i) records[i].report = number;
    };
    const auto runs = run.find("runs");
    if (runs == run.end()) return add(run);
    for (const Json& report : *runs) add(report);
}

bool is_report(const Json& json) {
    return json.is_object() && (json.contains("runs") || (json.contains("recipe") && json.contains("matrix")));
}

/// True if the text may be the beginning of a line of a bench.
bool begins_line(std::string_view text) {
    constexpr std::string_view beginning_of_line = "{\"key\":";
    return text.substr(0, beginning_of_line.size()) == beginning_of_line.substr(0, text.size());
}

/// Appends the records of one file, with repeated measurements. Returns a note if the file is not complete, or an empty text.
std::string add_file(const std::filesystem::path& file, std::vector<Record>& records) {
    std::ifstream stream(file, std::ios::binary);
    std::error_code unknown;
    if (!stream || std::filesystem::is_directory(file, unknown)) {
        throw RecipeError(fmt::format("{}: cannot be read; expected the lines of a bench or the JSON of a run", file.string()));
    }
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    constexpr const char* blanks = " \t\r\n";
    if (text.find_first_not_of(blanks) == std::string::npos) {
        return fmt::format("{}: this file is empty; expected the lines of a bench or the JSON of a run", file.string());
    }
    if (const Json whole = Json::parse(text, nullptr, false); is_report(whole)) {
        add_run(whole, records);
        return "";
    }
    int number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        ++number;
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (text.find_first_not_of(blanks, begin) >= end) {
            begin = end + 1;
            continue;
        }
        const Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                      text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
        if (is_report(line)) {
            add_run(line, records);
        } else if (end != text.size() || !begins_line(std::string_view(text).substr(begin))) {
            throw RecipeError(fmt::format("{}:{}:1: neither a line of a bench nor the JSON of a run{}", file.string(), number,
                                          number > 1 ? "; remove this line to use the others" : ""));
        } else {
            return fmt::format("{}:{}: this line is incomplete and left out; repeat the bench", file.string(), number);
        }
        begin = end + 1;
    }
    return "";
}

}  // namespace

std::string short_matrix_name(const std::string& matrix) {
    const std::string name = matrix.substr(matrix.find_last_of('/') + 1);
    return matrix.find(':') == std::string::npos ? name.substr(0, name.find('.')) : matrix;
}

std::vector<std::string> add_records(const std::vector<std::filesystem::path>& files, std::vector<Record>& records) {
    const std::size_t before = records.size();
    std::vector<std::string> notes;
    for (const std::filesystem::path& file : files) {
        if (std::string note = add_file(file, records); !note.empty()) notes.push_back(std::move(note));
    }
    if (records.size() == before && !notes.empty()) throw RecipeError(notes.front());
    keep_last_and_tell_apart(records);
    return notes;
}

std::vector<Record> records_of_line(const Json& line) {
    std::vector<Record> records;
    add_run(line, records);
    keep_last_and_tell_apart(records);
    return records;
}

std::vector<Record> records_of(const std::vector<RunReport>& reports) {
    std::vector<Record> records;
    for (const RunReport& report : reports) add_run(json_of(report), records);
    keep_last_and_tell_apart(records);
    return records;
}

}  // namespace workbench
