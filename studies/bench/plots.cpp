#include "studies/bench/plots.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/text/words.hpp"
#include "studies/bench/ranking.hpp"
#include "viz/chart_files.hpp"

namespace workbench {
namespace {

constexpr std::size_t rows_of_bars = 24;
constexpr const char* over_baseline = "speed-up over CSR in the input's order";
constexpr const char* hollow_means = "hollow: within noise";

/// True if the confidence interval of the speed-up contains 1 or is unknown.
bool is_noise(const Record& record) {
    if (record.verdict == "baseline") return false;
    return !record.interval || (record.interval->low <= 1 && record.interval->high >= 1);
}

bool all_are_noise(const std::vector<const Record*>& records) {
    return std::all_of(records.begin(), records.end(), [](const Record* record) { return is_noise(*record); });
}

/// Marks the last point as noise.
void make_hollow(Series& series, XyChart& chart) {
    series.hollow.insert(series.points.size() - 1);
    chart.foot = hollow_means;
}

/// Marks the last cell as noise.
void remove_colour(HeatMap& map) {
    map.without_colour.emplace(map.values.size() - 1, map.values.back().size() - 1);
    map.foot = "no colour: within noise";
}

/// The records of one ranking, by recipe and matrix.
struct RankedRecords {
    const Ranking& ranking;
    std::string where = (ranking.device == "gpu" ? "GPU, " : "CPU, ") + ranking.precision;  // with the number of warnings
    std::string suffix = ranking.device + "_" + ranking.precision;
    std::vector<std::string> recipes = {};   // the best, at most most_series
    std::vector<std::string> matrices = {};  // by name
    std::map<std::pair<std::string, std::string>, const Record*> at = {};

