// A space on a scripted machine: what each point takes is planted, and what the model predicts differs from it.
#pragma once

#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/forecast/forecast.hpp"
#include "studies/choose/choose.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {

inline constexpr double planted_bandwidth = 376e3;
inline constexpr int kinds = 5;

/// Seconds of a product, apart from the launch. The model takes kind 0 for the best and kind 3 for the third; in truth kind 3
/// is the best, at other parameters than predicted.
inline double predicted_time(int kind, std::int64_t a, std::int64_t b) {
    constexpr std::array base{2.0e-3, 2.2e-3, 9.0e-3, 2.6e-3, 2.4e-3};
    return base.at(kind) * (1 + 0.02 * static_cast<double>(std::abs(a - 3)) + 0.01 * static_cast<double>(std::abs(b - 5)));
}

inline double true_time(int kind, std::int64_t a, std::int64_t b) {
    constexpr std::array base{3.0e-3, 2.8e-3, 9.0e-3, 1.0e-3, 3.5e-3};
    return base.at(kind) * (1 + 0.05 * static_cast<double>(std::abs(a - 6)) + 0.03 * static_cast<double>(std::abs(b - 2)));
}

/// The number of layouts that were built without the cuts that they need.
inline int& illegal_builds() {
    static int count = 0;
    return count;
}

template <int kind, ValueType Value>
std::unique_ptr<Layout<Value>> build_planted(const StagedMatrix& staged, const Parameters& parameters) {
    script().seconds["run fast"] = {true_time(kind, parameters.integer("a"), parameters.integer("b"))};
    if (kind == 4 && staged.cuts.empty()) ++illegal_builds();
    if constexpr (std::is_same_v<Value, float>) return scripted_catalogue().find_layout("plain")->build.f32(staged, parameters);
    else return scripted_catalogue().find_layout("plain")->build.f64(staged, parameters);
}

template <int kind>
LayoutCost planted_cost(const PatternForecast&, const Parameters& parameters, Precision) {
    LayoutCost cost{.slots = 1};
    const double seconds = predicted_time(kind, parameters.integer("a"), parameters.integer("b"));
    cost.array_bytes = std::llround(seconds * planted_bandwidth);
    return cost;
}

template <int kind>
void add_planted(Catalogue& known) {
    LayoutEntry entry = *known.find_layout("plain");
    entry.name = "kind" + std::to_string(kind);
    entry.parameters = {integer_parameter("a", required, at_least(0), "first"),
                        integer_parameter("b", required, at_least(0), "second")};
    entry.predict = planted_cost<kind>;
    if (kind == 4) entry.needs = [](const Parameters&) { return Needs{.cuts = {CutKind::partition}}; };
    entry.build = {build_planted<kind, float>, build_planted<kind, double>};
    std::erase_if(entry.kernels, [](const KernelEntry& kernel) { return kernel.name != "fast"; });
    known.layouts.push_back(std::move(entry));
}

