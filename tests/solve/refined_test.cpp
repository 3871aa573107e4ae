// Solves with rounded values: refinement reaches the true residual of a solve with values in full, or says why it does not.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/contract/solvers.hpp"
#include "core/matrix/distinct_values.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/solve/solve_recipes.hpp"
#include "support/layouts/device_around.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// Second differences on a square, with uneven coefficients that no binary format represents; not symmetric if drift is not 0.
CsrMatrix diffusion(Index side, double drift = 0) {
    const auto coefficient = [](Index a, Index b) { return 1 + 0.1 * ((a + b) % 7) + 0.01 * (a * b % 11); };
    std::vector<Entry> entries;
    for (Index i = 0; i < side * side; ++i) {
        double sum = 0;
        const auto add = [&](Index other, double direction) {
            const double value = coefficient(i, other);
            entries.push_back({i, other, -value * (1 + direction * drift)});
            sum += value;
        };
        if (i % side > 0) add(i - 1, 1);
        if (i % side + 1 < side) add(i + 1, -1);
        if (i >= side) add(i - side, 0);
        if (i + side < side * side) add(i + side, 0);
        entries.push_back({i, i, sum + (i % side == 0 ? 1.1 : 0)});
    }
    return csr_from_entries(side * side, side * side, entries);
}

Recipe sell_with(const std::string& values) {
    return parse_recipe(
        "[recipe]\nname = 'SELL'\n[[stage]]\nuse = 'cuthill_mckee'\n[layout]\nuse = 'sell'\ncolumn_index = "
        "'u16'\nvalues = '" +
            values + "'\n",
        "t.toml", catalogue());
}

/// Solves on the host with a matrix of its own, as a persistent kernel does. Restarts multiply with the product in use.
class ModelKrylov final : public Krylov<double> {
public:
    ModelKrylov(std::unique_ptr<Krylov<double>> krylov, const CsrMatrix& matrix)
        : krylov_(std::move(krylov)), own_(product_of(matrix)), of_restarts_(own_) {
        krylov_->use(own_);
    }

    void use(KrylovProduct<double> product) override { of_restarts_ = std::move(product); }
    [[nodiscard]] double* right_hand_side() override { return krylov_->right_hand_side(); }
    double begin_again(double tolerance) override { return krylov_->begin_again(tolerance); }
    [[nodiscard]] double* solution() override { return krylov_->solution(); }
    void restart() override {
        krylov_->use(of_restarts_);
        krylov_->restart();
        krylov_->use(own_);
    }
    void launch(std::int64_t iterations) override { krylov_->launch(iterations); }
    [[nodiscard]] KrylovProgress wait() override { return krylov_->wait(); }
    [[nodiscard]] double* inverse_diagonal() override { return krylov_->inverse_diagonal(); }
    [[nodiscard]] std::vector<double> x() override { return krylov_->x(); }
    [[nodiscard]] std::vector<double> history() override { return krylov_->history(); }
    [[nodiscard]] std::int64_t vector_bytes() const override { return krylov_->vector_bytes(); }

private:
    [[nodiscard]] static KrylovProduct<double> product_of(const CsrMatrix& matrix) {
        return [&matrix](const double* x, double* y) {
            for (Index row = 0; row < matrix.rows; ++row) {
                y[row] = 0;
                for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                    y[row] += matrix.values[k] * x[matrix.column_indices[k]];
                }
            }
        };
    }

    std::unique_ptr<Krylov<double>> krylov_;
    KrylovProduct<double> own_;
    KrylovProduct<double> of_restarts_;
};

class ModelSolver final : public PersistentSolver<double> {
public:
    ModelSolver(Device& host, CsrMatrix matrix) : host_(host), matrix_(std::move(matrix)) {}
    [[nodiscard]] std::unique_ptr<Krylov<double>> begin(const KrylovPlan& plan, std::span<const double> b,
                                                        std::span<const double> inverse_diagonal) override {
        return std::make_unique<ModelKrylov>(make_krylov(host_, plan, b, inverse_diagonal), matrix_);
    }
    void set_values(const double* values) override { CHECK(std::equal(matrix_.values.begin(), matrix_.values.end(), values)); }

private:
    Device& host_;
    CsrMatrix matrix_;
};

