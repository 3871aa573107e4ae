#include "studies/bench/judgement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text/text_table.hpp"
#include "pipeline/measure/timing.hpp"
#include "studies/bench/line.hpp"
#include "studies/bench/ranking.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

/// Parts of the sentences of results, the first one that fits counts.
constexpr std::array<std::pair<std::string_view, WrongWay>, 21> sentences{{
    {"the kernel was right before", WrongWay::late},
    {"does not do all of the work", WrongWay::too_fast},
    {"not finished", WrongWay::unfinished},
    {"could not be ended at its limit", WrongWay::unfinished},
    {"which is only to be read", WrongWay::input},
    {"reaches behind", WrongWay::outside},
    {"reaches before", WrongWay::outside},
    {"writes outside", WrongWay::outside},
    {"where nothing is", WrongWay::outside},
    {"CUDA_ERROR_ILLEGAL_ADDRESS", WrongWay::outside},
    {"gives another result for the same x", WrongWay::changing},
    {"does not write", WrongWay::unwritten},
    {"was never written", WrongWay::unwritten},
    {"expected exactly", WrongWay::exact},
    {"exceeds the bound", WrongWay::bounds},
    {": y = ", WrongWay::bounds},
    {"ends the program", WrongWay::crash},
    {"ends with a signal", WrongWay::crash},
    {"killed by signal", WrongWay::crash},
    {"exit code", WrongWay::crash},
    {"fails on the device", WrongWay::crash},
}};

