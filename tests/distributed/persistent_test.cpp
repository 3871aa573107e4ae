// Solves across ranks with a model of a GPU's persistent solver. The model computes on the host, and sends the elements that
// the program tells it to send.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/contract/solvers.hpp"
#include "kernels/exchange/make_links.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "studies/distributed/collective.hpp"
#include "studies/distributed/messages.hpp"
#include "studies/distributed/run_across.hpp"
#include "support/cut_out.hpp"
#include "support/layouts/device_around.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/layouts/scripted.hpp"
#include "support/rank_fibers.hpp"

namespace workbench {
namespace {

/// Conjugate gradients on the rows of a rank, with the elements that other ranks send after the own ones.
class ModelKrylov final : public Krylov<double> {
public:
    ModelKrylov(const KrylovPlan& plan, std::span<const double> b, std::span<const double> diagonal, const CsrMatrix& matrix,
                const std::vector<SentElement>& sent, Ranks& ranks)
        : plan_(plan), matrix_(matrix), sent_(sent), ranks_(ranks), b_(b.begin(), b.end()), diagonal_(b.size(), 1) {
        if (!diagonal.empty()) diagonal_.assign(diagonal.begin(), diagonal.end());
        x_.assign(b.size(), 0);
        restart();
    }

    void use(KrylovProduct<double>) override {}
    [[nodiscard]] double* right_hand_side() override { return b_.data(); }
    double begin_again(double) override { throw std::logic_error("ranks begin once"); }
    [[nodiscard]] double* solution() override { return x_.data(); }
    [[nodiscard]] double* inverse_diagonal() override { return diagonal_.data(); }
    [[nodiscard]] std::int64_t vector_bytes() const override { return 8; }
    [[nodiscard]] std::vector<double> x() override { return x_; }
    [[nodiscard]] std::vector<double> history() override { return history_; }
    [[nodiscard]] KrylovProgress wait() override { return progress_; }

    void restart() override {
        r_ = product_of(x_);
        for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = b_[i] - r_[i];
        p_ = scaled(r_);
        rho_ = dot(r_, p_);
        progress_.state = KrylovState::running;
        progress_.residual = std::sqrt(dot(r_, r_));
        if (history_.empty()) history_.push_back(progress_.residual);
    }

    void launch(std::int64_t iterations) override {
        for (; iterations > 0 && progress_.state == KrylovState::running; --iterations) {
            const std::vector<double> q = product_of(p_);
            const double alpha = rho_ / dot(p_, q);
            for (std::size_t i = 0; i < x_.size(); ++i) {
                x_[i] += alpha * p_[i];
                r_[i] -= alpha * q[i];
            }
            const std::vector<double> z = scaled(r_);
            const double next = dot(r_, z);
            for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = z[i] + next / rho_ * p_[i];
            rho_ = next;
            progress_.residual = std::sqrt(dot(r_, r_));
            ++progress_.iterations;
            history_.push_back(progress_.residual);
            if (progress_.residual < plan_.stop_below) progress_.state = KrylovState::converged;
        }
    }

private:
    [[nodiscard]] std::vector<double> scaled(std::vector<double> v) const {
        for (std::size_t i = 0; i < v.size(); ++i) v[i] *= diagonal_[i];
        return v;
    }

    [[nodiscard]] double dot(const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum_of(ranks_, sum);
    }

