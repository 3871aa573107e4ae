// Hybrids: shares of the nonzeros in separate layouts, alone and together, and detection of planted errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/input/read_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/measure/rows_kernel.hpp"
#include "pipeline/run/runner.hpp"
#include "run/catalogue_runs.hpp"
#include "support/data_folder.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

const LayoutRecipe& hybrid_named(const std::string& name) {
    const auto& all = hybrid_recipes();
    const auto found = std::find_if(all.begin(), all.end(), [&](const LayoutRecipe& one) { return one.name == name; });
    REQUIRE(found != all.end());
    return *found;
}

/// The shares of a recipe in their layouts, with the values of the exact problem.
template <ValueType Value>
struct ExactHybrid {
    const Recipe& recipe;
    CsrMatrix input;
    StagedMatrix staged;
    Oracle<Value> oracle;
    std::shared_ptr<const ProductSpace> space;
    BuiltLayouts<Value> built;

    ExactHybrid(const LayoutRecipe& one, const CsrMatrix& matrix)
        : recipe(one.recipe),
          input(matrix),
          staged(one.stage(matrix)),
          oracle(matrix),
          space(std::make_shared<const ProductSpace>(staged.row_order, staged.column_order)),
          built(build_layouts<Value>(recipe, staged, {.exact = oracle.exact_problems()})) {
        REQUIRE(built.outcome.unsuitable == "");
        for (BuiltShare<Value>& share : built.shares) share.layout.real = share.layout.exact;
    }

    /// The first error with all shares, or with one share alone.
    [[nodiscard]] std::string first_error(std::optional<std::size_t> share, const Oracle<Value>& right, Device& host) const {
        std::vector<const KernelEntry*> kernels;
        for (const RecipeLayout& layout : recipe.layouts) kernels.push_back(layout.entry->kernels.data());
        const Candidate<Value> candidate =
            share ? built.candidate_of_share(*share, kernels, space) : built.candidate(kernels, space, recipe.side_by_side);
        return Verifier<Value>{host, &right}.measure(candidate, quick).reason;
    }

    [[nodiscard]] bool is_found(std::size_t share, Device& host) const {
        const Oracle<Value> of_share(oracle, share_of_input(staged, *built.shares[share].share), built.exact_values);
        return first_error({}, oracle, host).find("exactly") != std::string::npos &&
               first_error(share, of_share, host).find("exactly") != std::string::npos;
    }
};

}  // namespace

