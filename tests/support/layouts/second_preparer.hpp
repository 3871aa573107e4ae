// A preparer that needs no GPU: it does every task in another, plain way, and remembers which it was given.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "pipeline/matrix/preparer.hpp"

namespace workbench {

class SecondPreparer final : public Preparer {
public:
    /// Takes all tasks but those of these names.
    explicit SecondPreparer(std::set<std::string> left = {}) : left_(std::move(left)) {}

    [[nodiscard]] std::string name() const override { return "another machine"; }
    [[nodiscard]] std::optional<std::vector<Index>> sort(const SortTask& task) override;
    [[nodiscard]] std::optional<std::vector<Index>> place_by_hash(const HashTask& task) override;
    [[nodiscard]] std::optional<CsrMatrix> permute(const CsrMatrix& matrix, const Permutation& row_order,
                                                   const Permutation& column_order) override;
    [[nodiscard]] std::optional<DividedEntries> divide(const CsrMatrix& matrix, const ShareView& view,
                                                       const Division& division) override;
    [[nodiscard]] std::optional<std::vector<Share>> split_into_tiles(const CsrMatrix& matrix, const Cuts* row_blocks,
                                                                     const Cuts& segments) override;
    [[nodiscard]] std::optional<std::int64_t> fill_slices(const SliceTask& task) override;
    /// Each took 2 s, 0.5 s of it transfers.
    [[nodiscard]] std::vector<PreparedStep> take_steps() override;

    /// The names of the tasks since they were taken, one after the other: "sort permute".
    [[nodiscard]] std::string tasks() const;

    /// Those of its whole life.
    [[nodiscard]] const std::set<std::string>& done() const { return done_; }

private:
    /// Notes the task. Is it taken?
    [[nodiscard]] bool takes(const std::string& task);

    std::set<std::string> left_;
    std::set<std::string> done_;
    std::vector<PreparedStep> steps_;
};

}  // namespace workbench
