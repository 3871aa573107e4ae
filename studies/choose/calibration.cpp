#include "studies/choose/calibration.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

// Fitted to the lines of docs/results (h200-*): lookups of x in L2 pass at 1.66 times the bandwidth of copying.
constexpr double sector_bandwidth = 1.66;
constexpr double gpu_launch = 4e-6;
constexpr double gpu_step = 8e-8;
constexpr double host_launch = 1e-5;
constexpr double usual_bandwidth_of_host = 2e10;

constexpr int count_of_constants = 4;  // seconds per byte, sector, launch and step
constexpr int file_version = 1;
using Constants = Eigen::Vector<double, count_of_constants>;
using Equations = Eigen::Matrix<double, count_of_constants, count_of_constants>;

Constants constants_of(const DeviceSpeed& speed) {
    return {1 / speed.bandwidth, speed.sector_seconds, speed.launch_seconds, speed.step_seconds};
}

DeviceSpeed with_constants(DeviceSpeed speed, const Constants& x) {
    speed.bandwidth = 1 / x[0];
    speed.sector_seconds = x[1];
    speed.launch_seconds = x[2];
    speed.step_seconds = x[3];
    return speed;
}

/// Constants whose default is 0 are measured in these units.
Constants units_of(const DeviceSpeed& defaults) {
    Constants units = constants_of(defaults);
    if (units[1] == 0) units[1] = cache_sector / defaults.bandwidth;
    if (units[3] == 0) units[3] = 1e-9;
    return units;
}

/// The x >= 0 that minimises x' A x - 2 b' x: the least value over all sets of positive unknowns whose equations have a
/// positive solution. There are 16 sets.
Constants least_squares_of_positive(const Equations& a, const Constants& b) {
    Constants best = Constants::Zero();
    double least = 0;
    for (int set = 1; set < 1 << count_of_constants; ++set) {
        Equations reduced = a;
        Constants right = b;
        for (int i = 0; i < count_of_constants; ++i) {
            if ((set >> i & 1) != 0) continue;
            reduced.row(i).setZero();
            reduced.col(i).setZero();
            reduced(i, i) = 1;
            right[i] = 0;
        }
        const Constants x = reduced.ldlt().solve(right);
        const double value = x.dot(a * x) - 2 * b.dot(x);
        if ((x.array() >= 0).all() && value < least) {
            least = value;
            best = x;
        }
    }
    return best;
}

/// One step: with the branches (bytes or chain) of the present constants. `factors`: the factor of each line.
DeviceSpeed refit(const std::vector<CalibrationLine>& lines, const std::vector<double>& factors, const DeviceSpeed& present,
                  const DeviceSpeed& defaults) {
    constexpr double prior = 1e-9;  // keeps constants that no line determines
    const Constants units = units_of(defaults);
    Equations a = prior * Equations::Identity();
    Constants b = prior * constants_of(defaults).cwiseQuotient(units);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const ProductCounts counts = counts_of(lines[i].costs, present);
        const double step = present.is_gpu ? counts.steps : 0;
        const Constants row = Constants(counts.bytes, counts.sectors, counts.launches, step).cwiseProduct(units) *
                              (factors[i] / lines[i].seconds);
        a += row * row.transpose();
        b += row;
    }
    Constants x = least_squares_of_positive(a, b);
    constexpr double slowest = 1e-3;  // a bandwidth cannot be infinite
    x[0] = std::max(x[0], slowest);
    return with_constants(present, x.cwiseProduct(units));
}

double mean_error(const std::vector<CalibrationLine>& lines, const Calibration& calibration) {
    double sum = 0;
    for (const CalibrationLine& line : lines) {
        sum += std::abs(std::log(line.seconds / calibration.seconds(line.layouts, line.costs)));
    }
    return lines.empty() ? 0 : sum / static_cast<double>(lines.size());
}

/// The geometric mean of measured over predicted times of each layout, as if one more line had been predicted exactly.
std::map<std::string, double> factors_of_layouts(const std::vector<CalibrationLine>& lines, const DeviceSpeed& speed) {
    constexpr double prior = 0.25;
    std::map<std::string, std::pair<double, int>> sums;
    for (const CalibrationLine& line : lines) {
        auto& [sum, count] = sums[line.layouts];
        sum += std::log(line.seconds / predicted_seconds(line.costs, speed));
        ++count;
    }
    std::map<std::string, double> factors;
    for (const auto& [layouts, figures] : sums) factors[layouts] = std::exp(figures.first / (figures.second + prior));
    return factors;
}

