// Kept results whose checksum is valid: layouts, and the result of a stage. The first byte chooses; the rest is the result.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "core/contract/errors.hpp"
#include "fuzz/target.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/keep/kept_result.hpp"

namespace {

using namespace workbench;

class FromBytes final : public Transfer {
public:
    explicit FromBytes(std::string_view bytes) : bytes_(bytes) {}
    [[nodiscard]] bool reads() const override { return true; }

private:
    void pass_bytes(void* data, std::size_t count) override {
        if (count > bytes_.size()) throw BrokenTransfer("cut");
        if (count > 0) std::memcpy(data, bytes_.data(), count);
        bytes_.remove_prefix(count);
    }
    [[nodiscard]] std::size_t left() const override { return bytes_.size(); }

    std::string_view bytes_;
};

/// Reads a layout, which may be refused.
template <ValueType Value>
void read_layout(const LayoutEntry& entry, std::string_view bytes) {
    try {
        const auto layout = entry.empty.get<Value>()(Parameters(entry.parameters, {}));
        FromBytes from(bytes);
        layout->transfer(from);
    } catch (const BrokenTransfer&) {
    } catch (const ParameterError&) {  // the layout has required parameters
    }
}

class Folder {
public:
    Folder() = default;
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }

    const std::filesystem::path path = "/dev/shm/workbench_fuzz_kept_" + std::to_string(getpid());
};

void read_stage(std::string_view bytes) {
    static const Folder folder;
    static KeepFolder keep(folder.path, "the fuzzer");
    static const CsrMatrix matrix = csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}, {1, 3, 3}, {3, 2, 5}});
    const Keeping keeping(&keep, matrix);
    keeping.write([bytes](Transfer& all) {
        for (char byte : bytes) all(byte);
    });
    const StageEntry& stage = *catalogue().find_stage("row_sort");
    const ChainStep step{.entry = &stage, .parameters = Parameters(stage.parameters, {}), .only_for = {}};
    const Obtained<StageResult> found = obtain(step, stage_input(matrix), keeping, {});
    // A damaged result is made anew, and a note reports it.
    if (keep.take_notes().empty() != found.kept_seconds.has_value()) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
    const std::vector<LayoutEntry>& layouts = catalogue().layouts;
    const std::size_t choice = data[0];
    if (choice >= 2 * layouts.size()) {
        read_stage(bytes);
    } else if (choice % 2 == 0) {
        read_layout<double>(layouts[choice / 2], bytes);
    } else {
        read_layout<float>(layouts[choice / 2], bytes);
    }
    return 0;
}