TEST_SUITE("hybrids") {
    TEST_CASE("every hybrid on the battery keeps the invariants and verifies, alone and together, in both precisions") {
        const std::unique_ptr<Device> host = make_host_device();
        for (const NamedMatrix& named : battery()) {
            RunOptions options;
            options.precisions = {Precision::f32, Precision::f64};
            options.timing = quick;
            Runner runner(named.matrix, catalogue(), {*host}, options);
            for (const LayoutRecipe& one : hybrid_recipes()) {
                if (!one.takes(named.matrix)) continue;
                CAPTURE(named.name);
                CAPTURE(one.name);
                RunObserver observer;
                observer.stage_done = [&named](const StagedMatrix& staged, StageOutcome&) {
                    check_invariants(staged, named.matrix);
                };
                const RunReport report = runner.run(one.recipe, observer);
                const std::size_t shares = one.recipe.layouts.size();
                CHECK(report.layouts.size() == 2 * (1 + shares));
                CHECK(report.kernels.size() == 2 * (1 + 1 + shares));  // the baseline, the whole, each share
                for (const KernelOutcome& kernel : report.kernels) {
                    CHECK_MESSAGE(kernel.verified(), kernel.share, " ", kernel.layout, " ", kernel.kernel, ": ", kernel.reason);
                    CHECK(kernel.speedup.has_value() == (kernel.share.empty() && kernel.timing.median > 0));
                }
                Offset nonzeros = 0;
                for (const LayoutOutcome& layout : report.layouts) {
                    CHECK(layout.unsuitable == "");
                    if (!layout.share.empty()) nonzeros += layout.nonzeros;
                }
                CHECK(nonzeros == 2 * named.matrix.nonzeros());
            }
        }
    }

    TEST_CASE("real matrices verify with hybrids") {
        const std::filesystem::path data = data_folder("");
        if (data.empty()) return;
        const std::unique_ptr<Device> host = make_host_device();
        for (const char* name : {"small/memplus", "small/bcsstk13", "small/west0067"}) {
            const CsrMatrix matrix = read_matrix(data / (std::string(name) + ".mtx.gz"));
            RunOptions options;
            options.timing = quick;
            Runner runner(matrix, catalogue(), {*host}, options);
            for (const LayoutRecipe& one : hybrid_recipes()) {
                if (!one.takes(matrix)) continue;
                CAPTURE(name);
                CAPTURE(one.name);
                for (const KernelOutcome& kernel : runner.run(one.recipe, {}).kernels) {
                    CHECK_MESSAGE(kernel.verified(), kernel.share, " ", kernel.kernel, ": ", kernel.reason);
                }
            }
        }
    }

    TEST_CASE("an error planted in any slot of any share is detected, alone and together") {
        const std::unique_ptr<Device> host = make_host_device();
        const CsrMatrix input = uneven_matrix();
        for (const LayoutRecipe& one : hybrid_recipes()) {
            CAPTURE(one.name);
            ExactHybrid<double> hybrid(one, input);
            Offset planted = 0;
            for (std::size_t i = 0; i < hybrid.built.shares.size(); ++i) {
                const Layout<double>& exact = *hybrid.built.shares[i].layout.exact;
                std::vector<Slot> slots;
                exact.for_each_slot([&slots](const Slot& slot) { slots.push_back(slot); });
                const std::vector<LayoutField> arrays = exact.fields();
                for (const Slot& slot : slots) {
                    if (slot.nonzero < 0) continue;
                    change_value(arrays[slot.array], slot.index, 1);
                    CHECK_MESSAGE(hybrid.is_found(i, *host), hybrid.built.shares[i].outcome.share, " slot ", slot.index);
                    change_value(arrays[slot.array], slot.index, -1);
                    ++planted;
                }
            }
            CHECK(planted == input.nonzeros());
            // All faults were reverted: the only differences are values that are not those of the input.
            CHECK(hybrid.first_error({}, hybrid.oracle, *host).find("exactly") == std::string::npos);
        }
    }

    TEST_CASE("two swapped rows of a share are detected") {
        const std::unique_ptr<Device> host = make_host_device();
        int planted = 0;
        for (const LayoutRecipe& one : hybrid_recipes()) {
            CAPTURE(one.name);
            ExactHybrid<float> hybrid(one, uneven_matrix());
            for (std::size_t i = 0; i < hybrid.built.shares.size(); ++i) {
                std::vector<Index>& rows = hybrid.built.shares[i].layout.rows;
                if (rows.size() < 2) continue;
                std::swap(rows.front(), rows.back());
                CHECK(hybrid.is_found(i, *host));
                std::swap(rows.front(), rows.back());
                ++planted;
            }
        }
        CHECK(planted >= 7);
    }

    TEST_CASE("an entry that is lost, in two shares, or in no layout is an internal error") {
        const LayoutRecipe& one = hybrid_named("long_csr_short_sell");
        const CsrMatrix input = uneven_matrix();
        const Oracle<double> oracle(input);
        const StagedMatrix sound = one.stage(input);
        const auto message = [&](const Recipe& recipe, StagedMatrix staged) {
            return message_of<std::logic_error>(
                [&] { (void)build_layouts<double>(recipe, staged, {.exact = oracle.exact_problems()}); });
        };
        StagedMatrix lost = sound;
        const Offset entry = lost.shares[0].entries.back();
        lost.shares[0].entries.pop_back();
        --lost.shares[0].row_offsets.back();
        CHECK(message(one.recipe, lost) == "entry " + std::to_string(entry) + " is in no share");

        StagedMatrix doubled = sound;
        Share& second = doubled.shares[1];
        second.rows.push_back(lost.shares[0].rows.back());
        second.entries.push_back(entry);
        second.row_offsets.push_back(static_cast<Offset>(second.entries.size()));
        CHECK(message(one.recipe, doubled) ==
              "share 'short' has entry " + std::to_string(entry) + ", which another share also has");

        Recipe half = one.recipe;
        half.layouts.pop_back();
        CHECK(message(half, sound) == "layouts for 1 of 2 shares");
        Recipe other = one.recipe;
        other.layouts.front().share = ShareId{ShareKind::inside};
        CHECK(message(other, sound) == "there is no share 'inside', which a layout takes");
    }

    TEST_CASE("bytes, padding and storage of each share and of the whole, by hand") {
        // Rows of 1, 3, 0, 2 nonzeros: those with more than 2 are long, the others short.
        const CsrMatrix input = csr_from_entries(
            4, 5, std::vector<Entry>{{0, 2, 1.5}, {1, 0, 2.5}, {1, 1, 3.5}, {1, 4, 4.5}, {3, 3, 5.5}, {3, 4, 6.5}});
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        RunOptions options;
        options.timing = quick;
        Runner runner(input, catalogue(), {host}, options);
        const RunReport report = runner.run(recipe_of("[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 2\n"
                                                      "[[layout]]\nshare = 'short'\nuse = 'sell'\nslice_height = 2\n"
                                                      "[[layout]]\nshare = 'long'\nuse = 'csr'\n"),
                                            {});
        REQUIRE(report.layouts.size() == 3);
        const LayoutOutcome& whole = report.layouts[0];
        const LayoutOutcome& few = report.layouts[1];
        const LayoutOutcome& many = report.layouts[2];
        CHECK(whole.name == "sell + csr");
        CHECK(whole.share == "");
        CHECK(whole.nonzeros == 6);
        CHECK(few.share == "short");
        CHECK(few.rows == 2);  // the nonempty ones
        CHECK(few.nonzeros == 3);
        CHECK(few.slots() == 4);
        CHECK(many.share == "long");
        CHECK(many.rows == 1);
        CHECK(many.slots() == 3);
        CHECK(whole.slots() == 7);
        CHECK(whole.bytes() == few.bytes() + many.bytes());
        // Two offsets, a column and a value for each nonzero, and the row number.
        CHECK(many.bytes() == 2 * 8 + 3 * 4 + 3 * 8 + 1 * 4);

        REQUIRE(report.kernels.size() == 4);
        CHECK(report.kernels[1].share == "");
        CHECK(report.kernels[1].kernel == "slices + rows");
        CHECK(report.kernels[2].share == "short");
        CHECK(report.kernels[3].share == "long");
        // Alone: y is zeroed, then one row of it is written; x is read.
        CHECK(report.kernels[3].bytes_to_move == static_cast<std::int64_t>(many.bytes()) + 4 * 8 + 1 * 8 + 5 * 8);
        // Together: no row is written twice; row 2 is in no share, so y is zeroed.
        CHECK(report.kernels[1].bytes_to_move == static_cast<std::int64_t>(whole.bytes()) + 4 * 8 + 3 * 8 + 5 * 8);
        CHECK(report.kernels[1].bytes_per_nonzero == static_cast<double>(report.kernels[1].bytes_to_move) / 6);
    }

    TEST_CASE("a hybrid without kernels for these options lists those of all its layouts") {
        const Recipe recipe = parse_recipe(
            "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 2\n[[layout]]\nshare = 'short'\nuse = 'dia'\n"
            "[[layout]]\nshare = 'long'\nuse = 'jds'\n",
            "test.toml", catalogue());
        const std::string hybrid = no_kernel_of(recipe);
        const std::string begin = "no kernel of layout 'dia' and 'jds' runs with these options on this machine; there are ";
        CHECK(hybrid.starts_with(begin));
        CHECK(hybrid.find(", ", begin.size()) != std::string::npos);
        const std::string plain = no_kernel_of(recipe_of("[layout]\nuse = 'dia'\n"));
        CHECK(plain.starts_with("no kernel of layout 'dia' runs with these options on this machine; it has "));
    }

    TEST_CASE("the time to build a share's layout includes making a matrix of the share") {
        // Each look at this clock takes a second, and each step that is timed ends with one.
        double now = 0;
        const Clock ticking{.seconds = [&now] { return ++now; }};
        const auto seconds_of = [&](const std::string& text) {
            const Recipe recipe = recipe_of(text);
            StagedMatrix staged = stage_input(uneven_matrix());
            (void)apply_stages(recipe, staged, {});
            std::vector<double> seconds;
            for (const auto& share : build_layouts<double>(recipe, staged, {.clock = ticking}).shares) {
                seconds.push_back(share.outcome.seconds);
            }
            return seconds;
        };
        CHECK(seconds_of("[layout]\nuse = 'csr'\n") == std::vector<double>{1});
        CHECK(seconds_of("[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 2\n"
                         "[[layout]]\nshare = 'short'\nuse = 'csr'\n[[layout]]\nshare = 'long'\nuse = 'csr'\n") ==
              std::vector<double>{2, 2});
    }

    TEST_CASE("rows and bytes of a share are those of its precision and of the rows that it has") {
        // Rows of 1, 3, 0, 2 nonzeros: long are those of more than 2, short the others. COO has all rows of a share.
        const CsrMatrix input = csr_from_entries(
            4, 5, std::vector<Entry>{{0, 2, 1.5}, {1, 0, 2.1}, {1, 1, 3.7}, {1, 4, 4.3}, {3, 3, 5.5}, {3, 4, 6.5}});
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        RunOptions options;
        options.precisions = {Precision::f64, Precision::f32};
        options.backends = {Backend::kokkos};
        options.timing = quick;
        Runner runner(input, catalogue(), {host}, options);
        const RunReport report = runner.run(recipe_of("[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 2\n"
                                                      "[[layout]]\nshare = 'short'\nuse = 'coo'\n"
                                                      "[[layout]]\nshare = 'long'\nuse = 'csr'\n"),
                                            {});
        REQUIRE(report.layouts.size() == 6);
        REQUIRE(report.kernels.size() == 8);
        for (const std::size_t f32 : {std::size_t{0}, std::size_t{1}}) {
            const std::size_t value_bytes = f32 == 0 ? 8 : 4;
            const LayoutOutcome& few = report.layouts[3 * f32 + 1];
            const LayoutOutcome& many = report.layouts[3 * f32 + 2];
            CHECK(few.rows == 2);
            CHECK(many.rows == 1);
            CHECK(few.bytes() == 3 * (4 + 4 + value_bytes));
            // Offsets of 8 bytes, a column and a value for each nonzero, a row.
            CHECK(many.bytes() == 2 * 8 + 3 * (4 + value_bytes) + 4);
            const KernelOutcome& kernel = report.kernels[4 * f32 + 3];
            CHECK(kernel.share == "long");
            CHECK(kernel.precision == few.precision);
            if (f32 == 1) CHECK(kernel.error_over_bound > 0);  // real values are multiplied, too
            // Alone, y is zeroed, then one row of it written; x is read.
            CHECK(kernel.bytes_to_move == static_cast<std::int64_t>(many.bytes() + (4 + 1 + 5) * value_bytes));
        }
        CHECK(to_text(report).find("\n    3 nonzeros, 2 rows\n") != std::string::npos);
        CHECK(runner.run(recipe_of("[layout]\nuse = 'csr'\n"), {}).layouts.at(0).rows == 4);
        std::vector<std::string> shares;
        const auto json = nlohmann::json::parse(to_json(report));
        for (const auto& kernel : json["kernels"]) {
            shares.push_back(kernel["precision"].get<std::string>() + " " + kernel["share"].dump());
        }
        CHECK(shares == std::vector<std::string>{"f64 null", "f64 null", "f64 \"short\"", "f64 \"long\"", "f32 null",
                                                 "f32 null", "f32 \"short\"", "f32 \"long\""});
        CHECK(json["layouts"][5]["share"] == "long");
        // The arrays of both shares, although some have the same name.
        CHECK(json["layouts"][0]["footprint"].size() ==
              json["layouts"][1]["footprint"].size() + json["layouts"][2]["footprint"].size());
        CHECK(json["layouts"][0]["footprint"].contains("long values"));
        CHECK(json["layouts"][5]["precision"] == "f32");
    }

    TEST_CASE("a share that is unsuitable for its layout makes the hybrid unsuitable, with a reason") {
        ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
        const CsrMatrix input = uneven_matrix();
        RunOptions options;
        options.timing = quick;
        Runner runner(input, catalogue(), {host}, options);
        const RunReport report = runner.run(recipe_of("[[stage]]\nuse = 'split'\nby = 'distance'\ndistance = 0\n"
                                                      "[[layout]]\nshare = 'near'\nuse = 'dia'\n"
                                                      "[[layout]]\nshare = 'far'\nuse = 'jds'\n"),
                                            {});
        REQUIRE(report.layouts.size() == 3);
        CHECK(report.layouts[0].unsuitable.find("share 'far': ") == 0);
        CHECK(report.layouts[1].unsuitable == "");
        CHECK(report.layouts[2].unsuitable != "");
        CHECK(report.layouts[0].slots() == 0);
        CHECK(report.kernels.size() == 1);  // the baseline
        const RunReport both = runner.run(recipe_of("[[stage]]\nuse = 'split'\nby = 'distance'\ndistance = 3\n"
                                                    "[[layout]]\nshare = 'near'\nuse = 'jds'\n"
                                                    "[[layout]]\nshare = 'far'\nuse = 'jds'\n"),
                                          {});
        CHECK(both.layouts.at(0).unsuitable.find("share 'near': ") == 0);  // the first of both
        CHECK(both.layouts.at(2).unsuitable != "");
    }
}