/// What each point of the layout even takes; it is predicted to take 2 ms.
inline double& even_seconds() {
    static double seconds = 2e-3;
    return seconds;
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build_even(const StagedMatrix& staged, const Parameters& parameters) {
    script().seconds["run fast"] = {even_seconds()};
    return scripted_catalogue().find_layout("plain")->build.get<Value>()(staged, parameters);
}

inline const Catalogue& planted_catalogue() {
    static const Catalogue known = [] {
        Catalogue all = scripted_catalogue();
        add_planted<0>(all);
        add_planted<1>(all);
        add_planted<2>(all);
        add_planted<3>(all);
        add_planted<4>(all);
        LayoutEntry two = *all.find_layout("plain");  // with two kernels
        two.name = "two";
        two.predict = [](const PatternForecast&, const Parameters&, Precision) {
            return LayoutCost{.slots = 1, .array_bytes = std::llround(1e-3 * planted_bandwidth)};
        };
        std::erase_if(two.kernels, [](const KernelEntry& one) { return one.name != "fast" && one.name != "slow"; });
        all.layouts.push_back(std::move(two));
        LayoutEntry mixed = *all.find_layout("bad");  // with a wrong kernel on one backend, and a right one on another
        mixed.name = "mixed";
        std::erase_if(mixed.kernels, [](const KernelEntry& one) { return one.name != "wrong"; });
        for (const KernelEntry& one : all.find_layout("plain")->kernels) {
            if (one.backend == Backend::eigen) mixed.kernels.push_back(one);
        }
        all.layouts.push_back(std::move(mixed));
        LayoutEntry faulty = *all.find_layout("kind3");
        faulty.name = "faulty";
        faulty.predict = [](const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
            if (parameters.integer("b") > 10) throw std::logic_error("no cost above 10");
            return planted_cost<3>(pattern, parameters, precision);
        };
        all.layouts.push_back(std::move(faulty));
        LayoutEntry even = *all.find_layout("kind3");
        even.name = "even";
        even.predict = [](const PatternForecast&, const Parameters&, Precision) {
            return LayoutCost{.slots = 1, .array_bytes = std::llround(2e-3 * planted_bandwidth)};
        };
        even.build = {build_even<float>, build_even<double>};
        all.layouts.push_back(std::move(even));
        return all;
    }();
    return known;
}

/// 2 * 4 * 256 points without cuts, and 2 * 5 * 256 points after `halve`.
inline Space planted_space(const std::filesystem::path& folder = "spaces", const std::string& header = "") {
    std::string values = "[0";
    for (int i = 1; i < 16; ++i) values += ", " + std::to_string(i);
    values += "]";
    std::string text =
        "[space]\nname = 'planted'\n" + header +
        "[[stage]]\nid = 'turn'\noptional = true\nuse = 'reverse'\n[[stage]]\nid = 'cut'\noptional = true\nuse = 'halve'\n"
        "[layout]\nuse = { sweep = [";
    for (int kind = 0; kind < kinds; ++kind) {
        text += (kind == 0 ? "" : ", ") + std::string("{ use = 'kind") + std::to_string(kind) + "', a = " + values +
                ", b = " + values + " }";
    }
    return parse_space(text + "] }\n", folder / "planted.toml", planted_catalogue());
}

inline CsrMatrix planted_matrix() {
    return csr_from_entries(
        4, 4, std::vector<Entry>{{0, 0, 1.5}, {0, 2, 2.5}, {1, 1, 3.5}, {2, 0, 4.5}, {2, 3, 5.5}, {3, 1, 6.5}, {3, 3, 0.25}});
}

inline std::vector<Recipe> baselines() {
    return {parse_recipe("[recipe]\nname = 'CSR'\n[layout]\nuse = 'csr'\n", "csr.toml", planted_catalogue())};
}

inline Script& planted_script() {
    Script& machine = new_script();
    machine.seconds["run usual"] = {8e-3};
    machine.seconds["build plain"] = {0.1};  // twice a trial
    return machine;
}

inline ChooseOptions options_for(const Space& space, double budget) {
    ChooseOptions options;
    options.budget_seconds = budget;
    options.backends = {Backend::kokkos};
    options.timing = {CacheState::cold, 20, 0, 2, scripted_clock()};
    options.space = &space;
    return options;
}

/// `others`: recipes beside the baseline and the space.
inline Choice choose_planted(const ChooseOptions& options, const std::vector<Recipe>& others = {}) {
    ScriptedDevice host({DeviceKind::host, "a host", 8, 0, 0, 0}, {planted_bandwidth, 8 * planted_bandwidth});
    const CsrMatrix matrix = planted_matrix();
    std::vector<Recipe> recipes = baselines();
    recipes.insert(recipes.end(), others.begin(), others.end());
    return choose(matrix, planted_catalogue(), {host}, recipes, options);
}

/// Lines of a log, and callbacks that fill it as the program does.
inline SearchLog log_into(std::vector<std::string>& lines) {
    SearchLog log;
    log.file = "log.jsonl";
    log.key = {"", "a.mtx", 7, Precision::f64, "1", "a host", "o"};
    log.lines = lines;
    log.add = [&lines](const std::string& line) { lines.push_back(line); };
    return log;
}

}  // namespace workbench
