// A machine on which time passes only as a test says, and a catalogue whose stages, layouts and kernels take that time: what
// the program measures and derives can then be worked out by hand.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/measure/timing.hpp"

namespace workbench {

/// What happens, by name: "stage reverse", "build plain", "prepare fast", "run fast", "scatter",
/// "scatter_add", "zero", "flush", "upload", "download", "time", "bandwidth", "rest of iteration", of branches, counted from 1,
/// "fork 1", "take 1", "taken 1", "join 1". There is one script, because stages and layouts
/// are plain functions; each test begins with a new one.
struct Script {
    std::map<std::string, std::deque<double>> seconds;  // that each time takes; the last again and again; none: no time
    std::map<std::string, long> interruptions;          // that each time brings
    std::map<std::string, std::set<int>> fails;         // the times, from 1, at which memory runs out

    std::map<std::string, std::int64_t> bytes;  // that a kernel says it moves, by its name; none: what the layout says

    double now = 1000;
    long interrupted = 7;
    std::vector<std::string> events;
    std::vector<std::vector<Index>> targets;  // of each scatter
    bool solves = true;                       // does the device make a Krylov?
    struct Iteration {
        std::vector<double> x;
        std::vector<double> y;
    };
    std::vector<Iteration> iterations;  // what each "rest of iteration" found

    void pass(const std::string& event);
    [[nodiscard]] std::ptrdiff_t count(const std::string& event) const;
};

[[nodiscard]] Script& script();
/// Forgets what was.
Script& new_script();

/// A clock that shows the script's time.
[[nodiscard]] Clock scripted_clock();

/// Computes on the host whatever it says that it is, and takes the script's time for it.
class ScriptedDevice final : public Device {
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
    void zero(void* memory, std::size_t bytes) override;
    void flush_cache() override { script().pass("flush"); }
    [[nodiscard]] double time(const std::function<void()>& work) override;
    [[nodiscard]] std::unique_ptr<Branch> make_branch() override;
    /// Has a product's operands and nothing else of a solve: x is b at first, and each y the next x.
    [[nodiscard]] std::unique_ptr<Krylov<float>> make_krylov(const KrylovPlan& plan, std::span<const float> b,
                                                             std::span<const float> inverse_diagonal) override;
    [[nodiscard]] std::unique_ptr<Krylov<double>> make_krylov(const KrylovPlan& plan, std::span<const double> b,
                                                              std::span<const double> inverse_diagonal) override;
    [[nodiscard]] Bandwidth bandwidth() override;

private:
    int branches_ = 0;
    DeviceProperties properties_;
    Bandwidth bandwidth_;
};

/// Stages: `reverse` turns rows and columns round, `rotate_rows` moves each row one place down, `rotate_columns` each column,
/// `halve` makes two partitions, `refuse` suits no matrix.
/// Layouts, rows one after the other: `csr`, the baseline, with the kernels `usual` on the host, `vendor` (cusparse) and `own`
/// (cuda) on the GPU; `plain` with `fast`, `slow` and `eigen` on the host and `gpu` on the GPU; `bad`, all on the host, with
/// `wrong`, which leaves a 1 out of the last row, `wrong_later`, which does so on real values from the second product on,
/// `coarse`, which is half of what is allowed off in the last row of the second product on real values, and `unfit`, which
/// refuses the matrix; `refusing`, which suits no matrix.
[[nodiscard]] const Catalogue& scripted_catalogue();

}  // namespace workbench
