#include "pipeline/report/page.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/host_threads.hpp"
#include "pipeline/report/figures.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {
namespace {

using Json = nlohmann::json;

constexpr Index sampled_rows = 4'000;            // rows that are followed from stage to stage
constexpr Index longest_order = 1'000'000;       // rows or columns whose original numbers are included
constexpr std::size_t most_boundaries = 20'000;  // boundaries of one kind of cuts
constexpr double share_of_bins = 0.75;           // share of the budget before alternatives are tried

/// File names and commands may contain any bytes.
std::string text_of_document(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Original numbers, each as the difference from the number after the one before. Empty of large matrices.
std::string bytes_of_order(const Permutation& order) {
    std::string bytes;
    if (order.size() > longest_order) return bytes;
    std::int64_t expected = 0;
    for (const Index number : order.old_of_new()) {
        add_difference(bytes, number - expected);
        expected = std::int64_t{number} + 1;
    }
    return bytes;
}

/// Stores the first bytes of all numbers, then the second ones, because similar neighbours deflate better.
template <typename Number, typename Allocator>
std::string byte_planes(const std::vector<Number, Allocator>& numbers) {
    static_assert(std::endian::native == std::endian::little);
    const auto* bytes = reinterpret_cast<const char*>(numbers.data());
    std::string result(numbers.size() * sizeof(Number), '\0');
    for (std::size_t place = 0; place < sizeof(Number); ++place) {
        char* const plane = result.data() + place * numbers.size();
        for (std::size_t i = 0; i < numbers.size(); ++i) plane[i] = bytes[i * sizeof(Number) + place];
    }
    return result;
}

Json json_of(const Cuts& cuts) {
    // If there are too many to be seen, a sample of them; the count includes all.
    const std::size_t inner = cuts.boundaries.size();
    const std::size_t step = inner / most_boundaries + 1;
    Json boundaries = Json::array();
    for (std::size_t i = 0; i < inner; i += step) boundaries.push_back(cuts.boundaries[i]);
    return {{"kind", name_of(cuts.kind)}, {"count", cuts.count()}, {"step", step}, {"boundaries", std::move(boundaries)}};
}

Json json_of(const FigureValue& value) {
    return std::visit(
        [](const auto& plain) {
            if constexpr (std::is_same_v<std::decay_t<decltype(plain)>, std::monostate>) {
                return Json(nullptr);
            } else {
                return Json(plain);
            }
        },
        value);
}

/// The figures of captions, with their texts and numbers after every stage.
Json figures_of(const RunReport& report) {
    Json list = Json::array();
    for (const auto& cell : cells_of(metric_figures(), &Figure<Metrics>::caption)) {
        Json texts = Json::array();
        Json numbers = Json::array();
        bool any = false;
        int telling = 0;
        for (const Figure<Metrics>* figure : cell.figures) telling = std::max(telling, figure->telling);
        for (const StageOutcome& stage : report.stages) {
            const bool there = cell.there(stage.metrics);
            any = any || there;
            texts.push_back(there ? Json(cell.text(stage.metrics)) : Json(nullptr));
            Json of_stage = Json::array();
            for (const Figure<Metrics>* figure : cell.figures) {
                of_stage.push_back(there ? json_of(figure->value(stage.metrics)) : Json(nullptr));
            }
            numbers.push_back(std::move(of_stage));
        }
        if (!any) continue;
        list.push_back({{"label", cell.shown().label},
                        {"meaning", cell.shown().meaning},
                        {"telling", telling},
                        {"more_is_better", cell.figures.front()->more_is_better},
                        {"of_whole", cell.figures.front()->of_whole},
                        {"texts", std::move(texts)},
                        {"numbers", std::move(numbers)}});
    }
    return list;
}

bool has_patterns(const PageRun& run) {
    return !run.patterns.empty() && std::find(run.patterns.begin(), run.patterns.end(), nullptr) == run.patterns.end();
}

/// The deepest level of each stage's pyramid with which all runs fit into the budget.
class LevelSections {
public:
    LevelSections(std::span<const PageRun> runs, PageCompression compression) : compression_(compression) {
        std::vector<const std::string*> texts;
        for (const PageRun& run : runs) {
            if (!has_patterns(run)) continue;
            for (const auto& pattern : run.patterns)
                all_.push_back({&pattern->pyramid.finest, {}, {}, pattern->finest.one_each});
            for (std::size_t i = 0; i < run.patterns.size(); ++i) texts.push_back(&run.patterns[i]->finest.bytes);
        }
        guarded_for("levels of pages", UnevenHostRange<>(0, static_cast<Index>(all_.size())).set_chunk_size(1),
                    [&](Index i) { all_[i].text = page_text(*texts[i], compression_); });
    }

    void fit(std::size_t bytes) {
        while (true) {
            // Stages with equal pictures share one section.
            std::map<std::string_view, std::size_t> different;
            for (std::size_t i = 0; i < all_.size(); ++i) different.emplace(all_[i].text, i);
            std::size_t sum = 0;
            std::string_view largest;
            for (const auto& [text, i] : different) {
                sum += text.size();
                if (text.size() > largest.size()) largest = text;
            }
            if (sum <= bytes || different.empty()) return;
            const std::string text(largest);
            bool made_coarser = false;
            for (One& one : all_) {
                if (one.text != text || one.level().bins() <= 1) continue;
                one.coarser = std::make_unique<const PyramidLevel>(coarser(one.level()));
                pack(one);
                made_coarser = true;
            }
            if (!made_coarser) return;
        }
    }

    [[nodiscard]] Json add_to(PageFile& page, std::size_t i) const {
        const PyramidLevel& level = all_[i].level();
        return {{"section", page.add(all_[i].text)},
                {"row_bits", level.row_bits},
                {"column_bits", level.column_bits},
                {"bins", level.bins()},
                {"one_each", all_[i].one_each}};
    }
    [[nodiscard]] bool shows_entries(std::size_t i) const { return all_[i].level().shows_entries(); }

private:
    struct One {
        const PyramidLevel* finest;
        std::unique_ptr<const PyramidLevel> coarser;  // null: the finest is shown
        std::string text;
        bool one_each = false;

        [[nodiscard]] const PyramidLevel& level() const { return coarser == nullptr ? *finest : *coarser; }
    };

    void pack(One& one) const {
        const PackedLevel bytes = packed(one.level());
        one.text = page_text(bytes.bytes, compression_);
        one.one_each = bytes.one_each;
    }

    PageCompression compression_;
    std::vector<One> all_;
};

/// Adds a section if it fits.
class SectionBudget {
public:
    SectionBudget(PageFile& page, std::size_t most) : page_(page), most_(most) {}

    Json add(const std::string& bytes) {
        std::string text = page_text(bytes, page_.compression());
        if (page_.bytes() + text.size() > most_) return nullptr;
        return page_.add(std::move(text));
    }

private:
    PageFile& page_;
    std::size_t most_;
};

Json json_of_stage(const PagePattern& pattern, const StageOutcome& stage, Index slice_height, SectionBudget& sections) {
    Json cuts = Json::array();
    for (const Cuts& one : pattern.cuts) cuts.push_back(json_of(one));
    if (slice_height > 0 && pattern.tile_count == 0 && pattern.pyramid.plane_names.size() == 1) {
        const Index rows = pattern.pyramid.finest.rows;
        cuts.push_back({{"kind", "slice"},
                        {"count", rows / slice_height + (rows % slice_height == 0 ? 0 : 1)},
                        {"step", 1},
                        {"height", slice_height}});  // instead of boundaries
    }
    return {{"planes", pattern.pyramid.plane_names},
            {"cuts", std::move(cuts)},
            {"tiles", pattern.tile_count},
            {"choices", stage.choices},
            {"label", stage.label()},
            {"sample", sections.add(pattern.sample_places)}};
}

/// All x, then all y, as integers up to 65535.
std::string bytes_of_places(const std::vector<Point>& places) {
    constexpr double most = 65535;
    std::vector<Index> numbers;
    for (const Point& place : places) numbers.push_back(static_cast<Index>(place.x * most));
    for (const Point& place : places) numbers.push_back(static_cast<Index>(place.y * most));
    return byte_planes(numbers);
}

/// Original numbers of rows or columns: "same" if they are those of the input; null if the page has no space for them.
Json order_section(bool moved, const std::string& numbers, SectionBudget& sections) {
    if (!moved) return "same";
    return numbers.empty() ? Json(nullptr) : sections.add(numbers);
}

/// Adds all sections of a page and returns its document.
std::string fill(PageFile& page, std::span<const PageRun> runs, const PageFacts& facts, std::size_t budget) {
    Json document{{"kind", facts.kind}, {"command", facts.command}, {"runs", Json::array()}};
    for (const PageRun& run : runs) {
        document["runs"].push_back(
            {{"report", json_of(run.report)},
             {"title", run.report.title()},
             {"figures", figures_of(run.report)},
             {"storage", run.report.storage == nullptr ? Json(nullptr) : Json(json_of(*run.report.storage))},
             {"pattern", nullptr}});
    }
    // The size that is reserved for mandatory parts; at least half of the rest of a small budget remains.
    const std::string without_patterns = text_of_document(document);
    const std::size_t fixed = PageFile::template_bytes() + 100'000 + page_text(without_patterns, page.compression()).size();
    const std::size_t section_bytes = budget > 2 * fixed ? budget - fixed : budget / 2;
    SectionBudget sections(page, section_bytes);
    LevelSections bins(runs, page.compression());
    bins.fit(static_cast<std::size_t>(share_of_bins * static_cast<double>(section_bytes)));
    std::size_t number = 0;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        const PageRun& run = runs[r];
        const std::size_t count = std::min(run.patterns.size(), run.report.stages.size());
        if (count == 0 || !has_patterns(run)) continue;
        const std::size_t first = number;
        number += run.patterns.size();
        Json stages = Json::array();
        bool entries = true;
        for (std::size_t i = 0; i < count; ++i) {
            const PagePattern& pattern = *run.patterns[i];
            Json stage = json_of_stage(pattern, run.report.stages[i], run.slice_height, sections);
            stage["before"] = i == 0 ? 0 : run.report.stage_before(i);
            entries = entries && bins.shows_entries(first + i);
            stage["bins"] = bins.add_to(page, first + i);
            stages.push_back(std::move(stage));
        }
        const PagePattern& input = *run.patterns.front();
        Json pattern{{"stages", nullptr},
                     {"sampled", input.sampled},
                     {"sample_rows", sections.add(input.sample_rows)},
                     {"sample_columns", sections.add(input.sample_columns)},
                     {"sample_values", sections.add(input.sample_values)},
                     {"values", nullptr},
                     {"places", nullptr},
                     {"entries", entries}};
        if (entries && !input.places.empty()) pattern["places"] = sections.add(input.places);
        if (entries && !input.values.empty()) pattern["values"] = sections.add(input.values);
        for (std::size_t i = 0; i < count; ++i) {
            const PagePattern& one = *run.patterns[i];
            stages[i]["rows"] = order_section(one.rows_moved, one.original_rows, sections);
            stages[i]["columns"] = order_section(one.columns_moved, one.original_columns, sections);
            stages[i]["stored_lengths"] = one.stored_lengths.empty() ? Json(nullptr) : sections.add(one.stored_lengths);
            stages[i]["stored"] = one.tiles.empty() ? Json(nullptr) : sections.add(one.tiles);
        }
        pattern["stages"] = std::move(stages);
        document["runs"][r]["pattern"] = std::move(pattern);
    }
    return text_of_document(document);
}

}  // namespace