/// The host with persistent solves.
class ModelDevice final : public DeviceAround, public Solvers {
public:
    explicit ModelDevice(Device& host) : DeviceAround(host) {}
    [[nodiscard]] Solvers* solvers() override { return this; }
    [[nodiscard]] std::unique_ptr<KrylovByProducts<double>> krylov(const KrylovPlan& plan, std::span<const double> b,
                                                                   std::span<const double> inverse_diagonal) override {
        return DeviceAround::solvers()->krylov(plan, b, inverse_diagonal);
    }
    [[nodiscard]] std::unique_ptr<PersistentSolver<double>> persistent(const PersistentProblem<double>& problem) override {
        exact_in_f32.push_back(are_exact_in_f32(problem.matrix->values));
        return std::make_unique<ModelSolver>(*this, *problem.matrix);
    }

    std::vector<bool> exact_in_f32;  // of each solver: all values of its matrix
};

SolveReport solve_with(const CsrMatrix& matrix, KrylovMethod method, double tolerance, const std::vector<std::string>& values) {
    SolveReport report;
    report.options.method = method;
    report.options.jacobi = method == KrylovMethod::bicgstab;
    report.options.tolerance = tolerance;
    report.options.timing = {CacheState::warm, 1, 0, 0};
    const auto host = make_host_device();
    std::vector<Recipe> recipes;
    for (const std::string& word : values) recipes.push_back(sell_with(word));
    solve_recipes({matrix, std::vector<double>(matrix.rows, 1.0), catalogue(), *host, {Backend::kokkos, Backend::eigen}},
                  recipes, report);
    REQUIRE(report.failures.empty());
    REQUIRE(report.outcomes.size() == 1 + values.size());
    return report;
}

}  // namespace

TEST_CASE("refinement around rounded values reaches the true residual, in both methods") {
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        const SolveReport report = solve_with(diffusion(8, method == KrylovMethod::cg ? 0 : 0.3), method, 1e-11,
                                              {"full", "rounded_f32", "rounded_bf16"});
        const SolveOutcome& full = report.outcomes[1];
        CHECK(full.restarts == 0);
        CHECK(full.in_full.find("\"full\"") != std::string::npos);
        for (const std::size_t i : {std::size_t{2}, std::size_t{3}}) {
            const SolveOutcome& one = report.outcomes[i];
            CAPTURE(one.preparation.recipe);
            CAPTURE(one.reason);
            CHECK(one.end == SolveEnd::converged);
            CHECK(one.true_residual <= 1.1e-11);
            CHECK(one.restarts >= 1);
            CHECK(one.restarts <= (i == 2 ? 3 : 8));  // rounding to 24 bits, or to 8, is undone as often
            CHECK(one.iterations < 8 * full.iterations);
            CHECK(one.products == (method == KrylovMethod::cg ? 1 : 2) * one.iterations + one.restarts);
            CHECK(one.preparation.bytes < full.preparation.bytes);
            CHECK(one.preparation.bytes_in_full == full.preparation.bytes);
            CHECK(one.in_full == full.in_full);
        }
        CHECK(report.outcomes[2].preparation.recipe == "~f32 SELL");
        CHECK(report.outcomes[2].iterations < 2 * full.iterations + 8);
        const std::string text = solve_text(report);
        CHECK(text.find("~f32, ~bf16: the values are rounded") != std::string::npos);
        CHECK(text.find("as fast as SELL, which") != std::string::npos);
        CHECK(text.find("~bf16 SELL: note: layout ~bf16 sell: rounded to bf16: |A") != std::string::npos);
        const auto json = nlohmann::json::parse(solve_json(report));
        CHECK(json["solves"][1]["rounding"].is_null());
        CHECK(json["solves"][2]["rounding"]["to"] == "f32");
        CHECK(json["solves"][3]["rounding"]["relative_norm"] > 1e-4);
    }
}