double number_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_in(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The time of the baseline of the device on which the recipe of a line runs.
double seconds_of_baseline(const Json& line, const std::string& device) {
    for (const Json& kernel : line.value("kernels", Json::array())) {
        const std::string backend = text_in(kernel, "backend");
        if (kernel.value("baseline", false) && device_of_backend(backend) == device) return number_of(kernel, "median_seconds");
    }
    return 0;
}

bool is_vendor(const Record& record) { return record.backend == "cusparse" || record.backend == "eigen"; }

/// What a comparison needs of each kernel that a line measured, not of the fastest alone.
std::vector<Record> kernels_of(const Json& line) {
    std::vector<Record> kernels;
    for (const Json& kernel : line.value("kernels", Json::array())) {
        if (text_in(kernel, "status") != "measured" || number_of(kernel, "speedup") <= 0) continue;
        Record& record = kernels.emplace_back();
        record.recipe = text_in(line.at("recipe"), "name");
        record.kernel = text_in(kernel, "kernel");
        record.backend = text_in(kernel, "backend");
        record.device = device_of_backend(record.backend);
        record.seconds = number_of(kernel, "median_seconds");
        record.speedup = number_of(kernel, "speedup");
        record.setup_seconds = number_of(kernel, "setup_seconds");
        record.verdict = text_in(kernel, "verdict");
    }
    return kernels;
}

/// The speed-up over the baseline, which is in both processes, makes times of two processes comparable.
void keep_faster(std::optional<Record>& best, const Record& record) {
    if (!best || *record.speedup > *best->speedup) best = record;
}

bool is_busy(const Record& record) { return record.verdict == "busy machine"; }

/// How many times faster the kernel is than another; none if either was not timed, or on a busy machine.
std::optional<double> times_faster(const JudgedMatrix& one, const std::optional<Record>& other) {
    if (!one.timed || !one.timed->speedup || !other || !other->speedup || *other->speedup <= 0) return std::nullopt;
    if (is_busy(*one.timed) || is_busy(*other)) return std::nullopt;
    return *one.timed->speedup / *other->speedup;
}

/// Products after which the set-up pays off against another kernel; none if it never does.
std::optional<double> products_to_pay(const JudgedMatrix& one, const std::optional<Record>& other) {
    const std::optional<double> factor = times_faster(one, other);
    if (!factor || *factor <= 1 || !one.timed->setup_seconds) return std::nullopt;
    const double gain = one.timed->seconds * (*factor - 1);
    return std::max(0.0, *one.timed->setup_seconds - other->setup_seconds.value_or(0)) / gain;
}

std::vector<double> factors(const Judgement& judgement, std::optional<Record> JudgedMatrix::*other) {
    std::vector<double> all;
    for (const JudgedMatrix& one : judgement.matrices) {
        if (const std::optional<double> factor = times_faster(one, one.*other)) all.push_back(*factor);
    }
    return all;
}

Json json_of(const RatioStatistics& ratios) {
    if (ratios.count == 0) return nullptr;
    return {
        {"geometric_mean", ratios.geometric_mean}, {"least", ratios.least}, {"most", ratios.most}, {"matrices", ratios.count}};
}

template <typename Number>
Json null_or(const std::optional<Number>& number) {
    return number ? Json(*number) : Json(nullptr);
}

Json json_of_other(const JudgedMatrix& one, const std::optional<Record>& other) {
    if (!other) return nullptr;
    return {{"recipe", other->recipe},
            {"kernel", other->kernel},
            {"backend", other->backend},
            {"seconds", other->seconds},
            {"times_faster", null_or(times_faster(one, other))},
            {"break_even", null_or(products_to_pay(one, other))}};
}

Json json_of(const JudgedMatrix& one) {
    Json json{{"matrix", one.matrix}, {"status", one.status}};
    const bool is_wrong = one.status == "wrong" || one.status == "failed";
    json["way"] = is_wrong ? Json(name_of(one.way)) : Json(nullptr);
    json["reason"] = one.reason.empty() ? Json(nullptr) : Json(one.reason);
    if (!one.timed) return json;
    const Record& timed = *one.timed;
    json["seconds"] = timed.seconds;
    json["speedup"] = null_or(timed.speedup);
    json["speedup_interval"] = timed.interval ? Json{timed.interval->low, timed.interval->high} : Json(nullptr);
    json["setup_seconds"] = null_or(timed.setup_seconds);
    json["first_seconds"] = null_or(timed.first_seconds);
    json["new_values_seconds"] = null_or(timed.new_values_seconds);
    json["bytes_per_nonzero"] = timed.bytes_per_nonzero;
    json["gbytes_per_second"] = timed.gbytes_per_second;
    json["share_of_copy"] =
        timed.copy_bandwidth > 0 ? Json(1e9 * timed.gbytes_per_second / timed.copy_bandwidth) : Json(nullptr);
    json["vendor"] = json_of_other(one, one.vendor);
    json["workbench"] = json_of_other(one, one.workbench);
    json["warnings"] = timed.warnings;
    return json;
}

std::string ratios_text(const RatioStatistics& ratios) {
    if (ratios.count == 0) return "not timed";
    return fmt::format("{} x ({} to {})", significant(ratios.geometric_mean), significant(ratios.least),
                       significant(ratios.most));
}

/// The matrix on which the kernel is fastest or slowest beside the vendor's best.
std::string extreme_text(const Judgement& judgement, bool fastest) {
    const JudgedMatrix* extreme = nullptr;
    for (const JudgedMatrix& one : judgement.matrices) {
        const std::optional<double> factor = times_faster(one, one.vendor);
        if (!factor) continue;
        if (extreme == nullptr || (*factor > *times_faster(*extreme, extreme->vendor)) == fastest) extreme = &one;
    }
    return extreme == nullptr ? "-" : extreme->matrix;
}

/// Warnings say that some of the times mean little.
int count_of_warned(const Judgement& judgement) {
    return static_cast<int>(std::count_if(judgement.matrices.begin(), judgement.matrices.end(), [](const JudgedMatrix& one) {
        return one.vendor && one.timed && !one.timed->warnings.empty();
    }));
}

void add_prices(const Judgement& judgement, std::string& text) {
    std::vector<double> setups;
    std::vector<double> bytes;
    std::vector<double> shares;
    for (const JudgedMatrix& one : judgement.matrices) {
        if (!one.timed || !one.vendor || one.timed->seconds <= 0) continue;
        if (one.timed->setup_seconds) setups.push_back(*one.timed->setup_seconds / one.timed->seconds);
        bytes.push_back(one.timed->bytes_per_nonzero);
        if (one.timed->copy_bandwidth > 0) shares.push_back(1e9 * one.timed->gbytes_per_second / one.timed->copy_bandwidth);
    }
    if (bytes.empty()) return;
    text += fmt::format("  set-up   {} products, the median\n", significant(median_of(setups).value));
    text += fmt::format("  moves    {} bytes per nonzero at {:.0f} % of the copy bandwidth, the medians\n",
                        significant(median_of(bytes).value), 100 * median_of(shares).value);
}

}  // namespace

