#include "support/layouts/scripted.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#include "core/contract/errors.hpp"
#include "kernels/krylov/memory.hpp"

namespace workbench {
namespace {

/// A tuned solve has two threads.
std::mutex one_at_a_time;

Script& the_script() {
    static Script one;
    return one;
}

template <ValueType Value>
void scatter_values(const Value* values, const Index* target, Index count, Value* y) {
    for (Index i = 0; i < count; ++i) y[target[i]] = values[i];
    script().pass("scatter");
    script().targets.emplace_back(target, target + count);
}

template <ValueType Value>
void scatter_add_values(const Value* values, const Index* target, Index count, Value* y) {
    for (Index i = 0; i < count; ++i) y[target[i]] += values[i];
    script().pass("scatter_add");
}

Permutation rotated(Index size) {
    std::vector<Index> old_of_new(size);
    for (Index i = 0; i < size; ++i) old_of_new[i] = (i + size - 1) % size;
    return Permutation::from_old_of_new(std::move(old_of_new));
}

Permutation reversed(Index size) {
    std::vector<Index> old_of_new(size);
    std::iota(old_of_new.rbegin(), old_of_new.rend(), 0);
    return Permutation::from_old_of_new(std::move(old_of_new));
}

template <Acts acts>
StageEntry ordering(const std::string& name, StageResult (*run)(const StagedMatrix&, const Parameters&, const StageContext&)) {
    return {.name = name,
            .summary = {},
            .source = {},
            .parameters = {},
            .contract = [](const Parameters&) { return StageContract{.acts = acts}; },
            .run = run};
}

std::vector<StageEntry> stages() {
    return {
        ordering<Acts::symmetric>("reverse",
                                  [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
                                      script().pass("stage reverse");
                                      return StageResult{
                                          .change = {.order = OrderChange{Acts::symmetric, reversed(staged.matrix.rows)}},
                                          .notes = {{"turned", "round"}}};
                                  }),
        ordering<Acts::symmetric>(
            "rotate",
            [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
                script().pass("stage rotate");
                return StageResult{.change = {.order = OrderChange{Acts::symmetric, rotated(staged.matrix.rows)}}};
            }),
        ordering<Acts::rows>("rotate_rows",
                             [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
                                 script().pass("stage rotate_rows");
                                 return StageResult{.change = {.order = OrderChange{Acts::rows, rotated(staged.matrix.rows)}}};
                             }),
        ordering<Acts::columns>(
            "rotate_columns",
            [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
                script().pass("stage rotate_columns");
                return StageResult{.change = {.order = OrderChange{Acts::columns, rotated(staged.matrix.columns)}}};
            }),
        {.name = "halve",
         .summary = {},
         .source = {},
         .parameters = {},
         .contract = [](const Parameters&) { return StageContract{.gives_cuts = {CutKind::partition}}; },
         .run =
             [](const StagedMatrix& staged, const Parameters&, const StageContext&) {
                 const Index rows = staged.matrix.rows;
                 return StageResult{.change = {.cuts = {{CutKind::partition, {0, rows / 2, rows}}}}};
             }},
        ordering<Acts::symmetric>("refuse", [](const StagedMatrix&, const Parameters&, const StageContext&) -> StageResult {
            throw Unsuitable("this matrix has no such order");
        })};
}

/// The entries of rows, one row after the other.
template <ValueType Value>
struct PlainRows final : Layout<Value> {
    CsrMatrix matrix;
    HostArray<Value> values;

