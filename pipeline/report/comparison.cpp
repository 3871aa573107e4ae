#include "pipeline/report/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/report/figures.hpp"

namespace workbench {
namespace {

constexpr std::size_t label_width = 20;
constexpr std::size_t cell_width = 28;

std::string line(const std::string& label, const std::string& a, const std::string& b) {
    std::string text =
        padded(label, label_width) + ' ' + padded(shortened(a, cell_width), cell_width) + ' ' + shortened(b, cell_width);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
}

const StageOutcome* stage_at(const RunReport& report, std::size_t i) {
    return i < report.stages.size() ? &report.stages[i] : nullptr;
}

using Cell = FigureCell<Metrics>;

/// "123 -> 45", or the value alone if the stage did not change it.
std::string change_text(const RunReport& report, std::size_t i, const Cell& cell) {
    if (i >= report.stages.size()) return "";
    std::string now = cell.text(report.stages[i].metrics, "/");
    if (i == 0) return now;
    const std::string before = cell.text(report.stages[report.stage_before(i)].metrics, "/");
    if (now == before) return now;
    const std::string change = fmt::format("{} -> {}", before, now);
    return change.size() <= cell_width ? change : "-> " + now;
}

bool is_change(const std::string& text) { return text.find("-> ") != std::string::npos; }

std::string stages_text(const RunReport& a, const RunReport& b) {
    std::string text;
    const auto time_of = [](const StageOutcome* stage) { return stage == nullptr ? "" : duration(stage->seconds); };
    const auto name_of = [](const StageOutcome* stage) { return stage == nullptr ? "" : stage->label(); };
    for (std::size_t i = 0; i < std::max(a.stages.size(), b.stages.size()); ++i) {
        text += line(fmt::format("  {}", i), name_of(stage_at(a, i)), name_of(stage_at(b, i)));
        if (i > 0) text += line("    time", time_of(stage_at(a, i)), time_of(stage_at(b, i)));
        for (const Cell& cell : cells_of(metric_figures(), &Figure<Metrics>::table)) {
            const std::string of_a = change_text(a, i, cell);
            const std::string of_b = change_text(b, i, cell);
            const bool told = i == 0 ? of_a != "-" : is_change(of_a) || is_change(of_b);
            if (told) text += line("    " + cell.shown().label, of_a, of_b);
        }
    }
    return text;
}

const LayoutOutcome* layout_of(const RunReport& report, const KernelOutcome& kernel) {
    const auto found = std::find_if(report.layouts.begin(), report.layouts.end(), [&](const LayoutOutcome& layout) {
        return !kernel.baseline && layout.name == kernel.layout && layout.share == kernel.share &&
               layout.precision == kernel.precision;
    });
    return found == report.layouts.end() ? nullptr : &*found;
}

std::string padding_of(const RunReport& report, const KernelOutcome& kernel) {
    const LayoutOutcome* layout = layout_of(report, kernel);
    if (layout == nullptr) return "-";
    const auto slots = static_cast<double>(layout->slots());
    const auto nonzeros = static_cast<double>(layout->nonzeros);
    if (slots < nonzeros) return "-";  // some slots serve two nonzeros
    return percent(slots == 0 ? 0 : 1 - nonzeros / slots);
}

std::string name_of(const KernelOutcome* kernel) {
    if (kernel == nullptr) return "-";
    const std::string name =
        fmt::format("{}{} {}", kernel->share.empty() ? "" : kernel->share + ": ", kernel->layout, kernel->kernel);
    switch (kernel->status) {
        case KernelOutcome::Status::wrong: return name + ": WRONG";
        case KernelOutcome::Status::unsuitable: return name + ": unsuitable";
        case KernelOutcome::Status::measured: break;
    }
    return name;
}

/// "1.23 x (1.20 to 1.25)", or why there is no such ratio.
std::string ratio_text(const KernelPair& pair) {
    const std::optional<Median> ratio = pair.ratio();
    if (!ratio) return pair.a->verified() && pair.b->verified() ? "not timed in turns" : "-";
    if (!ratio->interval) return "too few samples";
    if (pair.a->busy || pair.b->busy) return "busy machine";
    const auto [low, high] = *ratio->interval;
    return fmt::format("{} ({} to {})", low <= 1 && high >= 1 ? "within noise" : factor(ratio->value), significant(low),
                       significant(high));
}

std::string kernel_text(const RunReport& a, const RunReport& b, const KernelPair& pair) {
    const KernelOutcome& one = pair.either();
    std::string text =
        line(fmt::format("  {} {}", name_of(one.backend), name_of(one.precision)), name_of(pair.a), name_of(pair.b));
    const auto told = [](const KernelOutcome* kernel, const auto& figure) {
        return kernel == nullptr || !kernel->verified() ? std::string() : figure(*kernel);
    };
    const auto both = [&](const char* label, const auto& of_a, const auto& of_b) {
        text += line(std::string("    ") + label, told(pair.a, of_a), told(pair.b, of_b));
    };
    const auto all = [&](const char* label, const auto& figure) { both(label, figure, figure); };
    all("time", [](const KernelOutcome& kernel) { return duration(kernel.timing.median); });
    all("spread", [](const KernelOutcome& kernel) { return spread_text(kernel.timing.spread); });
    all("GB/s", [](const KernelOutcome& kernel) { return significant(kernel.gbytes_per_second); });
    if (one.baseline) return text;
    both(
        "padding", [&a](const KernelOutcome& kernel) { return padding_of(a, kernel); },
        [&b](const KernelOutcome& kernel) { return padding_of(b, kernel); });
    all("speed-up", [](const KernelOutcome& kernel) -> std::string {
        if (!kernel.speedup) return "-";
        if (kernel.verdict() == Verdict::too_few_samples) return "too few samples";
        if (kernel.verdict() == Verdict::busy_machine) return "busy machine";
        return kernel.verdict() == Verdict::within_noise ? "within noise" : factor(*kernel.speedup);
    });
    all("break-even", [](const KernelOutcome& kernel) -> std::string {
        if (kernel.break_even) return with_commas(std::llround(std::ceil(*kernel.break_even)));
        return kernel.verdict() == Verdict::slower ? "never" : "-";
    });
    if (pair.a != nullptr && pair.b != nullptr) text += line("    time of A / B", ratio_text(pair), "");
    return text;
}

std::string head_of(char letter, const RunReport& report) {
    return fmt::format("{}  {} ({})\n", letter, report.title(), report.recipe_file);
}

std::string price_text(const RunReport& a, const RunReport& b) {
    std::string text;
    std::set<Precision> precisions;
    for (const RunReport* report : {&a, &b}) {
        for (const LayoutOutcome& layout : report->layouts) precisions.insert(layout.precision);
    }
    for (const Precision precision : precisions) {
        const auto layout = [precision](const RunReport& report, const auto& figure) {
            for (const LayoutOutcome& each : report.layouts) {
                if (each.precision == precision) return each.unsuitable.empty() ? figure(each) : std::string("unsuitable");
            }
            return std::string();
        };
        const auto both = [&](const std::string& label, const auto& figure) {
            text += line(label, layout(a, figure), layout(b, figure));
        };
        both(fmt::format("  {}", name_of(precision)), [](const LayoutOutcome& each) { return each.name; });
        both("    built in", [](const LayoutOutcome& each) { return duration(each.seconds); });
        both("    bytes", [](const LayoutOutcome& each) { return byte_count(static_cast<double>(each.bytes())); });
        text += line("    stages in all", duration(a.stage_seconds(precision)), duration(b.stage_seconds(precision)));
    }
    return text;
}

std::string remarks_of(char letter, const RunReport& report) {
    std::set<std::string> said;
    for (const std::string& note : report.notes) said.insert("note: " + note);
    for (const LayoutOutcome& layout : report.layouts) {
        if (!layout.unsuitable.empty()) said.insert(fmt::format("{}: unsuitable: {}", layout.name, layout.unsuitable));
    }
    for (const KernelOutcome& kernel : report.kernels) {
        for (const std::string& warning : kernel.warnings) said.insert("warning: " + warning);
        if (!kernel.reason.empty()) said.insert(fmt::format("{}: {}", name_of(&kernel), kernel.reason));
    }
    std::string text;
    for (const std::string& each : said) text += fmt::format("  {}: {}\n", letter, each);
    return text;
}

}  // namespace

std::optional<Median> KernelPair::ratio() const {
    const bool measured = a != nullptr && b != nullptr && a->verified() && b->verified() && b->timing.median > 0;
    if (!measured || a->series != b->series) return std::nullopt;
    return ratio_in_turns(a->timing, b->timing);
}

std::vector<KernelPair> pairs_of(const RunReport& a, const RunReport& b) {
    std::vector<KernelPair> pairs;
    std::vector<const KernelOutcome*> left;
    for (const KernelOutcome& kernel : b.kernels) left.push_back(&kernel);
    const auto take = [&](KernelPair& pair, bool same_name) {
        const KernelOutcome& one = *pair.a;
        const auto fits = [&](const KernelOutcome* other) {
            return pair.b == nullptr && other->backend == one.backend && other->precision == one.precision &&
                   other->baseline == one.baseline && other->share == one.share &&
                   (!same_name || (other->layout == one.layout && other->kernel == one.kernel));
        };
        const auto found = std::find_if(left.begin(), left.end(), fits);
        if (found == left.end()) return;
        pair.b = *found;
        left.erase(found);
    };
    for (const KernelOutcome& kernel : a.kernels) pairs.push_back({&kernel, nullptr});
    for (KernelPair& pair : pairs) take(pair, true);
    for (KernelPair& pair : pairs) take(pair, false);
    for (const KernelOutcome* kernel : left) pairs.push_back({nullptr, kernel});
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const KernelPair& x, const KernelPair& y) { return x.either().baseline && !y.either().baseline; });
    return pairs;
}

std::string compare_text(const RunReport& a, const RunReport& b) {
    std::string text = head_of('A', a) + head_of('B', b);
    text += fmt::format("{}: {} x {}, {}\n\n", a.matrix.source, with_commas(a.matrix.rows), with_commas(a.matrix.columns),
                        counted_with_commas(a.matrix.nonzeros, "nonzero"));
    text += line("Stages", "A", "B") + stages_text(a, b);
    text += '\n' + line("Layouts", "A", "B") + price_text(a, b);
    text += '\n' + line(fmt::format("Kernels ({})", a.conditions()), "A", "B");
    for (const KernelPair& pair : pairs_of(a, b)) text += kernel_text(a, b, pair);
    const std::string remarks = remarks_of('A', a) + remarks_of('B', b);
    return wrapped(remarks.empty() ? text : text + '\n' + remarks);
}

}  // namespace workbench