std::string_view name_of(WrongWay way) {
    switch (way) {
        case WrongWay::exact: return "exact integers";
        case WrongWay::bounds: return "rounding bounds";
        case WrongWay::unwritten: return "rows not written";
        case WrongWay::outside: return "out of range";
        case WrongWay::input: return "writes to its input";
        case WrongWay::changing: return "races or stale state";
        case WrongWay::late: return "wrong when timed";
        case WrongWay::too_fast: return "faster than its bytes";
        case WrongWay::unfinished: return "not finished";
        case WrongWay::crash: return "ends the process";
        case WrongWay::other: break;
    }
    return "failed";
}

WrongWay way_of(std::string_view reason) {
    for (const auto& [part, way] : sentences) {
        if (reason.find(part) != std::string_view::npos) return way;
    }
    return WrongWay::other;
}

void Judgement::add_sanitizer_errors(const std::string& matrix, bool is_race, const std::string& text) {
    matrices.push_back(
        {.matrix = matrix, .status = "wrong", .reason = text, .way = is_race ? WrongWay::changing : WrongWay::outside});
}

int Judgement::count(const std::string& status) const {
    return static_cast<int>(
        std::count_if(matrices.begin(), matrices.end(), [&](const JudgedMatrix& one) { return one.status == status; }));
}

int Judgement::cheats() const {
    return static_cast<int>(std::count_if(matrices.begin(), matrices.end(), [](const JudgedMatrix& one) {
        return one.status == "wrong" && (one.way == WrongWay::late || one.way == WrongWay::too_fast);
    }));
}

bool Judgement::right() const { return count("measured") + cheats() > 0 && count("wrong") == cheats() && count("failed") == 0; }

std::optional<double> Judgement::slows_others() const {
    constexpr std::size_t fewest = 5;
    std::vector<double> ratios;
    for (const JudgedMatrix& one : matrices) {
        if (one.baseline_seconds > 0 && one.baseline_seconds_alone > 0) {
            ratios.push_back(one.baseline_seconds / one.baseline_seconds_alone);
        }
    }
    if (ratios.size() < fewest) return std::nullopt;
    return median_of(std::move(ratios)).value;
}

bool Judgement::honest() const {
    constexpr double most = 2;
    return cheats() == 0 && slows_others().value_or(1) <= most;
}

std::string Judgement::verdict() const {
    if (!right()) return "wrong";
    return honest() ? "right and honest" : "cheats";
}

ExitCode Judgement::exit_code() const {
    if (!right()) return ExitCode::wrong_result;
    return honest() ? ExitCode::ok : ExitCode::dishonest;
}

namespace {

/// A record has the fastest kernel of its line, which may be the baseline.
Json without_baselines(Json line) {
    if (!line.contains("kernels")) return line;
    Json kernels = Json::array();
    for (const Json& one : line["kernels"]) {
        if (!one.value("baseline", false)) kernels.push_back(one);
    }
    line["kernels"] = std::move(kernels);
    return line;
}

}  // namespace

Judgement judge(const std::vector<std::string>& kernel, const std::vector<std::string>& others) {
    Judgement judgement;
    std::map<std::string, std::size_t> places;
    for (const std::string& text : kernel) {
        const Json line = Json::parse(text);
        JudgedMatrix one{
            .matrix = text_in(line.at("key"), "matrix"), .status = text_in(line, "status"), .reason = text_in(line, "reason")};
        one.way = way_of(one.reason);
        for (const Record& record : records_of_line(without_baselines(line))) {
            if (record.status == "measured") one.timed = record;
        }
        if (one.timed) one.baseline_seconds = seconds_of_baseline(line, one.timed->device);
        places[one.matrix] = judgement.matrices.size();
        judgement.matrices.push_back(std::move(one));
    }
    for (const std::string& text : others) {
        const Json line = Json::parse(text);
        const auto place = places.find(text_in(line.at("key"), "matrix"));
        if (place == places.end()) continue;
        JudgedMatrix& one = judgement.matrices[place->second];
        const std::vector<Record> kernels = kernels_of(line);
        const bool busy = std::any_of(kernels.begin(), kernels.end(), is_busy);
        for (const Record& record : kernels) {
            if (one.timed && record.device != one.timed->device) continue;
            keep_faster(is_vendor(record) ? one.vendor : one.workbench, record);
            if (one.baseline_seconds_alone == 0 && !busy) one.baseline_seconds_alone = seconds_of_baseline(line, record.device);
        }
    }
    return judgement;
}