    [[nodiscard]] Index rows() const override { return matrix.rows; }
    [[nodiscard]] Index columns() const override { return matrix.columns; }
    [[nodiscard]] Offset nonzeros() const override { return matrix.nonzeros(); }
    [[nodiscard]] std::vector<LayoutField> fields() const override {
        return {array_field("offsets", ArrayRole::structure, matrix.row_offsets),
                array_field("columns", ArrayRole::column, matrix.column_indices),
                array_field("values", ArrayRole::value, values)};
    }
    void for_each_slot(const std::function<void(const Slot&)>&) const override {}
};

enum class Which { usual, vendor, own, fast, slow, eigen, gpu, wrong, wrong_later, coarse, unfit, stops };

std::string name_of(Which which) {
    constexpr std::array names{"usual", "vendor", "own",         "fast",   "slow",  "eigen",
                               "gpu",   "wrong",  "wrong_later", "coarse", "unfit", "stops"};
    return names.at(static_cast<std::size_t>(which));
}

template <ValueType Value>
class ScriptedKernel final : public Kernel<Value> {
public:
    ScriptedKernel(const PlainRows<Value>& layout, Which which)
        : layout_(layout),
          which_(which),
          real_(std::any_of(layout.values.begin(), layout.values.end(), [](Value v) { return v != std::floor(v); })) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const CsrMatrix& matrix = layout_.matrix;
        if (which_ == Which::stops && real_ && runs_ >= 10) return script().pass("run stops");
        double magnitudes = 0;
        for (Index row = 0; row < matrix.rows; ++row) {
            Value sum = 0;
            magnitudes = 0;
            for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
                sum += layout_.values[i] * x[matrix.column_indices[i]];
                magnitudes += std::abs(static_cast<double>(layout_.values[i] * x[matrix.column_indices[i]]));
            }
            y[row] = accumulate ? y[row] + sum : sum;
        }
        const Index last = matrix.rows - 1;
        if (which_ == Which::wrong || (which_ == Which::wrong_later && real_ && runs_ > 0)) y[last] -= 1;
        if (which_ == Which::coarse && real_ && runs_ < 2) {
            const auto allowed = 8 * static_cast<double>(matrix.row_length(last) + 1) * std::numeric_limits<Value>::epsilon();
            const int worse = sizeof(Value) == sizeof(double) ? 1 : 0;
            y[last] += static_cast<Value>(allowed * magnitudes / (runs_ == worse ? 2 : 4));
        }
        ++runs_;
        script().pass("run " + name_of(which_));
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override {
        if (const auto said = script().bytes.find(name_of(which_)); said != script().bytes.end()) return said->second;
        return which_ == Which::vendor ? std::optional<std::int64_t>(1000) : std::nullopt;
    }

private:
    const PlainRows<Value>& layout_;
    Which which_;
    bool real_;  // false: the integers of the exact problem
    int runs_ = 0;
};

template <Which which, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device&) {
    if constexpr (which == Which::unfit) throw Unsuitable("this matrix has no such product");
    script().pass("prepare " + name_of(which));
    return std::make_unique<ScriptedKernel<Value>>(dynamic_cast<const PlainRows<Value>&>(layout), which);
}

template <Which which>
KernelEntry kernel(Backend backend) {
    return {name_of(which), backend, "", {prepare<which, float>, prepare<which, double>}};
}

class ScriptedBranch final : public Branch {
public:
    explicit ScriptedBranch(int number) : number_(std::to_string(number)) {}

    void take(const std::function<void()>& give) override {
        script().pass("take " + number_);
        give();
        script().pass("taken " + number_);
    }
    void fork() override { script().pass("fork " + number_); }
    void join() override { script().pass("join " + number_); }

private:
    std::string number_;
};

/// A solve with the steps of all devices, one element after the other, in the calling thread.
template <ValueType Value>
class ScriptedKrylov final : public KrylovByProducts<Value> {
public:
    ScriptedKrylov(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal)
        : plan_(plan),
          b_(b.begin(), b.end()),
          inverse_diagonal_(inverse_diagonal.begin(), inverse_diagonal.end()),
          vectors_(8, std::vector<Value>(b.size())),
          history_(static_cast<std::size_t>(plan.most_iterations) + 1),
          scalars_(krylov::first_scalars(plan, history_.data())),
          x_(b.begin(), b.end()),
          y_(b.size()) {
        begin([](const Value*, Value*) {});
    }

    void rest_of_iteration() override {
        script().pass("rest of iteration");
        script().iterations.push_back({{x_.begin(), x_.end()}, {y_.begin(), y_.end()}});
        x_ = y_;
    }
    [[nodiscard]] KrylovOperands<Value> operands() const override { return {x_.data(), y_.data()}; }

