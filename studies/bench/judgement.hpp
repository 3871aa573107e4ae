// What the lines of a bench say about one kernel: right or wrong and in which way, honest or not, and how fast beside others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/contract/errors.hpp"
#include "studies/bench/records.hpp"

namespace workbench {

/// How a product was wrong. late: right when it was verified, and wrong when it was timed.
enum class WrongWay {
    exact,      // another result on integers whose sums are exact
    bounds,     // beyond the rounding bound on real values
    unwritten,  // rows of y keep what they had
    outside,    // reads or writes outside of its arrays
    input,      // writes to x or to the matrix
    changing,   // another result for the same x: threads race, or a product depends on earlier ones
    late,
    too_fast,    // fewer seconds than the bytes take
    unfinished,  // not finished in its limit
    crash,       // the process ended
    other,
};

/// "exact integers", "races or stale state".
[[nodiscard]] std::string_view name_of(WrongWay way);
/// The way that the sentence of a wrong or failed result describes.
[[nodiscard]] WrongWay way_of(std::string_view reason);

/// The kernel on one matrix.
struct JudgedMatrix {
    std::string matrix;
    std::string status;  // "measured", "unsuitable", "wrong", "failed"
    std::string reason = {};
    WrongWay way = WrongWay::other;  // if it is wrong or failed
    std::optional<Record> timed = {};
    double baseline_seconds = 0;  // beside the kernel
    /// The fastest of the vendor's, and of the workbench's recipes, each in a process without the kernel; none: not timed.
    std::optional<Record> vendor = {};
    std::optional<Record> workbench = {};
    double baseline_seconds_alone = 0;  // beside those; 0 if the machine did other work then
};

struct Judgement {
    std::string file;
    std::string precision;
    std::vector<std::string> open;  // what the kernel could reach, because this machine cannot close it off
    std::vector<JudgedMatrix> matrices = {};
    std::string sanitizer = {};  // what was done with compute-sanitizer, or why it was not; empty: a kernel for a CPU

    /// Adds the matrix on which compute-sanitizer finds errors: races, or accesses outside of arrays.
    void add_sanitizer_errors(const std::string& matrix, bool is_race, const std::string& text);

    [[nodiscard]] int count(const std::string& status) const;
    /// Matrices on which it was right when it was verified, and wrong or too fast when it was timed.
    [[nodiscard]] int cheats() const;
    /// False if it was wrong when it was verified, or did not end, or if nothing was measured.
    [[nodiscard]] bool right() const;
    /// The factor by which the baseline takes longer beside the kernel than without it, as the median over the timed matrices;
    /// none with fewer than five on which the machine did no other work without the kernel.
    [[nodiscard]] std::optional<double> slows_others() const;
    /// False if it cheats, or makes others more than twice as slow.
    [[nodiscard]] bool honest() const;
    /// "right and honest", "wrong", "cheats".
    [[nodiscard]] std::string verdict() const;
    [[nodiscard]] ExitCode exit_code() const;
};

/// kernel, others: lines of a bench with the kernel, and of one without it on the timed matrices.
[[nodiscard]] Judgement judge(const std::vector<std::string>& kernel, const std::vector<std::string>& others);

[[nodiscard]] nlohmann::ordered_json json_of(const Judgement& judgement);
/// The same in one line.
[[nodiscard]] std::string to_json(const Judgement& judgement);
/// For the terminal.
[[nodiscard]] std::string to_text(const Judgement& judgement);

}  // namespace workbench
