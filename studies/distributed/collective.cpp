#include "studies/distributed/collective.hpp"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "studies/distributed/messages.hpp"

namespace workbench {
namespace {

/// "rank 3", "ranks 0 to 2, 5".
std::string names_of(const std::vector<int>& ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
        if (last > i) text += fmt::format(" to {}", ranks[last]);
        i = last;
    }
    return text;
}

}  // namespace

Failure failure_of_rank() {
    try {
        throw;
    } catch (const Unsuitable& reason) {
        return {ExitCode::bad_input, reason.what()};
    } catch (const BrokenKernel& reason) {
        return {ExitCode::wrong_result, reason.what()};
    } catch (...) {
        return current_failure();
    }
}

void agree(Ranks& ranks, const std::optional<Failure>& mine) {
    MessageWriter writer;
    writer.put(mine ? mine->exit_code : ExitCode::ok);
    if (mine) writer.put_all(std::span<const char>(mine->text));
    const std::vector<Bytes> all = ranks.gather(writer.bytes());

    std::map<std::string, std::vector<int>> ranks_of;  // by text
    ExitCode exit_code = ExitCode::ok;
    for (int rank = 0; rank < ranks.size(); ++rank) {
        MessageReader reader(all[rank]);
        const auto code = reader.get<ExitCode>();
        if (code == ExitCode::ok) continue;
        const auto text = reader.get_all<char>();
        ranks_of[std::string(text.begin(), text.end())].push_back(rank);
        if (exit_code == ExitCode::ok) exit_code = code;
    }
    if (exit_code == ExitCode::ok) return;
    std::string text;
    for (const auto& [what, which] : ranks_of) {
        if (!text.empty()) text += '\n';
        // A failure of all ranks is not about ranks.
        text += static_cast<int>(which.size()) == ranks.size()
                    ? what
                    : fmt::format("{} of {}: {}", names_of(which), ranks.size(), what);
    }
    throw RanksFailed(exit_code, text);
}

}  // namespace workbench
