// Lists of integers from files, as orders, partitions, cuts and labels of a matrix. The first byte selects which.
#include "core/contract/errors.hpp"
#include "core/matrix/staged_matrix.hpp"
#include "fuzz/target.hpp"
#include "stages/beside/from_lists.hpp"

namespace {

using namespace workbench;

StagedMatrix six_rows(Index node_size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < 6; ++i) entries.push_back({i, (5 * i + 1) % 6, 1.0 + i});
    return stage_input(csr_from_entries(6, 6, entries), node_size);
}

StageResult result_of(unsigned which, const std::filesystem::path& path, const StagedMatrix& staged) {
    const int base = static_cast<int>(which / 64 % 2);
    const std::vector<ShareKind> kinds{ShareKind::label_0, ShareKind::first};
    if (which % 8 == 0) return shares_from_export(path, "shares", staged, kinds);
    const NumberList list = read_numbers(path, "list");
    if (which % 8 == 1) return shares_from(list, staged, kinds, base);
    if (which % 8 == 2) return partition_from(list, staged, base);
    if (which % 8 == 3) return {.change = {.cuts = {cuts_from(list, staged, CutKind::segment)}}};
    const Acts acts = which % 8 == 4 ? Acts::rows : Acts::symmetric;
    return {.change = {.order = order_from(list, staged, {.acts = acts, .new_of_old = which % 8 == 5, .base = base})}};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const unsigned which = data[0];
    const std::filesystem::path path = fuzz::file_with(fuzz::text_of(data + 1, size - 1));
    fuzz::act_or_refuse([&] {
        const StagedMatrix before = six_rows(which / 16 % 2 == 0 ? 1 : 2);
        try {
            StagedMatrix after = before;
            apply(after, result_of(which, path, before).change, {});
            check_invariants(after, before.matrix);
        } catch (const Unsuitable& reason) {
            throw InputError(reason.what());
        }
    });
    return 0;
}