/// Moves the geometric mean of the factors into the constants, so that layouts that were not measured are taken for the mean.
void normalise(Calibration& calibration) {
    double sum = 0;
    for (const auto& [layouts, factor] : calibration.layouts) sum += std::log(factor);
    const double mean = calibration.layouts.empty() ? 1 : std::exp(sum / static_cast<double>(calibration.layouts.size()));
    for (auto& [layouts, factor] : calibration.layouts) factor /= mean;
    calibration.speed = with_constants(calibration.speed, constants_of(calibration.speed) * mean);
}

}  // namespace

DeviceSpeed speed_of(const DeviceProperties& device, double bandwidth) {
    if (device.kind == DeviceKind::host) {
        return {.bandwidth = bandwidth > 0 ? bandwidth : usual_bandwidth_of_host, .launch_seconds = host_launch};
    }
    DeviceSpeed speed{.launch_seconds = gpu_launch, .step_seconds = gpu_step, .is_gpu = true};
    speed.bandwidth = bandwidth > 0 ? bandwidth : std::max(device.memory_bandwidth, tuned_device_model().memory_bandwidth);
    speed.sector_seconds = cache_sector / (sector_bandwidth * speed.bandwidth);
    return speed;
}

ProductCounts counts_of(const std::vector<LayoutCost>& costs, const DeviceSpeed& speed) {
    ProductCounts counts;
    for (const LayoutCost& cost : costs) {
        const double bytes = static_cast<double>(cost.bytes()) / (speed.is_gpu ? cost.bandwidth : 1);
        const auto steps = static_cast<double>(cost.chain);
        if (bytes / speed.bandwidth + cost.sectors * speed.sector_seconds >= steps * speed.step_seconds) {
            counts.bytes += bytes;
            counts.sectors += cost.sectors;
        } else {
            counts.steps += steps;
        }
        counts.launches += cost.launches * (cost.launches > 1 ? 0.5 : 1);
    }
    return counts;
}

double predicted_seconds(const std::vector<LayoutCost>& costs, const DeviceSpeed& speed) {
    const ProductCounts counts = counts_of(costs, speed);
    return counts.bytes / speed.bandwidth + counts.sectors * speed.sector_seconds + counts.steps * speed.step_seconds +
           counts.launches * speed.launch_seconds;
}

double Calibration::seconds(const std::string& names, const std::vector<LayoutCost>& costs) const {
    const auto found = layouts.find(names);
    return predicted_seconds(costs, speed) * (found == layouts.end() ? 1 : found->second);
}

Calibration fit_calibration(const std::vector<CalibrationLine>& lines, const DeviceSpeed& defaults) {
    constexpr int rounds = 20;
    Calibration before{.speed = defaults};
    before.error_before = before.error_after = mean_error(lines, before);
    before.lines = static_cast<int>(lines.size());
    Calibration best = before;
    Calibration next = before;
    std::vector<double> factors(lines.size(), 1);
    for (int round = 0; round < rounds && !lines.empty(); ++round) {
        next.speed = refit(lines, factors, next.speed, defaults);
        next.layouts = factors_of_layouts(lines, next.speed);
        next.error_after = mean_error(lines, next);
        if (next.error_after < best.error_after) best = next;
        for (std::size_t i = 0; i < lines.size(); ++i) factors[i] = next.layouts.at(lines[i].layouts);
    }
    normalise(best);
    return best;
}

std::filesystem::path calibration_file(const std::filesystem::path& folder, const DeviceProperties& device) {
    std::string name;
    for (const char letter : device.name) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
        if (is_plain) name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        if (!is_plain && !name.empty() && name.back() != '_') name += '_';
    }
    return folder / fmt::format("{}-{}.json", name, device.processors);
}

