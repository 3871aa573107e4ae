#include "studies/distributed/persistent_across.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/contract/solvers.hpp"
#include "kernels/device/host_loops.hpp"
#include "studies/distributed/collective.hpp"
#include "studies/distributed/messages.hpp"

namespace workbench {
namespace {

/// Both shares of this rank's rows in the order of its vectors: its own columns, then those of its halo.
CsrMatrix rows_of_rank(const RankShares& shares, std::span<const Index> element_at) {
    std::vector<Index> position(element_at.size());
    for (std::size_t i = 0; i < element_at.size(); ++i) position[element_at[i]] = static_cast<Index>(i);
    std::vector<Index> outside_row(shares.inside.rows, -1);
    for (Index i = 0; i < shares.outside.rows; ++i) outside_row[shares.outside_rows[i]] = i;
    CsrMatrix rows;
    rows.rows = shares.inside.rows;
    rows.columns = shares.inside.rows + static_cast<Index>(shares.halo_columns.size());
    const CsrMatrix& inside = shares.inside;
    const CsrMatrix& outside = shares.outside;
    const auto count = static_cast<Index>(element_at.size());
    rows.row_offsets.assign(1, 0);
    for (const Index element : element_at) {
        const Index row = outside_row[element];
        const Offset own = inside.row_length(element) + (row >= 0 ? outside.row_length(row) : 0);
        rows.row_offsets.push_back(rows.row_offsets.back() + own);
    }
    rows.column_indices.resize(rows.row_offsets.back());
    rows.values.resize(rows.row_offsets.back());
    for_each_in_parallel((count + rows_of_chunk - 1) / rows_of_chunk, 1, [&](std::int64_t chunk) {
        std::vector<std::pair<Index, double>> entries;
        const auto first = static_cast<Index>(chunk * rows_of_chunk);
        for (Index i = first; i < std::min(count, first + rows_of_chunk); ++i) {
            const Index element = element_at[i];
            entries.clear();
            for (Offset k = inside.row_offsets[element]; k < inside.row_offsets[element + 1]; ++k) {
                entries.emplace_back(position[inside.column_indices[k]], inside.values[k]);
            }
            if (const Index row = outside_row[element]; row >= 0) {
                for (Offset k = outside.row_offsets[row]; k < outside.row_offsets[row + 1]; ++k) {
                    entries.emplace_back(rows.rows + outside.column_indices[k], outside.values[k]);
                }
            }
            std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            Offset next = rows.row_offsets[i];
            for (const auto& [column, value] : entries) {
                rows.column_indices[next] = column;
                rows.values[next++] = value;
            }
        }
    });
    return rows;
}

/// Collective: each rank sends the others the places in its halo at which their elements begin.
std::vector<SentElement> sent_elements(Ranks& ranks, const RankShares& shares, std::span<const Index> element_at) {
    std::vector<Bytes> to(ranks.size());
    for (const HaloPlan::Message& part : shares.receive) {
        MessageWriter writer;
        writer.put(part.first);
        to[part.rank] = writer.take();
    }
    const std::vector<Bytes> from = ranks.exchange(to);
    std::vector<Index> position(element_at.size());
    for (std::size_t i = 0; i < element_at.size(); ++i) position[element_at[i]] = static_cast<Index>(i);
    std::vector<SentElement> sent;
    for (const HaloPlan::Message& part : shares.send) {
        MessageReader reader(from[part.rank]);
        const auto first = reader.get<Index>();
        for (Index i = 0; i < part.count; ++i) {
            sent.push_back({position[shares.places[part.first + i]], part.rank, first + i});
        }
    }
    return sent;
}

/// Collective. The first rank's reason, with its number; empty if no rank has one.
std::string first_reason(Ranks& ranks, const std::string& mine) {
    const std::vector<Bytes> all = ranks.gather(std::as_bytes(std::span(mine)));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].empty()) continue;
        const std::string text(reinterpret_cast<const char*>(all[rank].data()), all[rank].size());
        return fmt::format("rank {}: {}", rank, text);
    }
    return "";
}

template <ValueType Value>
class PersistentCg final : public CgAcrossRanks<Value> {
public:
    explicit PersistentCg(std::unique_ptr<PersistentSolver<Value>> solver) : solver_(std::move(solver)) {}

    /// Collective.
    void begin(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal) {
        krylov_ = solver_->begin(plan, b, inverse_diagonal);
    }

    void restart() override { krylov_->restart(); }
    void launch(std::int64_t iterations) override { krylov_->launch(iterations); }
    [[nodiscard]] KrylovProgress wait() override { return krylov_->wait(); }
    [[nodiscard]] std::vector<Value> x() override { return krylov_->x(); }
    [[nodiscard]] std::vector<double> history() override { return krylov_->history(); }
    [[nodiscard]] std::int64_t vector_bytes() const override { return krylov_->vector_bytes(); }
    void sum_alone() override {}

private:
    std::unique_ptr<PersistentSolver<Value>> solver_;
    std::unique_ptr<Krylov<Value>> krylov_;
};

}  // namespace

template <ValueType Value>
PersistentAcross<Value> make_persistent_across(const KrylovPlan& krylov, std::span<const Value> b,
                                               std::span<const Value> inverse_diagonal, const RanksPlan& plan,
                                               const RankShares& shares, const RankProduct<Value>& product) {
    PersistentAcross<Value> made;
    const std::vector<SentElement> sent = sent_elements(plan.ranks, shares, product.element_at());
    CsrMatrix rows;
    std::unique_ptr<PersistentSolver<Value>> solver;
    // Collective. Sets the reason if a rank cannot make its solver.
    const auto make = [&](HaloOfParts halo, bool here) {
        std::string reason;
        try {
            if (solver == nullptr) rows = rows_of_rank(shares, product.element_at());
            if (here) {
                solver = make_persistent_solver<Value>(plan.device, {.matrix = &rows,
                                                                     .cuts = product.partition(),
                                                                     .preconditioned = !inverse_diagonal.empty(),
                                                                     .ranks = &plan.ranks,
                                                                     .sent = sent,
                                                                     .halo = halo});
            }
        } catch (const Unsuitable& error) {
            reason = error.what();
        } catch (const MachineError& error) {
            reason = error.what();
        }
        made.reason = first_reason(plan.ranks, reason);
        return made.reason.empty();
    };
    if (!make(HaloOfParts::by_room, true)) return made;
    // The parts of all ranks exchange elements in one way.
    const bool have_room = largest_of(plan.ranks, solver->halo_has_r() ? 0 : 1) == 0;
    if (!have_room && !make(HaloOfParts::without_r, solver->halo_has_r())) return made;
    auto cg = std::make_unique<PersistentCg<Value>>(std::move(solver));
    try {
        cg->begin(krylov, b, inverse_diagonal);
    } catch (const Unsuitable& error) {  // on all ranks
        made.reason = error.what();
        return made;
    }
    made.cg = std::move(cg);
    return made;
}

template PersistentAcross<float> make_persistent_across(const KrylovPlan&, std::span<const float>, std::span<const float>,
                                                        const RanksPlan&, const RankShares&, const RankProduct<float>&);
template PersistentAcross<double> make_persistent_across(const KrylovPlan&, std::span<const double>, std::span<const double>,
                                                         const RanksPlan&, const RankShares&, const RankProduct<double>&);

}  // namespace workbench