    [[nodiscard]] std::vector<double> product_of(const std::vector<double>& own) {
        std::vector<MessageWriter> writers(ranks_.size());
        for (const SentElement& element : sent_) {
            writers[element.rank].put(element.remote);
            writers[element.rank].put(own[element.row]);
        }
        std::vector<Bytes> to;
        for (MessageWriter& writer : writers) to.push_back(writer.take());
        std::vector<double> all = own;
        all.resize(matrix_.columns, std::nan(""));
        for (const Bytes& bytes : ranks_.exchange(to)) {
            MessageReader reader(bytes);
            for (std::size_t i = 0; i < bytes.size() / (sizeof(Index) + sizeof(double)); ++i) {
                const auto remote = reader.get<Index>();
                CHECK(std::isnan(all[matrix_.rows + remote]));  // each element once
                all[matrix_.rows + remote] = reader.get<double>();
            }
        }
        std::vector<double> y(matrix_.rows);
        for (Index row = 0; row < matrix_.rows; ++row) {
            for (Offset k = matrix_.row_offsets[row]; k < matrix_.row_offsets[row + 1]; ++k) {
                y[row] += matrix_.values[k] * all[matrix_.column_indices[k]];
            }
        }
        return y;
    }

    KrylovPlan plan_;
    const CsrMatrix& matrix_;
    const std::vector<SentElement>& sent_;
    Ranks& ranks_;
    std::vector<double> b_, diagonal_, x_, r_, p_;
    double rho_ = 0;
    KrylovProgress progress_;
    std::vector<double> history_;
};

class ModelSolver final : public PersistentSolver<double> {
public:
    ModelSolver(const PersistentProblem<double>& problem, bool has_room)
        : matrix_(*problem.matrix),
          sent_(problem.sent.begin(), problem.sent.end()),
          ranks_(*problem.ranks),
          halo_has_r_(has_room && problem.halo != HaloOfParts::without_r) {}
    [[nodiscard]] bool halo_has_r() const override { return halo_has_r_; }
    [[nodiscard]] std::unique_ptr<Krylov<double>> begin(const KrylovPlan& plan, std::span<const double> b,
                                                        std::span<const double> diagonal) override {
        CHECK(sum_of(ranks_, halo_has_r_ ? 1 : 0) == (halo_has_r_ ? ranks_.size() : 0));  // all ranks agree
        return std::make_unique<ModelKrylov>(plan, b, diagonal, matrix_, sent_, ranks_);
    }
    void set_values(const double*) override { throw std::logic_error("ranks keep their values"); }

private:
    CsrMatrix matrix_;
    std::vector<SentElement> sent_;
    Ranks& ranks_;
    bool halo_has_r_;
};

/// Ranks whose GPUs differ; -1: none.
struct Odd {
    int refuses = -1;    // has no persistent solver
    int is_narrow = -1;  // has no room for r in halos
};

/// A GPU with a persistent solver.
class ModelGpu final : public DeviceAround, public Solvers {
public:
    /// made: counts the persistent solvers.
    ModelGpu(Device& device, int rank, Odd odd, int& made) : DeviceAround(device), rank_(rank), odd_(odd), made_(made) {}