namespace {

/// The csr layout of a matrix.
std::unique_ptr<Layout<double>> csr_of(const CsrMatrix& matrix) {
    const LayoutEntry& csr = *catalogue().find_layout("csr");
    return csr.build.f64(stage_input(matrix), Parameters(csr.parameters, {}));
}

const KernelEntry& csr_kernel(const std::string& name) {
    for (const KernelEntry& kernel : catalogue().find_layout("csr")->kernels) {
        if (kernel.name == name) return kernel;
    }
    throw std::out_of_range(name);
}

std::vector<double> hybrid_product(const std::vector<KernelOfShare<double>>& shares, std::vector<double> y, bool accumulate,
                                   bool zeroes_first) {
    const std::unique_ptr<Device> host = make_host_device();
    const std::vector<double> x{1, 10};
    HybridKernel<double> kernel(shares, static_cast<Index>(y.size()), 2, false, *host);
    CHECK(kernel.zeroes_first() == zeroes_first);
    kernel.run(x.data(), y.data(), accumulate);
    return y;
}

}  // namespace

TEST_SUITE("hybrid kernel") {
    using Ys = std::vector<double>;
    const Ys seven{7, 7, 7};

    TEST_CASE("which shares write to y, which add, and when y is zeroed") {
        const auto two = csr_of(csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}}));  // 1, 20
        const auto one = csr_of(csr_from_entries(1, 2, std::vector<Entry>{{0, 0, 3}}));             // 3
        const auto all = csr_of(csr_from_entries(3, 2, std::vector<Entry>{{0, 0, 4}, {2, 1, 5}}));  // 4, 0, 50
        const KernelEntry& rows = csr_kernel("rows");
        const std::vector<Index> r02{2, 0};
        const std::vector<Index> r1{1};
        const std::vector<Index> r2{2};
        const auto at_20 = kernel_of_share<double>(rows, *two, r02, 2);
        const auto at_1 = kernel_of_share<double>(rows, *one, r1, 1);
        const auto at_2 = kernel_of_share<double>(rows, *one, r2, 1);
        const auto whole = kernel_of_share<double>(rows, *all, {}, 2);

        CHECK(hybrid_product({at_20, at_1}, seven, false, false) == Ys{20, 3, 1});  // disjoint rows, and all of them
        CHECK(hybrid_product({at_20, at_1}, seven, true, false) == Ys{27, 10, 8});
        CHECK(hybrid_product({at_20}, seven, false, true) == Ys{20, 0, 1});        // row 1 is in no share
        CHECK(hybrid_product({at_20, at_2}, seven, false, true) == Ys{20, 0, 4});  // the second share adds to row 2
        CHECK(hybrid_product({at_20, at_2}, seven, true, true) == Ys{27, 7, 11});
        CHECK(hybrid_product({whole, at_2}, seven, false, false) == Ys{4, 0, 53});
        CHECK(hybrid_product({at_2, whole}, seven, false, true) ==
              Ys{4, 0, 53});  // the last share adds to rows not written before
        CHECK(hybrid_product({}, seven, false, true) == Ys{0, 0, 0});
        CHECK(hybrid_product({}, seven, true, true) == seven);
    }

    TEST_CASE("a kernel that cannot scatter its rows uses a buffer, whose bytes count") {
        const auto two = csr_of(csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}}));
        const std::vector<Index> r02{2, 0};
        const std::unique_ptr<Device> host = make_host_device();
        const auto bytes = [&](const char* name) {
            const HybridKernel<double> kernel({kernel_of_share<double>(csr_kernel(name), *two, r02, 2)}, 3, 2, false, *host);
            return kernel.own_bytes_to_move().value();
        };
        const bool rows_knows_others = csr_kernel("rows").prepare_rows.f64 != nullptr;
        const bool eigen_knows_others = csr_kernel("eigen").prepare_rows.f64 != nullptr;
        REQUIRE(rows_knows_others);
        REQUIRE_FALSE(eigen_knows_others);
        const auto buffered = kernel_of_share<double>(csr_kernel("eigen"), *two, r02, 2);
        CHECK(hybrid_product({buffered}, seven, false, true) == Ys{20, 0, 1});
        CHECK(hybrid_product({buffered}, seven, true, true) == Ys{27, 7, 8});
        CHECK(hybrid_product({buffered, buffered}, seven, false, true) == Ys{40, 0, 2});
        // 3 offsets, 2 columns, 2 values, x, 2 rows of y, 2 row numbers, and y zeroed.
        CHECK(bytes("rows") == 3 * 8 + 2 * 4 + 2 * 8 + 2 * 8 + 2 * 8 + 2 * 4 + 3 * 8);
        CHECK(bytes("eigen") == bytes("rows") + 2 * 2 * 8);
    }

    TEST_CASE("rows of y that a share adds to are read as well as written") {
        const auto two = csr_of(csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}}));
        const auto one = csr_of(csr_from_entries(1, 2, std::vector<Entry>{{0, 0, 3}}));
        const auto all = csr_of(csr_from_entries(3, 2, std::vector<Entry>{{0, 0, 4}, {2, 1, 5}}));
        const KernelEntry& rows = csr_kernel("rows");
        const std::vector<Index> r02{2, 0};
        const std::vector<Index> r1{1};
        const std::vector<Index> r2{2};
        const auto at_20 = kernel_of_share<double>(rows, *two, r02, 2);
        const auto at_1 = kernel_of_share<double>(rows, *one, r1, 1);
        const auto at_2 = kernel_of_share<double>(rows, *one, r2, 1);
        const auto whole = kernel_of_share<double>(rows, *all, {}, 2);
        const std::unique_ptr<Device> host = make_host_device();
        const auto bytes = [&](const std::vector<KernelOfShare<double>>& shares) {
            return HybridKernel<double>(shares, 3, 2, false, *host).own_bytes_to_move().value();
        };
        const int x = 2 * 8;
        // Offsets, columns and values; the list of rows; the rows of y.
        const int of_two = 3 * 8 + 2 * 4 + 2 * 8 + 2 * 4 + 2 * 8;
        const int of_one = 2 * 8 + 4 + 8 + 4 + 8;
        const int of_all = 4 * 8 + 2 * 4 + 2 * 8 + 3 * 8;
        CHECK(bytes({at_20, at_1}) == x + of_two + of_one);
        CHECK(bytes({at_20, at_2}) == x + of_two + of_one + 8 + 3 * 8);  // row 2 is read; y is zeroed for row 1
        // The last share has three rows: the two with nonzeros are read and written, and the third is not touched.
        CHECK(bytes({at_20, whole}) == x + of_two + of_all + (2 + 2 - 3) * 8 + 3 * 8);
        CHECK(bytes({whole, at_2}) == x + of_all + of_one + 8);
    }

    TEST_CASE("shares without common rows run side by side") {
        const auto two = csr_of(csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}}));  // 1, 20
        const auto one = csr_of(csr_from_entries(1, 2, std::vector<Entry>{{0, 0, 3}}));             // 3
        const auto all = csr_of(csr_from_entries(4, 2, std::vector<Entry>{{0, 0, 4}, {2, 1, 5}}));  // 4, 0, 50, 0
        const std::vector<Index> r02{2, 0};
        const std::vector<Index> r1{1};
        const std::vector<Index> r2{2};
        const std::vector<Index> r3{3};
        const KernelEntry& eigen = csr_kernel("eigen");  // through a buffer, so that the script records when it runs
        const auto at_20 = kernel_of_share<double>(eigen, *two, r02, 2);
        const auto at_1 = kernel_of_share<double>(eigen, *one, r1, 1);
        const auto at_2 = kernel_of_share<double>(eigen, *one, r2, 1);
        const auto at_3 = kernel_of_share<double>(eigen, *one, r3, 1);
        const auto whole = kernel_of_share<double>(eigen, *all, {}, 2);
        const std::vector<double> x{1, 10};
        using Events = std::vector<std::string>;
        const auto run = [&](const std::vector<KernelOfShare<double>>& shares, bool side_by_side, const Ys& expected) {
            ScriptedDevice device({});
            HybridKernel<double> kernel(shares, 4, 2, side_by_side, device);
            Ys y{7, 7, 7, 7};
            new_script();
            kernel.run(x.data(), y.data(), false);
            CHECK(y == expected);
            return script().events;
        };
        // The third share has row 2 in common with the first: it starts a new group, and the fourth runs beside it.
        CHECK(run({at_20, at_1, at_2, at_3}, true, {20, 3, 4, 3}) == Events{"fork 1", "scatter", "take 1", "scatter", "taken 1",
                                                                            "join 1", "fork 2", "scatter_add", "take 2",
                                                                            "scatter", "taken 2", "join 2"});
        CHECK(run({at_20, at_1, at_3}, true, {20, 3, 1, 3}) == Events{"fork 1", "fork 2", "scatter", "take 1", "scatter",
                                                                      "taken 1", "take 2", "scatter", "taken 2", "join 1",
                                                                      "join 2"});
        CHECK(run({at_20, at_1, at_3}, false, {20, 3, 1, 3}) == Events{"scatter", "scatter", "scatter"});
        // A share with all rows has rows in common with every other share.
        CHECK(run({at_1, whole, at_2}, true, {4, 3, 53, 0}) == Events{"zero", "scatter", "scatter_add"});
    }
}

}  // namespace workbench
