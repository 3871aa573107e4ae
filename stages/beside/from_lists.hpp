// Orders, partitions, cuts and shares from lists of integers, which are checked completely. Errors are Unsuitable: file, place,
// what was found, what was expected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/contract/stage.hpp"

namespace workbench {

/// The integers of a file, and where they are, for messages.
class NumberList {
public:
    NumberList(std::string file, std::vector<std::int64_t> numbers) : file_(std::move(file)), numbers_(std::move(numbers)) {}

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::size_t size() const { return numbers_.size(); }
    [[nodiscard]] std::int64_t operator[](std::size_t i) const { return numbers_[i]; }

    /// "order.txt:7" for a text, and "order.npy: entry 4" otherwise, counted from 0.
    [[nodiscard]] std::string where(std::size_t i) const;

    /// Entry i is on this line. Called for ascending i; lines in between follow each other.
    void note_line(std::size_t i, std::int64_t line);

private:
    struct EntryLine {
        std::size_t entry = 0;
        std::int64_t line = 0;
    };
    std::string file_;
    std::vector<std::int64_t> numbers_;
    std::vector<EntryLine> lines_;  // of entries whose line does not follow that of the entry before; empty: not a text
};

/// Reads a .npy file of integers, a Matrix Market array of one column, or a text with one number a line and comments that begin
/// with # or %. Texts may be compressed, and may write integers as 3.0e+00. `name` is the file for messages. Throws Unsuitable:
/// place, what was found, what was expected.
[[nodiscard]] NumberList read_numbers(const std::filesystem::path& path, const std::string& name);

struct OrderForm {
    Acts acts = Acts::symmetric;
    bool new_of_old = false;  // entry old is new; otherwise entry new is old
    int base = 0;             // the number of the first row
    bool in_parts = false;    // rows and columns stay in their part
};

/// An entry for each row (or column), or for each node.
[[nodiscard]] OrderChange order_from(const NumberList& list, const StagedMatrix& staged, const OrderForm& form);

/// The part of each row or node, counted from `base`. Rows keep their order within a part, and no part is empty.
[[nodiscard]] StageResult partition_from(const NumberList& labels, const StagedMatrix& staged, int base);

/// Boundaries that begin with 0 and end with the length of the axis, in the order after the stage. Partitions keep nodes whole.
[[nodiscard]] Cuts cuts_from(const NumberList& boundaries, const StagedMatrix& staged, CutKind kind);

/// The share of each nonzero, in the order of the matrix: label `base` is kinds[0]. Rows keep their order.
[[nodiscard]] StageResult shares_from(const NumberList& labels, const StagedMatrix& staged, const std::vector<ShareKind>& kinds,
                                      int base);

/// [nonzeros] The number of the share of each nonzero, among `shares`. rows: of the matrix.
[[nodiscard]] std::vector<std::uint8_t> numbers_of_shares(const NumberList& labels, const ShareView& rows, std::size_t shares,
                                                          int base);
/// True if checked_shares checks more of these kinds than that each nonzero is in one share.
[[nodiscard]] bool are_checked(const std::vector<ShareKind>& kinds);

/// Shares with their rows in the order of storage, from the shares.npz of an export.
[[nodiscard]] StageResult shares_from_export(const std::filesystem::path& path, const std::string& name,
                                             const StagedMatrix& staged, const std::vector<ShareKind>& kinds);

/// Checks that the shares contain each nonzero once, and what their kinds require.
[[nodiscard]] StageResult checked_shares(std::vector<Share> shares, const StagedMatrix& staged, const std::string& file);

// For the recipe: `within` of an order, and `names`, the kinds of shares that a list contains.

[[nodiscard]] ParameterDeclaration within_parameter();

/// True if `within` is "partition".
[[nodiscard]] bool stays_in_parts(const Parameters& parameters);

/// The contract of a stage with an order, by `apply` and `within`.
[[nodiscard]] StageContract contract_of_own_order(const Parameters& parameters);

[[nodiscard]] ParameterDeclaration names_parameter();

/// The kinds that the parameter `names` lists. Throws ParameterError.
[[nodiscard]] std::vector<ShareKind> kinds_of_names(const Parameters& parameters);

/// The contract of a stage that makes these shares.
[[nodiscard]] StageContract contract_of_shares(const std::vector<ShareKind>& kinds);

/// The contract of a stage that partitions the rows.
[[nodiscard]] StageContract contract_of_parts();

}  // namespace workbench