void write_calibration(const std::filesystem::path& file, const Calibration& calibration) {
    const DeviceSpeed& speed = calibration.speed;
    const nlohmann::ordered_json json{{"calibration", file_version},
                                      {"device", calibration.device},
                                      {"processors", calibration.processors},
                                      {"bytes_per_second", speed.bandwidth},
                                      {"sector_seconds", speed.sector_seconds},
                                      {"launch_seconds", speed.launch_seconds},
                                      {"step_seconds", speed.step_seconds},
                                      {"layouts", calibration.layouts},
                                      {"lines", calibration.lines},
                                      {"error_before", calibration.error_before},
                                      {"error_after", calibration.error_after}};
    write_whole_file(file, json.dump(2) + "\n");
}

namespace {

/// Throws InputError unless the constants can be those of a device.
void check_constants(const Calibration& calibration) {
    const DeviceSpeed& speed = calibration.speed;
    const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
    bool valid = std::isfinite(speed.bandwidth) && speed.bandwidth > 0 && is_time(speed.sector_seconds) &&
                 is_time(speed.launch_seconds) && is_time(speed.step_seconds);
    for (const auto& [layouts, factor] : calibration.layouts) valid = valid && std::isfinite(factor) && factor > 0;
    if (!valid) throw InputError("a constant is not a positive number");
}

Calibration parsed_calibration(const nlohmann::json& json, const DeviceProperties& device) {
    if (json.at("calibration") != file_version) {
        throw InputError(fmt::format("found version {}, expected {}", json.at("calibration").dump(), file_version));
    }
    Calibration calibration{.device = json.at("device").get<std::string>(),
                            .processors = json.at("processors").get<int>(),
                            .layouts = json.at("layouts").get<std::map<std::string, double>>(),
                            .lines = json.at("lines").get<int>(),
                            .error_before = json.at("error_before").get<double>(),
                            .error_after = json.at("error_after").get<double>()};
    if (calibration.device != device.name || calibration.processors != device.processors) {
        throw InputError(fmt::format("found the device {} with {} processors, expected {} with {}", calibration.device,
                                     calibration.processors, device.name, device.processors));
    }
    calibration.speed = {.bandwidth = json.at("bytes_per_second").get<double>(),
                         .sector_seconds = json.at("sector_seconds").get<double>(),
                         .launch_seconds = json.at("launch_seconds").get<double>(),
                         .step_seconds = json.at("step_seconds").get<double>(),
                         .is_gpu = device.kind == DeviceKind::gpu};
    check_constants(calibration);
    return calibration;
}

}  // namespace

std::optional<Calibration> read_calibration(const std::filesystem::path& file, const DeviceProperties& device) {
    if (!std::filesystem::exists(file)) return std::nullopt;
    try {
        std::ifstream stream(file);
        return parsed_calibration(nlohmann::json::parse(stream), device);
    } catch (const nlohmann::json::exception& error) {
        throw InputError(fmt::format("{}: not a calibration: {}", file.string(), error.what()));
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", file.string(), error.what()));
    }
}

std::string calibration_text(const Calibration& calibration, const DeviceSpeed& defaults) {
    const DeviceSpeed& speed = calibration.speed;
    TextTable table{.header = {"constant", "default", "fitted"}, .rows = {}};
    const auto row = [&table](const std::string& name, double before, double after, double unit, const std::string& suffix) {
        table.rows.push_back(
            {name, fmt::format("{:.4g} {}", before / unit, suffix), fmt::format("{:.4g} {}", after / unit, suffix)});
    };
    row("bandwidth", defaults.bandwidth, speed.bandwidth, 1e9, "GB/s");
    row("sector of x", defaults.sector_seconds, speed.sector_seconds, 1e-12, "ps");
    row("launch", defaults.launch_seconds, speed.launch_seconds, 1e-6, "us");
    if (speed.is_gpu) row("step of a chain", defaults.step_seconds, speed.step_seconds, 1e-9, "ns");
    std::string text =
        fmt::format("{}, {}: {}\n\n{}\n", calibration.device, counted_with_commas(calibration.processors, "processor"),
                    counted_with_commas(calibration.lines, "product"), table.text());
    text += fmt::format("mean error of the predictions: {:.0f} % with the defaults, {:.0f} % fitted\n",
                        100 * std::expm1(calibration.error_before), 100 * std::expm1(calibration.error_after));
    return text;
}

}  // namespace workbench