    void use(KrylovProduct<Value> product) override { product_ = std::move(product); }
    [[nodiscard]] Value* right_hand_side() override { return b_.data(); }
    [[nodiscard]] Value* solution() override { return vectors_[0].data(); }
    [[nodiscard]] Value* inverse_diagonal() override { return inverse_diagonal_.empty() ? nullptr : inverse_diagonal_.data(); }
    double begin_again(double tolerance) override {
        scalars_ = krylov::first_scalars(plan_, history_.data());
        scalars_.stop_below = 0;
        for (std::vector<Value>& vector : vectors_) std::fill(vector.begin(), vector.end(), Value{0});
        begin([](const Value*, Value*) {});
        return krylov::stop_below(scalars_, tolerance);
    }
    void restart() override {
        scalars_.state = KrylovState::running;
        begin(product_);
    }
    void launch(std::int64_t iterations) override {
        scalars_.until = std::min(scalars_.iterations + iterations, plan_.most_iterations);
        while (scalars_.goes_on()) {
            krylov::iterate(
                plan_.method, all(), [this](auto step) { run(step); }, product_);
        }
    }
    [[nodiscard]] KrylovProgress wait() override {
        return {scalars_.state, scalars_.iterations, std::sqrt(scalars_.residual), scalars_.divisor};
    }
    void reorder(const Index* target) override {
        script().pass("reorder");
        const auto move = [target](std::vector<Value>& vector) {
            const std::vector<Value> before = vector;
            for (std::size_t i = 0; i < before.size(); ++i) vector[target[i]] = before[i];
        };
        move(b_);
        if (!inverse_diagonal_.empty()) move(inverse_diagonal_);
        for (std::vector<Value>& vector : vectors_) move(vector);
    }
    [[nodiscard]] std::vector<Value> x() override { return vectors_[0]; }
    [[nodiscard]] std::vector<double> history() override {
        std::vector<double> norms(history_.begin(), history_.begin() + scalars_.iterations + 1);
        for (double& norm : norms) norm = std::sqrt(norm);
        return norms;
    }
    [[nodiscard]] std::int64_t vector_bytes() const override { return 1000; }

private:
    krylov::Vectors<Value> all() {
        krylov::Vectors<Value> v;
        v.size = static_cast<Index>(b_.size());
        v.b = b_.data();
        v.inverse_diagonal = inverse_diagonal_.empty() ? nullptr : inverse_diagonal_.data();
        v.x = vectors_[0].data();
        v.r = vectors_[1].data();
        v.p = vectors_[2].data();
        v.q = vectors_[3].data();
        v.shadow = vectors_[4].data();
        v.t = vectors_[5].data();
        v.mp = inverse_diagonal_.empty() ? v.p : vectors_[6].data();
        v.ms = inverse_diagonal_.empty() ? v.r : vectors_[7].data();
        return v;
    }

    template <typename Step>
    void run(Step) {
        if (scalars_.state != KrylovState::running) return;
        const krylov::Vectors<Value> v = all();
        krylov::Sums sums;
        for (Index i = 0; i < v.size; ++i) Step::write(v, scalars_, i, Step::read(v, i), sums);
        Step::finish(scalars_, sums);
    }

    void begin(const KrylovProduct<Value>& multiply) {
        krylov::begin(
            plan_.method, all(), [this](auto step) { run(step); }, multiply);
    }

    KrylovPlan plan_;
    std::vector<Value> b_;
    std::vector<Value> inverse_diagonal_;
    std::vector<std::vector<Value>> vectors_;
    std::vector<double> history_;
    krylov::Scalars scalars_;
    KrylovProduct<Value> product_;
    std::vector<Value> x_;  // vectors of products inside iterations
    mutable std::vector<Value> y_;
};

constexpr std::array layout_names{"csr", "plain", "bad"};

template <int number, ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters&) {
    script().pass(std::string("build ") + layout_names.at(number));
    auto layout = std::make_unique<PlainRows<Value>>();
    layout->matrix = staged.matrix;
    layout->values.assign(staged.matrix.values.begin(), staged.matrix.values.end());
    return layout;
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> refuse(const StagedMatrix&, const Parameters&) {
    throw Unsuitable("this matrix has no such layout");
}

template <int number>
LayoutEntry layout(const std::vector<KernelEntry>& kernels) {
    return {.name = layout_names.at(number),
            .summary = {},
            .source = {},
            .parameters = {},
            .needs = [](const Parameters&) { return Needs{}; },
            .build = {build<number, float>, build<number, double>},
            .kernels = kernels};
}

}  // namespace

void Script::pass(const std::string& event) {
    const std::scoped_lock lock(one_at_a_time);
    events.push_back(event);
    if (const auto takes = seconds.find(event); takes != seconds.end() && !takes->second.empty()) {
        now += takes->second.front();
        if (takes->second.size() > 1) takes->second.pop_front();
    }
    if (const auto often = fails.find(event); often != fails.end() && often->second.contains(static_cast<int>(count(event)))) {
        throw MachineError("no memory left for " + event);
    }
    const auto last = breaks.find(event);
    const bool breaks_now = !broken && last != breaks.end() && count(event) == last->second;
    if (broken || breaks_now) {
        broken = true;
        throw MachineError(breaks_now ? "an illegal address in " + event : "an illegal address was read before");
    }
    if (const auto brings = interruptions.find(event); brings != interruptions.end()) interrupted += brings->second;
}