    [[nodiscard]] const Record* find(const std::string& recipe, const std::string& matrix) const {
        const auto found = at.find({recipe, matrix});
        return found == at.end() ? nullptr : found->second;
    }
    [[nodiscard]] std::optional<double> speedup(const std::string& recipe, const std::string& matrix) const {
        const Record* record = find(recipe, matrix);
        return record == nullptr ? std::nullopt : record->speedup;
    }
    [[nodiscard]] std::string subtitle() const {
        const std::size_t all = ranking.recipes.size();
        const std::string some =
            all > recipes.size() ? fmt::format(", the best {} of {}", recipes.size(), counted_with_commas(all, "recipe")) : "";
        return fmt::format("{}, {}{}", where, counted_with_commas(matrices.size(), "matrix"), some);
    }
};

RankedRecords field_of(const std::vector<Record>& records, const Ranking& ranking) {
    RankedRecords field{.ranking = ranking};
    for (const Ranked& one : ranking.recipes) {
        if (field.recipes.size() < most_series) field.recipes.push_back(one.recipe);
    }
    std::set<std::string> matrices;
    std::size_t warned = 0;
    for (const Record& record : records) {
        const bool same = record.device == ranking.device && record.precision == ranking.precision;
        if (!same || record.status != "measured" || !record.speedup) continue;
        field.at[{record.recipe, record.matrix}] = &record;
        matrices.insert(record.matrix);
        warned += record.warnings.empty() ? 0 : 1;
    }
    if (warned > 0) field.where += fmt::format(", {} of {} times with warnings", warned, field.at.size());
    field.matrices.assign(matrices.begin(), matrices.end());
    return field;
}

void add_bars(const RankedRecords& field, Plots& plots) {
    for (std::size_t first = 0; first < field.matrices.size(); first += rows_of_bars) {
        BarChart chart{"Speed-up by matrix", field.subtitle(), over_baseline, {}, field.recipes, {}, 1.0};
        for (std::size_t i = first; i < std::min(first + rows_of_bars, field.matrices.size()); ++i) {
            chart.rows.push_back(short_matrix_name(field.matrices[i]));
            chart.values.emplace_back();
            for (const std::string& recipe : field.recipes) {
                const Record* record = field.find(recipe, field.matrices[i]);
                chart.values.back().push_back(field.speedup(recipe, field.matrices[i]));
                if (record == nullptr || !record->interval || record->verdict == "baseline") continue;
                chart.spans[{chart.rows.size() - 1, chart.values.back().size() - 1}] = {record->interval->low,
                                                                                        record->interval->high};
                chart.foot = "thin lines: 95 % confidence";
            }
        }
        const bool alone = field.matrices.size() <= rows_of_bars;
        const std::string page = alone ? "" : fmt::format("_{}", first / rows_of_bars + 1);
        plots.bars.push_back({"bars_" + field.suffix + page, std::move(chart)});
    }
}

void add_profile(const RankedRecords& field, Plots& plots) {
    std::map<std::string, double> best;
    for (const auto& [where, record] : field.at) {
        double& speedup = best[where.second];
        speedup = std::max(speedup, *record->speedup);
    }
    double widest = 2;
    XyChart chart{"Performance profile",
                  field.subtitle(),
                  {"time over that of the fastest recipe, at most", true, 1.0, {}},
                  {"fraction of the matrices", false, 0.0, 1.0},
                  {}};
    for (const std::string& recipe : field.recipes) {
        std::vector<double> factors;
        for (const std::string& matrix : field.matrices) {
            if (const auto speedup = field.speedup(recipe, matrix)) factors.push_back(best[matrix] / *speedup);
        }
        std::sort(factors.begin(), factors.end());
        Series series{recipe, {{1, 0}}, Drawn::steps};
        for (std::size_t i = 0; i < factors.size(); ++i) {
            const double share = static_cast<double>(i + 1) / static_cast<double>(field.matrices.size());
            series.points.emplace_back(std::min(factors[i], 16.0), factors[i] > 16 ? series.points.back().second : share);
            widest = std::max(widest, std::min(factors[i], 16.0));
        }
        chart.series.push_back(std::move(series));
    }
    for (Series& series : chart.series) series.points.emplace_back(widest, series.points.back().second);
    chart.x.high = widest;
    chart.x.logarithmic = widest > 5;
    plots.curves.push_back({"profile_" + field.suffix, std::move(chart)});
}

/// The preprocessing of a record in products of its fastest kernel, by part.
std::map<std::string, double> preparation_in_products(const Record& record) {
    std::map<std::string, double> parts;
    for (const auto& [part, seconds] : record.preparation) parts[part] += seconds / record.seconds;
    return parts;
}

/// The parts of preprocessing on all of the matrices, in the order of the recipe. Those with the smallest sums beyond
/// most_series are left out, and their sum is a last part "others".
std::vector<std::string> parts_of(const RankedRecords& field, const std::string& recipe) {
    std::vector<std::string> parts;
    std::map<std::string, double> sums;
    for (const std::string& matrix : field.matrices) {
        const Record* record = field.find(recipe, matrix);
        if (record == nullptr) continue;
        for (const auto& [part, seconds] : record->preparation) {
            if (std::ranges::count(parts, part) == 0) parts.push_back(part);
            sums[part] += seconds / record->seconds;
        }
    }
    if (parts.size() <= most_series) return parts;
    std::vector<std::string> largest = parts;
    std::ranges::stable_sort(largest, std::greater<>(), [&](const std::string& part) { return sums[part]; });
    largest.resize(most_series - 1);
    std::erase_if(parts, [&](const std::string& part) { return std::ranges::count(largest, part) == 0; });
    parts.emplace_back("others");
    return parts;
}

/// A chart for each recipe with stages: a bar per matrix, with a piece for each part of preprocessing.
void add_preparation(const RankedRecords& field, Plots& plots) {
    int number = 0;
    for (const std::string& recipe : field.recipes) {
        const std::vector<std::string> parts = parts_of(field, recipe);
        BarChart chart{"Preprocessing of " + recipe, field.where, "time over that of one product", {}, parts, {}};
        chart.stacked = true;
        for (const std::string& matrix : field.matrices) {
            const Record* record = field.find(recipe, matrix);
            if (record == nullptr || record->preparation.empty() || record->preparation.front().first == "layout") continue;
            if (chart.rows.size() == rows_of_bars) break;
            chart.rows.push_back(short_matrix_name(matrix));
            std::map<std::string, double> products = preparation_in_products(*record);
            double others = 0;
            for (const auto& [part, count] : products) others += std::ranges::count(parts, part) == 0 ? count : 0;
            products["others"] += others;
            chart.values.emplace_back();
            for (const std::string& part : parts) {
                chart.values.back().push_back(products.contains(part) ? std::optional(products[part]) : std::nullopt);
            }
        }
        if (chart.rows.empty()) continue;
        plots.bars.push_back({fmt::format("preprocessing_{}_{}", ++number, field.suffix), std::move(chart)});
    }
}

using Point = std::optional<std::pair<double, double>>;

/// Adds a series of markers per recipe, with a point for each record that has one. Returns the smallest positive and the
/// largest x.
std::pair<double, double> add_points(const RankedRecords& field, XyChart& chart, bool mark_noise,
                                     const std::function<Point(const Record&)>& point_of) {
    double least = 0;
    double most = 0;
    for (const std::string& recipe : field.recipes) {
        Series series{recipe, {}, Drawn::markers};
        for (const std::string& matrix : field.matrices) {
            const Record* record = field.find(recipe, matrix);
            const Point point = record == nullptr ? std::nullopt : point_of(*record);
            if (!point) continue;
            series.points.push_back(*point);
            if (mark_noise && is_noise(*record)) make_hollow(series, chart);
            if (point->first > 0) least = least == 0 ? point->first : std::min(least, point->first);
            most = std::max(most, point->first);
        }
        if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
    return {least, most};
}

void note_left_out(std::int64_t points, XyChart& chart) {
    if (points == 0) return;
    chart.foot += fmt::format("{}{} at 0 left out: the axis is logarithmic", chart.foot.empty() ? "" : "; ",
                              counted_with_commas(points, "point"));
}

/// "row_length.mean" becomes "row length, mean".
std::string in_words(const std::string& metric) {
    std::string words;
    for (const char letter : metric) words += letter == '_' ? " " : letter == '.' ? ", " : std::string(1, letter);
    return words;
}

void add_metric(const RankedRecords& field, const std::string& metric, Plots& plots) {
    XyChart chart{"Speed-up against " + in_words(metric), field.subtitle(), {in_words(metric)}, {over_baseline, true}, {}};
    const auto [least, most] = add_points(field, chart, true, [&](const Record& record) {
        const auto value = record.metrics.find(metric);
        return value == record.metrics.end() ? Point() : Point({value->second, *record.speedup});
    });
    if (chart.series.empty()) return;
    chart.x.logarithmic = least > 0 && most / least > 100;
    std::int64_t left_out = 0;
    for (const Series& series : chart.series) {
        left_out +=
            std::ranges::count_if(series.points, [&](const auto& point) { return chart.x.logarithmic && point.first <= 0; });
    }
    note_left_out(left_out, chart);
    chart.guides = {{"", {{chart.x.logarithmic ? least : 0, 1}, {most, 1}}, Drawn::lines}};
    std::string name = metric;
    std::replace_if(
        name.begin(), name.end(), [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
    plots.curves.push_back({"speedup_" + name + "_" + field.suffix, std::move(chart)});
}

void add_roofline(const RankedRecords& field, Plots& plots) {
    XyChart chart{"Roofline", field.subtitle(), {"floating-point operations per byte moved", true}, {"GFLOP/s", true}, {}};
    double copy = 0;
    double read = 0;
    std::int64_t left_out = 0;  // matrices without nonzeros
    const auto range = add_points(field, chart, false, [&](const Record& record) {
        if (record.bytes_per_nonzero <= 0 || record.gflops <= 0) {
            ++left_out;
            return Point();
        }
        copy = std::max(copy, record.copy_bandwidth);
        read = std::max(read, record.read_bandwidth);
        return Point({2 / record.bytes_per_nonzero, record.gflops});
    });
    if (chart.series.empty()) return;
    note_left_out(left_out, chart);
    const double left = range.first / 1.5;
    const double right = range.second * 1.5;
    const auto roof = [&](const std::string& name, double bandwidth) {
        const std::string text = fmt::format("{} {:.3g} GB/s", name, bandwidth / 1e9);
        chart.guides.push_back({text, {{left, left * bandwidth / 1e9}, {right, right * bandwidth / 1e9}}, Drawn::lines});
    };
    // The labels of two roofs that are close together would overlap, so only the higher one is drawn.
    if (read > 0) roof(read >= copy ? "read" : "copy", std::max(read, copy));
    if (std::min(read, copy) > 0 && std::max(read, copy) / std::min(read, copy) > 1.5) {
        roof(read >= copy ? "copy" : "read", std::min(read, copy));
    }
    plots.curves.push_back({"roofline_" + field.suffix, std::move(chart)});
}

void add_map(const RankedRecords& field, Plots& plots) {
    HeatMap map{"Speed-up of each recipe on each matrix", field.subtitle(), "", "", {}, field.recipes, {}};
    for (const std::string& matrix : field.matrices) {
        map.rows.push_back(short_matrix_name(matrix));
        map.values.emplace_back();
        for (const std::string& recipe : field.recipes) {
            const Record* record = field.find(recipe, matrix);
            map.values.back().push_back(field.speedup(recipe, matrix));
            if (record != nullptr && is_noise(*record)) remove_colour(map);
        }
    }
    plots.maps.push_back({"map_" + field.suffix, std::move(map)});
}

/// Recipes of one shape that differ in numbers.
struct Sweep {
    std::vector<std::string> names;  // of the parameters that differ
    std::map<std::vector<double>, std::vector<const Record*>> points;
};

/// True if both parameters have the same value, or none.
bool have_same(const Record& record, const std::string& one, const std::string& other) {
    const auto value = [&](const std::string& name) {
        const auto found = record.parameters.find(name);
        return found == record.parameters.end() ? std::nullopt : std::optional(found->second);
    };
    return value(one) == value(other);
}

std::vector<std::pair<std::string, Sweep>> sweeps_of(const RankedRecords& field) {
    std::map<std::string, std::vector<const Record*>> shapes;
    for (const auto& [where, record] : field.at) shapes[record->shape].push_back(record);
    std::vector<std::pair<std::string, Sweep>> sweeps;
    for (const auto& [shape, records] : shapes) {
        std::map<std::string, std::set<double>> values;
        for (const Record* record : records) {
            for (const auto& [name, value] : record->parameters) values[name].insert(value);
        }
        Sweep sweep;
        for (const auto& [name, all] : values) {
            // A reference to another parameter is no axis of its own.
            const auto is_same = [&, &records = records, &name = name](const std::string& other) {
                return std::ranges::all_of(records, [&](const Record* record) { return have_same(*record, name, other); });
            };
            const bool known = std::ranges::any_of(sweep.names, is_same);
            if (all.size() > 1 && !known) sweep.names.push_back(name);
        }
        if (sweep.names.empty() || sweep.names.size() > 2) continue;
        for (const Record* record : records) {
            std::vector<double> place;
            for (const std::string& name : sweep.names) {
                if (record->parameters.contains(name)) place.push_back(record->parameters.at(name));
            }
            if (place.size() == sweep.names.size()) sweep.points[place].push_back(record);
        }
        if (sweep.points.size() > 1) sweeps.emplace_back(shape, std::move(sweep));
    }
    return sweeps;
}

double geometric_mean(const std::vector<const Record*>& records) {
    std::vector<double> speedups;
    for (const Record* record : records) speedups.push_back(*record->speedup);
    return statistics_of(speedups).geometric_mean;
}

XyChart curve_of(const RankedRecords& field, const std::string& shape, const Sweep& sweep) {
    XyChart chart{
        "Speed-up over " + sweep.names[0], fmt::format("{}: {}", field.where, shape), {sweep.names[0]}, {over_baseline}, {}};
    chart.y.low = 0;
    Series mean{field.matrices.size() == 1 ? short_matrix_name(field.matrices[0]) : "geometric mean", {}, Drawn::lines};
    for (const auto& [place, records] : sweep.points) {
        mean.points.emplace_back(place[0], geometric_mean(records));
        if (all_are_noise(records)) make_hollow(mean, chart);
    }
    const double least = mean.points.front().first;
    chart.x.logarithmic = least > 0 && mean.points.back().first / least > 10;
    chart.series.push_back(std::move(mean));
    for (const std::string& matrix : field.matrices) {
        if (field.matrices.size() == 1 || field.matrices.size() >= most_series) break;
        Series series{short_matrix_name(matrix), {}, Drawn::lines};
        for (const auto& [place, records] : sweep.points) {
            for (const Record* record : records) {
                if (record->matrix != matrix) continue;
                series.points.emplace_back(place[0], *record->speedup);
                if (is_noise(*record)) make_hollow(series, chart);
            }
        }
        chart.series.push_back(std::move(series));
    }
    return chart;
}

HeatMap map_of(const RankedRecords& field, const std::string& shape, const Sweep& sweep) {
    HeatMap map{"Speed-up, geometric mean over the matrices",
                fmt::format("{}: {}", field.where, shape),
                sweep.names[0],
                sweep.names[1],
                {},
                {},
                {}};
    std::set<double> rows;
    std::set<double> columns;
    for (const auto& [place, records] : sweep.points) {
        rows.insert(place[0]);
        columns.insert(place[1]);
    }
    for (const double column : columns) map.columns.push_back(mark_text(column));
    for (const double row : rows) {
        map.rows.push_back(mark_text(row));
        map.values.emplace_back();
        for (const double column : columns) {
            const auto found = sweep.points.find({row, column});
            const bool measured = found != sweep.points.end();
            map.values.back().push_back(measured ? std::optional(geometric_mean(found->second)) : std::nullopt);
            if (measured && all_are_noise(found->second)) remove_colour(map);
        }
    }
    return map;
}

void add_sweeps(const RankedRecords& field, Plots& plots) {
    int number = 0;
    for (const auto& [shape, sweep] : sweeps_of(field)) {
        const std::string name = fmt::format("sweep_{}_{}", ++number, field.suffix);
        if (sweep.names.size() == 1) {
            plots.curves.push_back({name, curve_of(field, shape, sweep)});
        } else {
            plots.maps.push_back({name, map_of(field, shape, sweep)});
        }
    }
}

}  // namespace

Plots plots_of(const std::vector<Record>& records, const std::vector<std::string>& metrics) {
    Plots plots;
    for (const Ranking& ranking : rank(records)) {
        const RankedRecords field = field_of(records, ranking);
        add_bars(field, plots);
        add_profile(field, plots);
        for (const std::string& metric : metrics) add_metric(field, metric, plots);
        add_roofline(field, plots);
        add_map(field, plots);
        add_preparation(field, plots);
        add_sweeps(field, plots);
    }
    return plots;
}

namespace {

/// Calls use(plot) for each plot.
void for_each_plot(const auto& plots, const auto& use) {
    for (const auto& plot : plots.bars) use(plot);
    for (const auto& plot : plots.curves) use(plot);
    for (const auto& plot : plots.maps) use(plot);
}

}  // namespace

std::vector<std::string> files_of(const Plots& plots, const PaperColumn& column) {
    std::vector<std::string> files;
    for_each_plot(plots, [&](const auto& plot) {
        for (const std::string& file : chart_files(plot.name, column)) files.push_back(file);
    });
    return files;
}

void write_plots(const Plots& plots, const std::filesystem::path& folder, const PaperColumn& column) {
    for_each_plot(plots, [&](const auto& plot) { write_chart(plot.chart, plot.name, column, folder); });
}

}  // namespace workbench