std::shared_ptr<const PagePattern> page_pattern(const StagedMatrix& staged, const std::vector<Point>& places) {
    PagePattern pattern;
    pattern.pyramid = build_pyramid(staged);
    pattern.finest = packed(pattern.pyramid.finest);
    pattern.cuts = staged.cuts;
    const PatternSample sample = sample_of(staged, sampled_rows);
    pattern.sample_places = byte_planes(sample.drawn_rows) + byte_planes(sample.drawn_columns);
    const bool has_values = staged.matrix.nonzeros() <= most_entries_with_values;
    if (staged.has_tiles()) {
        pattern.tile_count = static_cast<Index>(std::count_if(staged.shares.begin(), staged.shares.end(),
                                                              [](const Share& share) { return !share.entries.empty(); }));
        if (has_values) pattern.tiles = packed_tiles(staged);
    }
    if (staged.shares.size() == 2 && !staged.has_tiles()) {
        const ShareView view(staged.shares.back());
        for (Index row = 0; row < std::min(view.row_count(), longest_order); ++row) {
            add_number(pattern.stored_lengths, static_cast<std::uint64_t>(view.length(row)));
        }
    }
    pattern.rows_moved = !staged.row_order.is_identity();
    pattern.columns_moved = !staged.column_order.is_identity();
    if (pattern.rows_moved) pattern.original_rows = bytes_of_order(staged.row_order);
    if (pattern.columns_moved) pattern.original_columns = bytes_of_order(staged.column_order);
    if (!pattern.rows_moved && !pattern.columns_moved) {
        pattern.sampled = sample.values.size();
        pattern.sample_rows = byte_planes(sample.original_rows);
        pattern.sample_columns = byte_planes(sample.original_columns);
        pattern.sample_values = byte_planes(sample.values);
        if (!places.empty()) pattern.places = bytes_of_places(places);
        if (has_values) pattern.values = byte_planes(staged.matrix.values);
    }
    return std::make_shared<const PagePattern>(std::move(pattern));
}

std::string page_html(std::span<const PageRun> runs, const PageFacts& facts, std::size_t budget) {
    PageFile page;
    const std::string document = fill(page, runs, facts, budget);
    return page.html(facts.title, document);
}

std::string page_data(std::span<const PageRun> runs, const PageFacts& facts, std::size_t budget) {
    PageFile page(PageCompression::none);
    const std::string document = fill(page, runs, facts, budget);
    return page.data(facts.title, document);
}

}  // namespace workbench
