// A machine on which time passes only as scripted by a test, and a catalogue of stages, layouts and kernels that take scripted
// times: measurements and derived figures can be worked out by hand.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "core/contract/solvers.hpp"
#include "pipeline/measure/timing.hpp"

namespace workbench {

/// Events have names: "stage reverse", "build plain", "prepare fast", "run fast", "scatter", "scatter_add", "zero", "fill",
/// "flush", "upload", "download", "time", "bandwidth", "rest of iteration" and, for branches, which are numbered from 1, "fork
/// 1", "take 1", "taken 1", "join 1". There is one global script, because stages and layouts are plain functions; each test
/// begins with a new one.
struct Script {
    std::map<std::string, std::deque<double>> seconds;  // of each occurrence; the last one repeats; none: 0
    std::map<std::string, long> interruptions;          // that each occurrence adds
    std::map<std::string, std::set<int>> fails;         // the occurrences, from 1, at which memory runs out

    std::map<std::string, int> breaks;  // the occurrence, from 1, at which the device breaks; then every event fails
    bool broken = false;

    std::map<std::string, std::int64_t> bytes;  // that a kernel reports to move, by its name; otherwise those of the layout

    double cache_bandwidth = std::numeric_limits<double>::infinity();  // of all devices, see Device::read_bandwidth

    double now = 1000;
    long interrupted = 7;
    std::vector<std::string> events;
    std::vector<std::vector<Index>> targets;  // of each scatter
    bool solves = true;                       // false: the device cannot make a Krylov
    struct Iteration {
        std::vector<double> x;
        std::vector<double> y;
    };
    std::vector<Iteration> iterations;  // the operands of each "rest of iteration"

    void pass(const std::string& event);
    [[nodiscard]] std::ptrdiff_t count(const std::string& event) const;
};

[[nodiscard]] Script& script();
/// Replaces the script by an empty one.
Script& new_script();

/// A clock that shows the script's time.
[[nodiscard]] Clock scripted_clock();

/// Computes on the host, whatever device it claims to be, and takes the times of the script.
class ScriptedDevice final : public Device, public Solvers {
public:
    explicit ScriptedDevice(DeviceProperties properties, Bandwidth bandwidth = {1, 1})
        : properties_(std::move(properties)), bandwidth_(bandwidth) {}

    [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
    [[nodiscard]] DeviceMemory allocate(std::size_t bytes, std::string_view purpose) override;
    void upload(std::span<const std::byte> from, DeviceMemory& to) override;
    void download(const DeviceMemory& from, std::span<std::byte> to) override;
    void scatter(const float* values, const Index* target, Index count, float* y) override;
    void scatter(const double* values, const Index* target, Index count, double* y) override;
    void scatter_add(const float* values, const Index* target, Index count, float* y) override;
    void scatter_add(const double* values, const Index* target, Index count, double* y) override;
    void fill(void* memory, std::byte byte, std::size_t bytes) override;
    void flush_cache() override { script().pass("flush"); }
    [[nodiscard]] double time(const std::function<void()>& work) override;
    [[nodiscard]] std::unique_ptr<Branch> make_branch() override;
    [[nodiscard]] Solvers* solvers() override { return this; }
    /// A solve with a product's operands only: x is b at first, and then the previous y.
    [[nodiscard]] std::unique_ptr<KrylovByProducts<float>> krylov(const KrylovPlan& plan, std::span<const float> b,
                                                                  std::span<const float> inverse_diagonal) override;
    [[nodiscard]] std::unique_ptr<KrylovByProducts<double>> krylov(const KrylovPlan& plan, std::span<const double> b,
                                                                   std::span<const double> inverse_diagonal) override;
    [[nodiscard]] Bandwidth bandwidth() override;
    [[nodiscard]] double read_bandwidth(std::size_t) override { return script().cache_bandwidth; }
    [[nodiscard]] PlanRunner* plan_runner() override { return plans; }

    PlanRunner* plans = nullptr;  // null: the host prepares all

private:
    int branches_ = 0;
    DeviceProperties properties_;
    Bandwidth bandwidth_;
};

/// Stages: `reverse` reverses rows and columns, `rotate` moves both by one, `rotate_rows` each row, `rotate_columns` each
/// column, `halve` makes two partitions, `refuse` is unsuitable for every matrix. Layouts, all stored row by row: `csr`, the
/// baseline, with the kernels `usual` on the host, and `vendor` (cusparse) and `own` (cuda) on the GPU; `plain` with `fast`,
/// `slow` and `eigen` on the host and `gpu` on the GPU; `bad` on the host only, with `wrong`, which omits a 1 in the last row,
/// `wrong_later`, which does so for real values from the second product on, `coarse`, whose error in the last row is half of
/// the bound for the second product on real values in f64, for the first one in f32, and a quarter for the other, `unfit`,
/// which refuses every matrix, and `stops`, which leaves y alone from its eleventh product of real values on; `refusing`, which
/// is unsuitable for every matrix.
[[nodiscard]] const Catalogue& scripted_catalogue();

}  // namespace workbench