Json json_of(const Judgement& judgement) {
    Json ways = Json::object();
    Json matrices = Json::array();
    for (const JudgedMatrix& one : judgement.matrices) {
        matrices.push_back(json_of(one));
        if (one.status != "wrong" && one.status != "failed") continue;
        Json& number = ways[std::string(name_of(one.way))];
        number = number.is_number() ? number.get<int>() + 1 : 1;
    }
    return {{"verdict", judgement.verdict()},
            {"file", judgement.file},
            {"precision", judgement.precision},
            {"right", judgement.right()},
            {"honest", judgement.honest()},
            {"counts",
             {{"measured", judgement.count("measured")},
              {"unsuitable", judgement.count("unsuitable")},
              {"wrong", judgement.count("wrong")},
              {"failed", judgement.count("failed")}}},
            {"ways", ways},
            {"slows_others", null_or(judgement.slows_others())},
            {"over_vendor", json_of(statistics_of(factors(judgement, &JudgedMatrix::vendor)))},
            {"over_workbench", json_of(statistics_of(factors(judgement, &JudgedMatrix::workbench)))},
            {"open", judgement.open},
            {"sanitizer", judgement.sanitizer},
            {"matrices", matrices}};
}

std::string to_json(const Judgement& judgement) { return in_one_line(json_of(judgement)); }

std::string to_text(const Judgement& judgement) {
    std::string text = fmt::format("{}, {}: {}\n", judgement.file, judgement.precision, judgement.verdict());
    text += fmt::format("  right    on {} of {} matrices", judgement.count("measured"), judgement.matrices.size());
    if (const int unsuitable = judgement.count("unsuitable"); unsuitable > 0) {
        text += fmt::format(", {} unsuitable", unsuitable);
    }
    text += '\n';
    std::map<WrongWay, std::vector<const JudgedMatrix*>> ways;
    for (const JudgedMatrix& one : judgement.matrices) {
        if (one.status == "wrong" || one.status == "failed") ways[one.way].push_back(&one);
    }
    for (const auto& [way, of_way] : ways) {
        text += fmt::format("  wrong    {} on {}, first on {}: {}\n", name_of(way), of_way.size(), of_way.front()->matrix,
                            of_way.front()->reason);
    }
    const RatioStatistics vendor = statistics_of(factors(judgement, &JudgedMatrix::vendor));
    const RatioStatistics own = statistics_of(factors(judgement, &JudgedMatrix::workbench));
    if (vendor.count + own.count > 0) {
        text += fmt::format("  fast     {} the vendor's best, {} the workbench's best, on {} matrices\n", ratios_text(vendor),
                            ratios_text(own), std::max(vendor.count, own.count));
        text += fmt::format("           fastest beside the vendor's on {}, slowest on {}\n", extreme_text(judgement, true),
                            extreme_text(judgement, false));
    } else if (std::any_of(judgement.matrices.begin(), judgement.matrices.end(), [](const auto& one) { return one.vendor; })) {
        text += "  fast     no comparison: this machine does other work\n";
    }
    add_prices(judgement, text);
    if (const int warned = count_of_warned(judgement); warned > 0) {
        text += fmt::format("  noise    warnings say that the times on {} of these matrices mean little\n", warned);
    }
    if (const std::optional<double> slower = judgement.slows_others(); slower && *slower > 2) {
        text += fmt::format("  cheats   the baseline takes {} times as long beside this kernel as without it\n",
                            significant(*slower));
    }
    if (!judgement.sanitizer.empty()) text += fmt::format("  checked  {}\n", judgement.sanitizer);
    if (judgement.open.empty()) text += "  closed   network, files and other processes were out of its reach\n";
    for (const std::string& open : judgement.open) text += fmt::format("  open     {}\n", open);
    return text;
}

}  // namespace workbench
