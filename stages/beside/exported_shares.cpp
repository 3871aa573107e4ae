// Reads the shares.npz that workbench export writes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/input/npz/npz_archive.hpp"
#include "core/text/suggestion.hpp"
#include "core/text/words.hpp"
#include "stages/beside/from_lists.hpp"

namespace workbench {
namespace {

class ExportedShares {
public:
    ExportedShares(const std::filesystem::path& path, std::string file) : file_(std::move(file)) {
        std::map<std::string, ItemRange> wanted;
        for (const char* name : {"names", "row_begins", "rows", "nonzero_begins", "nonzeros"}) wanted[name] = all_items;
        try {
            arrays_ = read_npz(path, wanted);
        } catch (const InputError& wrong) {
            throw Unsuitable(wrong.what());
        }
    }

    template <typename... Values>
    [[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) const {
        throw Unsuitable(fmt::format("{}: {}", file_, fmt::format(text, std::forward<Values>(values)...)));
    }

    [[nodiscard]] std::vector<std::string> names() const {
        const NpyArray& array = found("names");
        if (array.type.size() < 3 || !array.type.starts_with("|S") || array.size() == 0) {
            refuse("member names.npy: found type {}; expected names of shares", array.type);
        }
        const std::size_t length = array.bytes.size() / static_cast<std::size_t>(array.size());
        std::vector<std::string> names;
        for (std::size_t begin = 0; begin + length <= array.bytes.size() && length > 0; begin += length) {
            std::string_view name(reinterpret_cast<const char*>(array.bytes.data()) + begin, length);
            names.emplace_back(name.substr(0, std::min(name.find('\0'), name.size())));
        }
        return names;
    }

    template <typename Number>
    [[nodiscard]] std::vector<Number> numbers(const std::string& name) const {
        const NpyArray& array = found(name);
        std::vector<Number> result(static_cast<std::size_t>(array.items_read()));
        const bool known = with_integer_type(array.type, [&](auto number) {
            for (std::size_t i = 0; i < result.size(); ++i) {
                const auto value = item<decltype(number)>(array, i);
                if (std::cmp_less(value, 0) || std::cmp_greater(value, std::numeric_limits<Number>::max())) {
                    refuse("member {}.npy: entry {}: found {}; expected a number of at least 0", name, i, value);
                }
                result[i] = static_cast<Number>(value);
            }
        });
        if (!known) refuse("member {}.npy: found type {}; expected integers", name, array.type);
        return result;
    }

private:
    [[nodiscard]] const NpyArray& found(const std::string& name) const {
        const auto array = arrays_.find(name);
        if (array == arrays_.end()) refuse("found no member {}.npy; expected the shares.npz of workbench export", name);
        return array->second;
    }

    std::string file_;
    std::map<std::string, NpyArray> arrays_;
};

/// Throws unless the offsets begin with 0, ascend and end with `end`.
void check_offsets(const ExportedShares& file, const char* name, const std::vector<Offset>& offsets, std::size_t size,
                   std::size_t end) {
    const bool sound = offsets.size() == size && size > 0 && offsets.front() == 0 &&
                       offsets.back() == static_cast<Offset>(end) && std::is_sorted(offsets.begin(), offsets.end());
    if (!sound) file.refuse("member {}.npy: expected {} that ascend from 0 to {}", name, counted(size, "offset"), end);
}

}  // namespace

StageResult shares_from_export(const std::filesystem::path& path, const std::string& name, const StagedMatrix& staged,
                               const std::vector<ShareKind>& kinds) {
    const ExportedShares file(path, name);
    std::vector<std::string> expected;
    for (const ShareKind kind : kinds) expected.emplace_back(name_of(kind));
    const std::vector<std::string> names = file.names();
    if (names != expected)
        file.refuse("found shares {}; expected those of names: {}", in_quotes(join(names), 200), join(expected));

    const auto rows = file.numbers<Index>("rows");
    const auto row_begins = file.numbers<Offset>("row_begins");
    const auto nonzeros = file.numbers<Offset>("nonzeros");
    const auto nonzero_begins = file.numbers<Offset>("nonzero_begins");
    check_offsets(file, "row_begins", row_begins, names.size() + 1, rows.size());
    check_offsets(file, "nonzero_begins", nonzero_begins, rows.size() + 1, nonzeros.size());
    std::vector<Share> shares;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Offset first = row_begins[i];
        const Offset end = row_begins[i + 1];
        Share share{.id = {kinds[i]}};
        share.rows.assign(rows.begin() + first, rows.begin() + end);
        share.row_offsets.clear();
        for (Offset row = first; row <= end; ++row) share.row_offsets.push_back(nonzero_begins[row] - nonzero_begins[first]);
        share.entries.assign(nonzeros.begin() + nonzero_begins[first], nonzeros.begin() + nonzero_begins[end]);
        shares.push_back(std::move(share));
    }
    return checked_shares(std::move(shares), staged, name);
}

}  // namespace workbench