std::ptrdiff_t Script::count(const std::string& event) const { return std::count(events.begin(), events.end(), event); }

Script& script() { return the_script(); }

Script& new_script() { return the_script() = {}; }

Clock scripted_clock() {
    return {[] {
                const std::scoped_lock lock(one_at_a_time);
                return script().now;
            },
            [] { return script().interrupted; }};
}

DeviceMemory ScriptedDevice::allocate(std::size_t bytes, std::string_view purpose) {
    script().pass("allocate " + std::string(purpose));
    return {::operator new(bytes), bytes, [](void* address) { ::operator delete(address); }};
}

void ScriptedDevice::upload(std::span<const std::byte> from, DeviceMemory& to) {
    if (!from.empty()) std::memcpy(to.address(), from.data(), from.size());
    script().pass("upload");
}

void ScriptedDevice::download(const DeviceMemory& from, std::span<std::byte> to) {
    if (!to.empty()) std::memcpy(to.data(), from.address(), to.size());
    script().pass("download");
}

void ScriptedDevice::scatter(const float* values, const Index* target, Index count, float* y) {
    scatter_values(values, target, count, y);
}

void ScriptedDevice::scatter(const double* values, const Index* target, Index count, double* y) {
    scatter_values(values, target, count, y);
}

void ScriptedDevice::scatter_add(const float* values, const Index* target, Index count, float* y) {
    scatter_add_values(values, target, count, y);
}

void ScriptedDevice::scatter_add(const double* values, const Index* target, Index count, double* y) {
    scatter_add_values(values, target, count, y);
}

void ScriptedDevice::fill(void* memory, std::byte byte, std::size_t bytes) {
    std::memset(memory, std::to_integer<int>(byte), bytes);
    script().pass(byte == std::byte{0} ? "zero" : "fill");
}

double ScriptedDevice::time(const std::function<void()>& work) {
    const Stopwatch watch(scripted_clock());
    script().pass("time");
    work();
    return watch.seconds();
}

std::unique_ptr<Branch> ScriptedDevice::make_branch() { return std::make_unique<ScriptedBranch>(++branches_); }

std::unique_ptr<KrylovByProducts<float>> ScriptedDevice::krylov(const KrylovPlan& plan, std::span<const float> b,
                                                                std::span<const float> inverse_diagonal) {
    return script().solves ? std::make_unique<ScriptedKrylov<float>>(plan, b, inverse_diagonal) : nullptr;
}

std::unique_ptr<KrylovByProducts<double>> ScriptedDevice::krylov(const KrylovPlan& plan, std::span<const double> b,
                                                                 std::span<const double> inverse_diagonal) {
    return script().solves ? std::make_unique<ScriptedKrylov<double>>(plan, b, inverse_diagonal) : nullptr;
}

Bandwidth ScriptedDevice::bandwidth() {
    script().pass("bandwidth");
    return bandwidth_;
}

const Catalogue& scripted_catalogue() {
    static const Catalogue catalogue = [] {
        Catalogue made{stages(),
                       {layout<0>({kernel<Which::usual>(Backend::kokkos), kernel<Which::own>(Backend::cuda),
                                   kernel<Which::vendor>(Backend::cusparse)}),
                        layout<1>({kernel<Which::fast>(Backend::kokkos), kernel<Which::slow>(Backend::kokkos),
                                   kernel<Which::eigen>(Backend::eigen), kernel<Which::gpu>(Backend::cuda)}),
                        layout<2>({kernel<Which::wrong>(Backend::kokkos), kernel<Which::wrong_later>(Backend::kokkos),
                                   kernel<Which::coarse>(Backend::kokkos), kernel<Which::unfit>(Backend::kokkos),
                                   kernel<Which::stops>(Backend::kokkos)})},
                       {},
                       "csr"};
        LayoutEntry refusing = layout<1>({kernel<Which::fast>(Backend::kokkos)});
        refusing.name = "refusing";
        refusing.build = {refuse<float>, refuse<double>};
        made.layouts.push_back(std::move(refusing));
        return made;
    }();
    return catalogue;
}

}  // namespace workbench