TEST_CASE("a persistent solver gets rounded values, and restarts multiply with the values in full") {
    const auto host = make_host_device();
    ModelDevice device(*host);
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        SolveReport report;
        report.options.method = method;
        report.options.jacobi = method == KrylovMethod::bicgstab;
        report.options.tolerance = 1e-11;
        report.options.engine = SolveEngine::persistent;
        report.options.timing = {CacheState::warm, 1, 0, 0};
        const CsrMatrix matrix = diffusion(8, method == KrylovMethod::cg ? 0 : 0.3);
        device.exact_in_f32.clear();
        solve_recipes({matrix, std::vector<double>(matrix.rows, 1.0), catalogue(), device, {Backend::kokkos, Backend::eigen}},
                      {sell_with("full"), sell_with("rounded_f32"), sell_with("rounded_bf16")}, report);
        REQUIRE(report.failures.empty());
        CHECK(device.exact_in_f32 == std::vector<bool>{false, true, true});
        for (std::size_t i = 1; i < report.outcomes.size(); ++i) {
            const SolveOutcome& one = report.outcomes[i];
            CAPTURE(one.reason);
            CHECK(one.engine == SolveEngine::persistent);
            CHECK(one.end == SolveEnd::converged);
            CHECK(one.true_residual <= 1.1e-11);
            CHECK((one.restarts > 0) == (i > 1));
        }
    }
}

TEST_CASE("refinement needs one round where rounding changes nothing") {
    CsrMatrix whole = diffusion(8);
    for (double& value : whole.values) value = value > 0 ? 5 : -1;
    const SolveReport report = solve_with(whole, KrylovMethod::cg, 1e-10, {"full", "rounded_f32"});
    CHECK(report.outcomes[2].end == SolveEnd::converged);
    CHECK(report.outcomes[2].restarts == 0);
    CHECK(report.outcomes[2].iterations == report.outcomes[1].iterations);
}

TEST_CASE("a matrix that rounding makes indefinite or too inaccurate ends the solve with that reason") {
    // Numbers of bf16 near 1 are multiples of 2^-8 below and of 2^-7 above. The smaller eigenvalue is the difference.
    constexpr double unit = 0x1p-8;
    const auto pair = [](double diagonal, double other) {
        return csr_from_entries(2, 2, std::vector<Entry>{{0, 0, diagonal}, {0, 1, other}, {1, 0, other}, {1, 1, diagonal}});
    };
    const auto end_of = [](const CsrMatrix& matrix) {
        SolveReport report;
        report.options.timing = {CacheState::warm, 1, 0, 0};
        const auto host = make_host_device();
        solve_recipes({matrix, {1, -3}, catalogue(), *host, {Backend::kokkos, Backend::eigen}}, {sell_with("rounded_bf16")},
                      report);
        CHECK(report.outcomes[0].end == SolveEnd::converged);
        return report.outcomes.at(1);
    };
    const auto names_rounding = [](const SolveOutcome& one) {
        return one.reason.find("values rounded to bf16") != std::string::npos;
    };
    const SolveOutcome indefinite = end_of(pair(1, 1 - unit / 4));  // 1/4 becomes 0
    CHECK(indefinite.end == SolveEnd::indefinite);
    CHECK(names_rounding(indefinite));
    const SolveOutcome inaccurate = end_of(pair(1 + 0.99 * unit, 1 - 1.49 * unit));  // 2.48 becomes 1
    CHECK(inaccurate.end == SolveEnd::stagnated);
    CHECK(inaccurate.restarts >= 1);
    CHECK(inaccurate.true_residual > 0.1);
    CHECK(names_rounding(inaccurate));
    const SolveOutcome slow = end_of(pair(1, 1 - 0.7 * unit));  // 0.7 becomes 1: a round leaves 0.3 of the residual
    CAPTURE(slow.reason);
    CHECK(slow.end == SolveEnd::converged);
    CHECK(slow.restarts > 10);
    CHECK(slow.true_residual <= 1.1e-8);
}

TEST_CASE("a recipe that rounds cannot join a tuned solve") {
    const CsrMatrix matrix = diffusion(4);
    const OneProduct<double> product(matrix);
    const auto host = make_host_device();
    const Recipe recipe = sell_with("rounded_f32");
    CHECK(message_of<RecipeError>([&] {
              (void)Multiplier<double>(recipe, matrix, {.device = *host, .filter = {DeviceKind::host}, .product = &product});
          }) == "~f32 SELL: rounds values, which a tuned solve does not refine");
}

}  // namespace workbench