    [[nodiscard]] Solvers* solvers() override { return this; }
    [[nodiscard]] std::unique_ptr<KrylovByProducts<double>> krylov(const KrylovPlan& plan, std::span<const double> b,
                                                                   std::span<const double> inverse_diagonal) override {
        return DeviceAround::solvers()->krylov(plan, b, inverse_diagonal);
    }
    [[nodiscard]] std::unique_ptr<PersistentSolver<double>> persistent(const PersistentProblem<double>& problem) override {
        if (rank_ == odd_.refuses) throw Unsuitable("this GPU is too small");
        ++made_;
        return std::make_unique<ModelSolver>(problem, rank_ != odd_.is_narrow);
    }

private:
    int rank_;
    Odd odd_;
    int& made_;
};

/// made: the persistent solvers of this rank are added to it.
RanksReport solve_on_model(Ranks& ranks, const CsrMatrix& matrix, const SolveAcross& solve, Odd odd, int& made) {
    ScriptedDevice scripted({DeviceKind::gpu, "a GPU", 8, 0, 0, 0}, {1e12, 1e12});
    ModelGpu gpu(scripted, ranks.rank(), odd, made);
    const std::unique_ptr<Links> links = make_host_links(ranks, gpu);
    const Recipe recipe = parse_recipe("[[stage]]\nuse = 'rotate'\n[layout]\nuse = 'plain'\n", "t.toml", scripted_catalogue());
    const RanksPlan plan{.ranks = ranks,
                         .links = *links,
                         .device = gpu,
                         .recipe = recipe,
                         .kernels = choose_kernels(recipe, {DeviceKind::gpu}),
                         .outside_layout = *scripted_catalogue().find_layout("plain"),
                         .clock = scripted_clock()};
    RankRows rows = in_equal_pieces(ranks, matrix.rows, cut_out(matrix, equal_piece(matrix.rows, ranks.size(), ranks.rank())));
    return run_across<double>(plan, std::move(rows), {}, solve, 1);
}

RanksReport solve_on_model(Ranks& ranks, const CsrMatrix& matrix, const SolveAcross& solve, Odd odd = {}) {
    int made = 0;
    return solve_on_model(ranks, matrix, solve, odd, made);
}

}  // namespace

TEST_CASE("distributed: a persistent solver gets the rows of its rank and sends what others need") {
    new_script();
    const CsrMatrix matrix = scaled_laplacian(9, 0);
    const std::vector<double> b = right_hand_side(matrix.rows);
    for (const int size : {1, 2, 5}) {
        for (const bool jacobi : {false, true}) {
            CAPTURE(size);
            std::vector<double> x(matrix.rows, 0);
            on_rank_fibers(size, [&](Ranks& ranks) {
                SolveAcross solve{{}, [&](Index row) { return b[row]; }};
                solve.options.engine = SolveEngine::persistent;
                solve.options.jacobi = jacobi;
                solve.options.tolerance = 1e-12;
                const RanksReport report = solve_on_model(ranks, matrix, solve);
                REQUIRE(report.solve);
                CHECK(report.solve->end == SolveEnd::converged);
                CHECK(report.solve->engine == SolveEngine::persistent);
                CHECK(report.solve->true_residual < 2e-12);
                CHECK(report.ranks[0].sum_seconds == 0);
                CHECK(ranks_text(report).find("per iteration of a persistent kernel\n") != std::string::npos);
                CHECK(ranks_json(report).find("\"engine\": \"persistent\"") != std::string::npos);
                const RowRange rows = equal_piece(matrix.rows, size, ranks.rank());
                std::copy(report.solve->x.begin(), report.solve->x.end(), x.begin() + rows.first);
            });
            for (Index row = 0; row < matrix.rows; ++row) {
                double r = b[row];
                for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                    r -= matrix.values[k] * x[matrix.column_indices[k]];
                }
                CHECK(std::abs(r) < 1e-9);
            }
        }
    }
}

TEST_CASE("distributed: ranks agree on refusing numbers whose squares leave the range of f64") {
    const CsrMatrix matrix = scaled_laplacian(6, 0);
    for (const double only : {1e-170, 1e160, std::numeric_limits<double>::quiet_NaN()}) {
        new_script();
        int refused = 0;
        on_rank_fibers(3, [&](Ranks& ranks) {
            // Other ranks have zeros.
            const SolveAcross solve{{}, [&](Index row) { return row == 0 ? only : 0.0; }};
            try {
                (void)solve_on_model(ranks, matrix, solve);
            } catch (const RanksFailed& failure) {
                ++refused;
                CHECK(std::string(failure.what())
                          .starts_with(std::isnan(only) ? "the right-hand side has values that are not finite"
                                                        : "the square of the residual would be about 1e"));
                CHECK(failure.exit_code == ExitCode::bad_input);
            }
        });
        CHECK(refused == 3);
    }
}

TEST_CASE("distributed: where a GPU has no persistent solver, all ranks say so") {
    new_script();
    const CsrMatrix matrix = scaled_laplacian(6, 0);
    int failed = 0;
    on_rank_fibers(3, [&](Ranks& ranks) {
        SolveAcross solve{{}, [](Index) { return 1.0; }};
        solve.options.engine = SolveEngine::persistent;
        try {
            (void)solve_on_model(ranks, matrix, solve, {.refuses = 1});
        } catch (const RanksFailed& failure) {
            ++failed;
            CHECK(std::string(failure.what()) == "--engine persistent: rank 1: this GPU is too small");
            CHECK(failure.exit_code == ExitCode::bad_input);
        }
    });
    CHECK(failed == 3);
}

