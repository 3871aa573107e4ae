#include "core/input/inline_matrix.hpp"

#include <fmt/core.h>

#include <vector>

#include "core/text/words.hpp"

namespace workbench {

CsrMatrix csr_from_rows(std::span<const std::string> rows) {
    std::vector<Entry> entries;
    Index columns = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::string_view rest = rows[i];
        Index length = 0;
        for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest), ++length) {
            if (word == ".") continue;
            const auto value = parse_real(word);
            if (!value) {
                throw InlineMatrixError(i, static_cast<std::size_t>(word.data() - rows[i].data()),
                                        fmt::format("row {}, column {}: {} or '.'", i + 1, length + 1, why_not_real(word)));
            }
            entries.push_back({static_cast<Index>(i), length, *value});
        }
        if (i == 0) columns = length;
        if (length != columns) {
            throw InlineMatrixError(
                i, rows[i].size(),
                fmt::format("row {}: found {}; expected {}, as in row 1", i + 1, counted(length, "column"), columns));
        }
    }
    return csr_from_entries(static_cast<Index>(rows.size()), columns, entries);
}

}  // namespace workbench
