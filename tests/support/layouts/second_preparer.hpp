// A preparer that needs no GPU: it does every task in a different, simple way, and records the tasks.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/matrix/preparer.hpp"

namespace workbench {

class SecondPreparer final : public Preparer {
public:
    /// Declines tasks with these names and does all others.
    explicit SecondPreparer(std::set<std::string> left = {}, std::string name = "another machine")
        : left_(std::move(left)), name_(std::move(name)) {}

    [[nodiscard]] std::string name() const override { return name_; }
    [[nodiscard]] std::optional<std::vector<Index>> sort(const SortTask& task) override;
    [[nodiscard]] std::optional<std::vector<Index>> place_by_hash(const HashTask& task) override;
    [[nodiscard]] std::optional<LevelOrder> cuthill_mckee(const CsrMatrix& matrix, bool reversed) override;
    [[nodiscard]] std::optional<CsrMatrix> permute(const CsrMatrix& matrix, const Permutation& row_order,
                                                   const Permutation& column_order) override;
    [[nodiscard]] std::optional<DividedEntries> divide(const CsrMatrix& matrix, const ShareView& view,
                                                       const Division& division) override;
    [[nodiscard]] std::optional<std::vector<Share>> split_into_tiles(const CsrMatrix& matrix, const Cuts* row_blocks,
                                                                     const Cuts& segments) override;
    [[nodiscard]] std::optional<std::int64_t> fill_slices(const SliceTask& task) override;
    /// Each step took 2 s, of which transfers took 0.5 s.
    [[nodiscard]] std::vector<PreparedStep> take_steps() override;

    /// The names of the tasks since the last take_steps(), in order: "sort permute".
    [[nodiscard]] std::string tasks() const;

    /// The names of all tasks so far.
    [[nodiscard]] const std::set<std::string>& done() const { return done_; }

private:
    /// Records the task. Returns true if it is not declined.
    [[nodiscard]] bool takes(const std::string& task);

    std::set<std::string> left_;
    std::string name_;
    std::set<std::string> done_;
    std::vector<PreparedStep> steps_;
};

}  // namespace workbench