TEST_CASE("distributed: halos lack r on all ranks if one of them has no room for it") {
    new_script();
    const CsrMatrix matrix = scaled_laplacian(9, 0);
    for (const int narrow : {-1, 0, 2}) {
        on_rank_fibers(3, [&](Ranks& ranks) {
            SolveAcross solve{{}, [](Index) { return 1.0; }};
            solve.options.engine = SolveEngine::persistent;
            int made = 0;
            const RanksReport report = solve_on_model(ranks, matrix, solve, {.is_narrow = narrow}, made);
            CHECK(report.solve->end == SolveEnd::converged);
            CHECK_EQ(made, narrow >= 0 && ranks.rank() != narrow ? 2 : 1);
        });
    }
}

TEST_CASE("distributed: the engine is chosen by the model before a persistent kernel is made") {
    new_script();
    const CsrMatrix matrix = scaled_laplacian(9, 0);
    // By the model an iteration takes some 30 us less, and the preparation 1.5 ms.
    for (const bool pays : {false, true}) {
        on_rank_fibers(2, [&](Ranks& ranks) {
            SolveAcross solve{{}, [](Index) { return 1.0; }};
            solve.options.engine = SolveEngine::automatic;
            solve.options.most_iterations = pays ? 1000 : 20;
            int made = 0;
            if (pays) {
                const RanksReport report = solve_on_model(ranks, matrix, solve, {}, made);
                CHECK(report.solve->engine == SolveEngine::persistent);
                CHECK(report.solve->end == SolveEnd::converged);
                REQUIRE_EQ(report.notes.size(), 1);
                CHECK_MESSAGE(report.notes[0].starts_with("persistent kernel: by the model, it saves "), report.notes[0]);
                CHECK_MESSAGE(report.notes[0].ends_with(", and 1,000 are expected"), report.notes[0]);
            } else {
                CHECK_THROWS((void)solve_on_model(ranks, matrix, solve, {}, made));  // the graph needs a real GPU
            }
            CHECK_EQ(made, pays ? 1 : 0);
        });
    }
}

TEST_CASE("distributed: ranks without GPUs have no persistent kernel") {
    new_script();
    int failed = 0;
    on_rank_fibers(2, [&](Ranks& ranks) {
        ScriptedDevice host{{DeviceKind::host, "a host", 8, 0, 0, 0}};
        const std::unique_ptr<Links> links = make_host_links(ranks, host);
        const Recipe recipe = parse_recipe("[layout]\nuse = 'plain'\n", "t.toml", scripted_catalogue());
        const RanksPlan plan{.ranks = ranks,
                             .links = *links,
                             .device = host,
                             .recipe = recipe,
                             .kernels = choose_kernels(recipe, {DeviceKind::host}),
                             .outside_layout = *scripted_catalogue().find_layout("csr"),
                             .clock = scripted_clock()};
        const CsrMatrix matrix = scaled_laplacian(4, 0);
        SolveAcross solve{{}, [](Index) { return 1.0; }};
        solve.options.engine = SolveEngine::persistent;
        RankRows rows = in_equal_pieces(ranks, matrix.rows, cut_out(matrix, equal_piece(matrix.rows, 2, ranks.rank())));
        try {
            (void)run_across<double>(plan, std::move(rows), {}, solve, 1);
        } catch (const RanksFailed& failure) {
            ++failed;
            CHECK(std::string(failure.what()) == "--engine persistent needs GPUs; these ranks run on a host");
            CHECK(failure.exit_code == ExitCode::machine_error);
        }
    });
    CHECK(failed == 2);
}

}  // namespace workbench
