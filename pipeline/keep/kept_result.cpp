#include "pipeline/keep/kept_result.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "core/system/checksum.hpp"
#include "core/system/compile.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

void transfer_order(Transfer& all, Permutation& order) {
    std::vector<Index> list(order.old_of_new().begin(), order.old_of_new().end());
    all(list);
    if (!all.reads()) return;
    try {
        order = Permutation::from_old_of_new(std::move(list));
    } catch (const std::invalid_argument& reason) {
        throw BrokenTransfer(reason.what());
    }
}

/// Something that has no `transfer` of its own: `pass` is called with what it holds.
template <typename Thing>
void transfer_optional(Transfer& all, std::optional<Thing>& thing, const auto& pass) {
    bool there = thing.has_value();
    all(there);
    if (!there) return thing.reset();
    if (!thing) thing.emplace();
    pass(*thing);
}

template <typename Thing>
void transfer_list(Transfer& all, std::vector<Thing>& list, const auto& pass) {
    std::size_t count = list.size();
    all(count);
    if (all.reads()) list.clear();
    for (std::size_t i = 0; i < count; ++i) pass(all.reads() ? list.emplace_back() : list[i]);
}

void transfer_result(Transfer& all, StageResult& result) {
    StageChange& change = result.change;
    transfer_optional(all, change.order, [&](OrderChange& order) {
        all(order.acts);
        transfer_order(all, order.order);
    });
    transfer_list(all, change.storage, [&](StorageOrder& storage) {
        all(storage.share);
        transfer_order(all, storage.order);
    });
    transfer_list(all, change.cuts, [&](Cuts& cuts) { all(cuts.kind, cuts.boundaries); });
    transfer_optional(all, change.shares, [&](std::vector<Share>& shares) {
        transfer_list(all, shares, [&](Share& share) { all(share.id, share.rows, share.row_offsets, share.entries); });
    });
    all(change.node_size, result.notes);
}

std::string text_of(const Parameters& parameters) {
    std::string text;
    for (const auto& [name, value] : parameters.values()) text += fmt::format(", {} = {}", name, to_text(value));
    return text;
}

/// The checksums of the files of one folder with this extension, to which a program may refer.
std::string checksum_of_program_file(const std::filesystem::path& file) {
    constexpr std::size_t most_files = 1000;
    std::vector<std::filesystem::path> files{file};
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(file.parent_path(), failure), end; entry != end; entry.increment(failure)) {
        if (failure || files.size() == most_files) break;
        std::error_code ignored;
        if (entry->path().extension() == file.extension() && entry->is_regular_file(ignored)) files.push_back(entry->path());
    }
    std::sort(files.begin() + 1, files.end());
    std::string text;
    for (const std::filesystem::path& each : files) text += each.filename().string() + checksum_of_file(each);
    return checksum_of(text);
}

}  // namespace

std::string contents_of_files(const std::vector<ParameterDeclaration>& declarations, const Parameters& parameters) {
    std::string text;
    const auto add = [&](const std::filesystem::path& file, const std::string& checksum) {
        text += fmt::format("; {} {}", file.filename().string(), checksum);
    };
    for (const ParameterDeclaration& declaration : declarations) {
        if (!parameters.has(declaration.name)) continue;
        const auto value = [&]() -> const std::string& { return parameters.text(declaration.name); };
        if (declaration.type == ParameterType::file) add(value(), checksum_of_file(value()));
        if (declaration.type == ParameterType::source) add(value(), checksum_of_source(value()));
        if (declaration.type != ParameterType::command) continue;
        for (const std::string& word : command_words(value()).value_or(std::vector<std::string>())) {
            std::error_code ignored;
            if (word.starts_with('/') && std::filesystem::is_regular_file(word, ignored)) {
                add(word, checksum_of_program_file(word));
            }
        }
    }
    return text;
}

namespace {

template <typename Result>
Obtained<Result> read_or_make(const Keeping& keeping, const Clock& clock, Result empty, const auto& pass, const auto& make) {
    Obtained<Result> found{.result = std::move(empty)};
    const auto transfer = [&](Transfer& all) {
        all(found.seconds);
        pass(all, found.result);
    };
    const Stopwatch reading(clock);
    if (keeping.read(transfer)) {
        found.kept_seconds = reading.seconds();
        return found;
    }
    const Stopwatch making(clock);
    found.result = make();
    found.seconds = making.seconds();
    if constexpr (std::is_same_v<Result, StageResult>) found.seconds -= found.result.untimed_seconds;
    keeping.write(transfer);
    return found;
}

}  // namespace

Keeping keeping_after(const Keeping& before, const ChainStep& step) {
    if (!before.on()) return before;
    std::string line =
        "stage " + step.entry->name + text_of(step.parameters) + contents_of_files(step.entry->parameters, step.parameters);
    if (const DeviceProperties* device = step.device) {
        line += fmt::format("; for {} ({}, {} B of shared memory, {} B of cache, {} B of memory)", device->name,
                            counted(device->processors, "processor"), device->shared_memory_per_block, device->last_level_cache,
                            device->memory);
    }
    if (step.entry->contract(step.parameters).depends_on_precision) line += fmt::format("; for {}", name_of(step.precision));
    return before.after(step.entry->name, line);
}

Keeping keeping_after(const Keeping& matrix, Index node_size, std::span<const ChainStep> steps) {
    Keeping keeping = matrix.after("input", fmt::format("nodes of {}", node_size));
    for (const ChainStep& step : steps) keeping = keeping_after(keeping, step);
    return keeping;
}

void KeptParts::add(const std::string& name, const std::optional<double>& kept_seconds) {
    if (!kept_seconds) return;
    names_.push_back(name);
    seconds_ += *kept_seconds;
}

std::string KeptParts::note() const {
    if (names_.empty()) return "";
    return fmt::format("kept by an earlier run: {}; read in {}, and the times are those that it once took to make",
                       fmt::join(names_, ", "), duration(seconds_));
}

Obtained<StageResult> obtain(const ChainStep& step, const StagedMatrix& staged, const Keeping& keeping, const Clock& clock) {
    return read_or_make<StageResult>(keeping, clock, {}, transfer_result, [&] {
        return step.entry->run(staged, step.parameters, {step.device, step.precision});
    });
}

template <ValueType Value>
ObtainedLayout<Value> obtain(const LayoutEntry& entry, const Parameters& parameters, const Keeping& keeping, const Clock& clock,
                             const std::function<std::unique_ptr<Layout<Value>>()>& build) {
    const EmptyLayout<Value> empty = entry.empty.template get<Value>();
    const bool is_kept = keeping.on() && empty != nullptr;
    const std::string name = fmt::format("{}_{}", entry.name, name_of(precision_of<Value>));
    const std::string line =
        fmt::format("layout {}{} {}{}", entry.name, entry.file_checksum, name_of(precision_of<Value>), text_of(parameters));
    return read_or_make<std::unique_ptr<Layout<Value>>>(
        is_kept ? keeping.after(name, line) : Keeping(), clock, is_kept ? empty(parameters) : nullptr,
        [](Transfer& all, const std::unique_ptr<Layout<Value>>& layout) { layout->transfer(all); }, build);
}

template ObtainedLayout<float> obtain(const LayoutEntry&, const Parameters&, const Keeping&, const Clock&,
                                      const std::function<std::unique_ptr<Layout<float>>()>&);
template ObtainedLayout<double> obtain(const LayoutEntry&, const Parameters&, const Keeping&, const Clock&,
                                       const std::function<std::unique_ptr<Layout<double>>()>&);

}  // namespace workbench
