// The cache model: one cache by hand, and the whole model against brute force on every layout.
#include <doctest/doctest.h>

#include <list>
#include <map>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "run/catalogue_runs.hpp"
#include "studies/cache_model/cache_study.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/slow.hpp"

namespace workbench {
namespace {

/// The number of hits of a cache that reads these sectors in this order.
int hits(SetAssociativeCache cache, const std::vector<std::uint64_t>& sectors) {
    int found = 0;
    for (const std::uint64_t sector : sectors) found += cache.read(sector) ? 1 : 0;
    return found;
}

// ---------------------------------------------------------------------------------------------------------------------------
// The same model in its simplest form.

/// The sectors of a set, most recently used first.
using NaiveSet = std::list<std::uint64_t>;

struct NaiveCache {
    std::size_t sets;
    std::size_t ways;
    std::map<std::size_t, NaiveSet> content;

    bool read(std::uint64_t sector) {
        NaiveSet& set = content[sector % sets];
        const std::size_t before = set.size();
        set.remove(sector);
        const bool hit = set.size() < before;
        set.push_front(sector);
        if (set.size() > ways) set.pop_back();
        return hit;
    }
};

struct NaiveLevel {
    std::vector<NaiveCache> caches;
    CacheLevelCount count;
};

/// The requested sectors by warp and step.
using Program = std::map<std::int64_t, std::map<std::int64_t, std::set<std::uint64_t>>>;

template <ValueType Value>
Program program_of(const Layout<Value>& layout, WalkReads<Value> walk) {
    Program program;
    walk(layout, [&](const Read& read) {
        if (read.column >= 0) program[read.warp][read.step].insert(read.column * sizeof(Value) / 32);
    });
    return program;
}

struct Place {
    int processor;
    std::int64_t block;  // -1: empty
};

/// Warp k of a block requests a sector from one level after another, until one has it.
void read_sector(std::vector<NaiveLevel>& levels, const CacheModel& model, int processor, int k, std::uint64_t sector) {
    for (NaiveLevel& level : levels) {
        const std::size_t each = level.caches.size() / model.processors;
        NaiveCache& cache =
            each == 0 || level.caches.size() == 1 ? level.caches.front() : level.caches[processor * each + k % each];
        ++level.count.requests;
        const bool hit = cache.read(sector);
        level.count.hits += hit ? 1 : 0;
        if (hit) return;
    }
}

/// Removes one step of each warp of a block from the program. Returns false if no step is left.
bool take_step(Program& program, std::vector<NaiveLevel>& levels, const CacheModel& model, const Place& place) {
    bool left = false;
    for (int k = 0; k < model.block_warps; ++k) {
        const auto warp = program.find(place.block * model.block_warps + k);
        if (warp == program.end() || warp->second.empty()) continue;
        for (const std::uint64_t sector : warp->second.begin()->second) read_sector(levels, model, place.processor, k, sector);
        warp->second.erase(warp->second.begin());
        left = left || !warp->second.empty();
    }
    return left;
}

std::vector<CacheLevelCount> naive_counts(Program program, const CacheModel& model) {
    std::vector<NaiveLevel> levels;
    for (const CacheProperties& cache : model.caches) {
        const std::size_t count = cache.each_processor_has == 0 ? 1 : model.processors * cache.each_processor_has;
        levels.push_back(
            {{count, NaiveCache{cache.bytes / 32 / cache.ways, static_cast<std::size_t>(cache.ways), {}}}, {cache.name}});
    }
    // The blocks that read x and their possible slots, in the order in which slots are filled.
    std::list<std::int64_t> waiting;
    for (const auto& [warp, steps] : program) {
        if (waiting.empty() || waiting.back() != warp / model.block_warps) waiting.push_back(warp / model.block_warps);
    }
    std::vector<Place> places;
    for (int i = 0; i < model.resident_warps / model.block_warps * model.processors; ++i) {
        places.push_back({i % model.processors, -1});
    }
    const auto fill = [&](Place& place) {
        place.block = waiting.empty() ? -1 : waiting.front();
        if (!waiting.empty()) waiting.pop_front();
    };
    for (Place& place : places) fill(place);
    const auto lives = [](const Place& place) { return place.block >= 0; };
    while (std::any_of(places.begin(), places.end(), lives)) {
        for (Place& place : places) {
            if (lives(place) && !take_step(program, levels, model, place)) fill(place);
        }
    }
    std::vector<CacheLevelCount> counts;
    for (const NaiveLevel& level : levels) counts.push_back(level.count);
    return counts;
}

/// The program is that of the walk over the layout.
template <ValueType Value>
void compare_with_brute_force(const Layout<Value>& layout, WalkReads<Value> walk, const Program& program,
                              const CacheModel& model) {
    const CacheCounts counts = count_cache_hits(layout, walk, model);
    std::int64_t requests = 0;
    std::set<std::uint64_t> different;
    for (const auto& [warp, steps] : program) {
        for (const auto& [step, sectors] : steps) {
            requests += static_cast<std::int64_t>(sectors.size());
            different.insert(sectors.begin(), sectors.end());
        }
    }
    CHECK(counts.requests == requests);
    CHECK(counts.sectors == static_cast<std::int64_t>(different.size()));
    const std::vector<CacheLevelCount> expected = naive_counts(program, model);
    REQUIRE(counts.levels.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(counts.levels[i].requests == expected[i].requests);
        CHECK(counts.levels[i].hits == expected[i].hits);
    }
}

/// A cache so small that the battery evicts sectors constantly.
const CacheModel tiny{2, 4, 2, {{"near", 4 * 32, 2, 2}, {"far", 12 * 32, 4, 0}}};
const CacheModel one_warp{1, 1, 1, {{"near", 2 * 32, 2, 1}}};
const CacheModel ample{3, 64, 8, {{"near", 64 * 1024, 4, 1}, {"far", 1024 * 1024, 16, 0}}};

}  // namespace

TEST_CASE("a set-associative cache evicts the least recently used sector") {
    CHECK(hits({4 * 32, 4}, {1, 2, 3, 4, 1, 2, 3, 4}) == 4);  // one set of four
    CHECK(hits({4 * 32, 4}, {1, 2, 3, 4, 5, 1}) == 0);        // 5 evicts 1
    CHECK(hits({4 * 32, 4}, {1, 2, 3, 4, 1, 5, 1, 2}) == 2);  // 1 was used again, so 5 evicts 2
    CHECK(hits({4 * 32, 1}, {0, 4, 0, 4, 1, 1}) == 1);        // four sets of one: 0 and 4 share one
    CHECK(hits({4 * 32, 2}, {0, 2, 4, 0, 1, 3, 1, 3}) == 2);  // even and odd sectors
    CHECK(hits({16, 1}, {7, 7}) == 1);                        // a cache below one sector has one place
    CHECK(hits({3 * 32, 1}, {0, 1, 2, 0, 1, 2, 3, 0}) == 3);  // three sets: no power of two is needed
}

TEST_CASE("the cache model agrees with brute force for every layout" * doctest::test_suite(slow)) {
    for (const LayoutRecipe& one : layout_recipes()) {
        for (const NamedMatrix& named : battery()) {
            if (!one.takes(named.matrix)) continue;
            CAPTURE(one.name);
            CAPTURE(named.name);
            try {
                const StagedMatrix staged = one.stage(named.matrix);
                const auto wide = one.build<double>(staged);
                const auto narrow = one.build<float>(staged);
                for (const ScheduleEntry& schedule : one.layout().schedules) {
                    const Program program = program_of(*wide, schedule.walk.f64);
                    for (const CacheModel* model : {&tiny, &one_warp, &ample}) {
                        compare_with_brute_force(*wide, schedule.walk.f64, program, *model);
                    }
                    // The precision changes the sectors of columns only, which one model shows.
                    compare_with_brute_force(*narrow, schedule.walk.f32, program_of(*narrow, schedule.walk.f32), tiny);
                }
            } catch (const Unsuitable&) {
                continue;  // other tests check refusals
            }
        }
    }
}

TEST_CASE("the reads of the recipe's kernel are counted") {
    const CsrMatrix matrix = csr_from_entries(1, 64, [] {
        std::vector<Entry> entries;
        for (Index column = 0; column < 64; ++column) entries.push_back({0, column, 1});
        return entries;
    }());
    const auto requests = [&](const std::string& kernel) {
        return study_cache(recipe_of("[layout]\nuse = 'csr'\n" + kernel), matrix, Precision::f64, ample, {}).counts->requests;
    };
    CHECK(requests("") == 32);                             // `adaptive`: pairs of values, two steps of 16 sectors
    CHECK(requests("[kernel]\ncuda = 'vector'\n") == 16);  // 32 lanes, two steps of 8 sectors
    CHECK(requests("[kernel]\ncuda = 'scalar'\n") == 64);  // one lane, one value a step

    // Rows of 3, 1 and 0 entries have 9 slots in ell, 5 of them padding, which reads no x.
    const CsrMatrix uneven = csr_from_entries(3, 70, std::vector<Entry>{{0, 0, 1}, {0, 30, 1}, {0, 69, 1}, {1, 8, 1}});
    CHECK(study_cache(recipe_of("[layout]\nuse = 'ell'\n"), uneven, Precision::f64, ample, {}).counts->reads == 4);
}

TEST_CASE("automatic parameters are those of the simulated device, or of the recipe's device") {
    static std::vector<std::int64_t> built_for;
    static const LayoutEntry& csr = *catalogue().find_layout("csr");
    Catalogue known = catalogue();
    LayoutEntry& layout =
        *std::find_if(known.layouts.begin(), known.layouts.end(), [](const auto& each) { return each.name == "csr"; });
    layout.parameters = {{.name = "parts",
                          .default_value = std::string("auto"),
                          .words = {"auto"},
                          .for_device = [](const DeviceProperties& device) { return std::int64_t{2} * device.processors; }}};
    layout.build.f64 = [](const StagedMatrix& staged, const Parameters& parameters) {
        built_for.push_back(parameters.integer("parts"));
        return csr.build.f64(staged, Parameters(csr.parameters, {}));
    };
    const auto parts_for = [&](const std::string& text, const DeviceProperties* device) {
        built_for.clear();
        const Recipe recipe = parse_recipe(text + "[layout]\nuse = 'csr'\n", "t.toml", known);
        CHECK(study_cache(recipe, grid(3), Precision::f64, ample, {device, Precision::f64}).counts);
        REQUIRE(built_for.size() == 1);
        return built_for.front();
    };
    const DeviceProperties* const k20x = find_device_model("k20x");
    CHECK(parts_for("", k20x) == 2 * k20x->processors);
    CHECK(parts_for("", nullptr) == 2 * tuned_device_model().processors);
    CHECK(parts_for("[recipe]\ndevice = 'v100'\n", k20x) == 2 * find_device_model("v100")->processors);
}

TEST_CASE("a large cache misses each sector once") {
    for (const NamedMatrix& named : battery()) {
        const Recipe recipe = recipe_of("[layout]\nuse = 'sell'\n");
        const CachePoint point = study_cache(recipe, named.matrix, Precision::f64, ample, {});
        REQUIRE(point.counts);
        CHECK(point.counts->from_memory() == point.counts->sectors);
    }
}

TEST_CASE("segments that fit the cache have hits, larger ones have none") {
    // Each row reads all of x, which is four times the size of the cache: sectors are evicted before they are read again.
    std::vector<Entry> entries;
    for (Index row = 0; row < 320; ++row) {
        for (Index column = 0; column < 128; ++column) entries.push_back({row, column, 1});
    }
    const CsrMatrix matrix = csr_from_entries(320, 128, entries);
    const CacheModel model{1, 8, 8, {{"near", 8 * 32, 8, 1}}};  // 32 values of f64
    const auto study = [&](int width) {
        const std::string text =
            "[[stage]]\nuse = 'column_segmentation'\nwidth = " + std::to_string(width) + "\n[layout]\nuse = 'segmented'\n";
        return *study_cache(recipe_of(text), matrix, Precision::f64, model, {}).counts;
    };
    const CacheCounts fits = study(32);
    CHECK(fits.requests == 10 * 128);      // ten warps, whose lanes read one column in each step
    CHECK(fits.from_memory() == 128 / 4);  // each sector once
    // Two consecutive blocks: eight warps in step request a sector for four steps, and never again.
    CHECK(study(128).from_memory() == 2 * 128 / 4);
    CHECK(study(64).from_memory() == 2 * 128 / 4);
}

TEST_CASE("a chart has a curve for each cache and each combination of the other swept values") {
    const auto points_of = [](const std::string& matrix, const std::string& stage) {
        return parse_points("[matrix]\ngenerate = 'laplace2d'\nnx = " + matrix +
                                "\nny = 5\n[[stage]]\nuse = 'column_segmentation'\nwidth = " + stage +
                                "\n[layout]\nuse = 'segmented'\n",
                            "a.toml", catalogue())
            .points;
    };
    CacheStudy study;
    study.recipe = "a";
    study.source = "a paper";
    study.device = "a GPU";
    study.swept = "matrix.nx, stage.column_segmentation.width";
    study.model.caches = {{"near", 64, 1, 1}, {"far", 128, 1, 0}};
    std::int64_t hits = 0;
    for (const Recipe& recipe : points_of("{ sweep = [2, 3] }", "{ sweep = [40, 4] }")) {
        study.points.emplace_back().place = chart_place(recipe);
        if (++hits == 4) break;  // the layout refuses the fourth point
        study.points.back().counts = CacheCounts{10, 10, 10, {{"near", 10, hits}, {"far", 10 - hits, 0}}};
    }
    study.points.front().matrix = "a grid";
    const XyChart chart = chart_of(study);
    REQUIRE(chart.series.size() == 4);
    CHECK(chart.series[0].name == "near, nx=2");
    CHECK(chart.series[0].points == std::vector<std::pair<double, double>>{{4, 20}, {40, 10}});
    CHECK(chart.series[1].name == "near, nx=3");
    CHECK(chart.series[1].points == std::vector<std::pair<double, double>>{{40, 30}});
    CHECK(chart.series[2].name == "far, nx=2");
    CHECK(chart.series[2].points == std::vector<std::pair<double, double>>{{4, 0}, {40, 0}});
    CHECK(chart.x.label == "stage.column_segmentation.width");
    CHECK(!chart.x.logarithmic);
    CHECK(chart.y.high == 100.0);
    CHECK(chart.foot == "a grid  ·  a paper");
    REQUIRE(chart.guides.size() == 2);  // the 64 and 128 bytes of the caches are 8 and 16 columns of x in f64
    CHECK(chart.guides[0].name == "x of 8 columns fills near");
    CHECK(chart.guides[1].points == std::vector<std::pair<double, double>>{{16, 0}, {16, 100}});
    study.points.front().place.x = 3.9;  // the axis is logarithmic if it spans more than a factor of ten
    CHECK(chart_of(study).x.logarithmic);
    study.points.front().counts->levels[1].requests = 0;  // a cache that gets no request has no rate
    CHECK(chart_of(study).series[2].points == std::vector<std::pair<double, double>>{{4, 0}});

    // Three curves for each of two caches have colours; the other four have none.
    check_chartable(points_of("{ sweep = [2, 3, 4] }", "{ sweep = [4, 8] }"), study.model);
    CHECK_THROWS_AS(check_chartable(points_of("{ sweep = [2, 3, 4, 5] }", "{ sweep = [4, 8] }"), study.model), RecipeError);
    CHECK_THROWS_AS(check_chartable(points_of("2", "4"), study.model), RecipeError);
    CHECK(chart_place(points_of("2", "{ sweep = [4, 8] }").back()).curve.empty());
}

TEST_CASE("unsuitable points are recorded, and the JSON contains the figures of the table") {
    // Of x in f32, the rows read columns 0 and 1 in one sector, then 2 and 8 in two, then 16, 17 and 69999 alone.
    const CsrMatrix matrix = csr_from_entries(
        2, 70000, std::vector<Entry>{{0, 0, 1}, {0, 2, 1}, {0, 16, 1}, {0, 17, 1}, {0, 69999, 1}, {1, 1, 1}, {1, 8, 1}});
    const CacheModel model{3, 8, 2, {{"near", 4 * 32, 2, 2}, {"far", 12 * 32, 4, 0}}};
    CacheStudy study{"test", "a device", Precision::f32, model, "layout.column_index", {}};
    const std::string stages =
        "[[stage]]\nuse = 'column_segmentation'\ncount = 1\n[[stage]]\nuse = 'row_sort'\nwithin = 'segment'\n";
    for (const std::string word : {"u32", "u16"}) {
        const Recipe recipe = recipe_of(stages + "[layout]\nuse = 'segmented'\ncolumn_index = '" + word + "'\n");
        study.points.push_back(study_cache(recipe, matrix, Precision::f32, model, {}));
        study.points.back().value = word;
        study.points.back().matrix = word + ".mtx";
    }
    REQUIRE(study.points[0].counts);
    CHECK_FALSE(study.points[1].counts);
    const std::string text = study.text();
    CHECK(text.find("layout.column_index = u16 is unsuitable: segment 0 has 70000 columns") != std::string::npos);
    CHECK(text.find("near (128 B, 2 ways, 2 in each processor), far (384 B, 4 ways, shared);\n"
                    "3 processors of 8 resident warps in blocks of 2, ") != std::string::npos);
    using Json = nlohmann::json;
    const Json json = Json::parse(to_json(study));
    CHECK(json["points"][0] == Json{{"value", "u32"},
                                    {"matrix", "u32.mtx"},
                                    {"rows", 2},
                                    {"columns", 70000},
                                    {"nonzeros", 7},
                                    {"reads", 7},
                                    {"requests", 6},
                                    {"different_sectors", 4},
                                    {"caches",
                                     {Json{{"name", "near"}, {"requests", 6}, {"hits", 2}, {"hit_rate", 2.0 / 6}},
                                      Json{{"name", "far"}, {"requests", 4}, {"hits", 0}, {"hit_rate", 0.0}}}},
                                    {"bytes_from_memory", 128}});
    CHECK(json["points"][1] == Json{{"value", "u16"},
                                    {"matrix", "u16.mtx"},
                                    {"rows", 2},
                                    {"columns", 70000},
                                    {"nonzeros", 7},
                                    {"unsuitable", study.points[1].unsuitable}});
    CHECK(json["model"] == Json{{"processors", 3},
                                {"resident_warps", 8},
                                {"block_warps", 2},
                                {"sector_bytes", 32},
                                {"caches",
                                 {Json{{"name", "near"}, {"bytes", 128}, {"ways", 2}, {"each_processor_has", 2}},
                                  Json{{"name", "far"}, {"bytes", 384}, {"ways", 4}, {"each_processor_has", 0}}}}});
}

}  // namespace workbench
