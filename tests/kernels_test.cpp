// The kernels room: every layout fulfils its contract on the whole battery and detects planted faults, and every host kernel is
// right within rounding errors. tests/kernels has the tests of single layouts, tests/gpu those that need a GPU.
#include <doctest/doctest.h>

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/common/storage/pattern.hpp"
#include "kernels/formats/csr5/layout.hpp"
#include "kernels/formats/ehyb/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/source/planted_faults.hpp"
#include "support/drawn_matrix.hpp"
#include "support/eigen.hpp"
#include "support/given.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/layouts/reach_of_nan.hpp"
#include "support/partitioned.hpp"
#include "support/slow.hpp"

namespace workbench {
namespace {

/// A vector of hashed multiples of 2^-20 in [-1, 1): exact in f32.
template <ValueType Value>
std::vector<Value> test_vector(Index size, std::uint32_t seed) {
    std::vector<Value> x(size);
    for (Index i = 0; i < size; ++i) {
        const std::uint32_t hash = (static_cast<std::uint32_t>(i) + seed) * 2654435761U;
        x[i] = static_cast<Value>(static_cast<double>(hash >> 11) / (1 << 20) - 1);
    }
    return x;
}

/// A way to store a matrix: stages, layout and parameters.
struct Case {
    std::string name;
    LayoutEntry layout;
    Given given = {};
    std::function<StagedMatrix(const CsrMatrix&)> stage = [](const CsrMatrix& matrix) { return stage_input(matrix); };
    std::function<bool(const CsrMatrix&)> takes = [](const CsrMatrix&) { return true; };
    const std::vector<NamedMatrix>& matrices = battery();

    template <ValueType Value>
    [[nodiscard]] std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged) const {
        return workbench::build<Value>(layout, staged, given);
    }
    template <ValueType Value>
    [[nodiscard]] std::unique_ptr<Layout<Value>> build(const CsrMatrix& matrix) const {
        return build<Value>(stage(matrix));
    }
};

/// The axis in three unequal pieces, of which the second is empty.
std::vector<Index> uneven(Index size) { return {0, size / 3, size / 3, size}; }

std::vector<Index> alone(Index size) {
    std::vector<Index> boundaries(size + 1);
    for (Index i = 0; i <= size; ++i) boundaries[i] = i;
    return boundaries;
}

/// The recipes of all layouts, and storage that no stage makes.
std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const LayoutRecipe& one : layout_recipes()) {
        const auto& values = one.recipe.layouts.front().parameters.values();
        cases.push_back({one.name, one.layout(), Given(values.begin(), values.end()),
                         [&one](const CsrMatrix& matrix) { return one.stage(matrix); },
                         [&one](const CsrMatrix& matrix) { return one.takes(matrix); }, one.matrices()});
    }
    for (const std::int64_t height : {1, 2, 8, 32, 33}) {
        cases.push_back({"sell " + std::to_string(height), sell_entry(), {{"slice_height", height}}});
    }
    for (const std::int64_t omega : {2, 4, 16}) {
        cases.push_back({"csr5 of " + std::to_string(omega) + " lanes", csr5_entry(), {{"omega", omega}, {"sigma", 2_i}}});
    }
    const auto add_ehyb = [&](const std::string& name, const std::string& column_index, auto boundaries, bool reversed) {
        cases.push_back({"ehyb " + column_index + ", " + name,
                         ehyb_entry(),
                         {{"column_index", column_index}},
                         [=](const CsrMatrix& matrix) {
                             StagedMatrix staged = partitioned(matrix, boundaries(matrix.rows));
                             if (reversed) reverse_rows(staged.shares[1]);
                             return staged;
                         },
                         [](const CsrMatrix& matrix) { return matrix.square(); }});
    };
    add_ehyb(
        "one partition", "u16",
        [](Index size) {
            return std::vector<Index>{0, size};
        },
        false);
    add_ehyb("uneven", "u16", uneven, false);
    add_ehyb("uneven", "u32", uneven, true);
    add_ehyb("each row alone", "u16", alone, true);
    return cases;
}

template <typename Visit>
void for_each_case(const Visit& visit) {
    for (const Case& one : all_cases()) {
        for (const NamedMatrix& named : one.matrices) {
            if (!one.takes(named.matrix)) continue;
            CAPTURE(one.name);
            CAPTURE(named.name);
            visit(one, one.stage(named.matrix));
        }
    }
}

/// Eigen's product in f64, and a bound on each row's error.
template <ValueType Value>
struct BatteryOracle {
    Eigen::VectorXd r;
    Eigen::VectorXd bound;

    BatteryOracle(const CsrMatrix& matrix, const std::vector<Value>& x) {
        const EigenMatrix a = to_eigen(matrix);
        Eigen::VectorXd x_vector(matrix.columns);
        for (Index i = 0; i < matrix.columns; ++i) x_vector[i] = x[i];
        r = a * x_vector;
        bound = a.cwiseAbs() * x_vector.cwiseAbs();
        using Limits = std::numeric_limits<Value>;
        for (Index row = 0; row < matrix.rows; ++row) {
            const auto nonzeros = static_cast<double>(matrix.row_length(row));
            bound[row] = 8 * (nonzeros + 1) * Limits::epsilon() * bound[row] + nonzeros * Limits::min();
        }
    }
};

/// The number of rows of y beyond their bounds. `before` is the previous value of y if the product is added to y.
template <ValueType Value>
int wrong_rows(const std::vector<Value>& y, const BatteryOracle<Value>& oracle, double before) {
    int wrong = 0;
    for (std::size_t row = 0; row < y.size(); ++row) {
        const double slack = 4 * std::numeric_limits<Value>::epsilon() * (std::abs(before) + std::abs(oracle.r[row]));
        const double bound = before == 0 ? oracle.bound[row] : oracle.bound[row] + slack;
        wrong += std::abs(y[row] - before - oracle.r[row]) <= bound ? 0 : 1;  // a NaN is also wrong
    }
    return wrong;
}

Device& host() {
    static const std::unique_ptr<Device> device = make_host_device();
    return *device;
}

template <ValueType Value>
void check_host_kernels(const Case& one, const StagedMatrix& staged) {
    const CsrMatrix& matrix = staged.matrix;
    const auto layout = one.build<Value>(staged);
    for (const KernelEntry& entry : one.layout.kernels) {
        if (device_of(entry.backend) != DeviceKind::host) continue;
        CAPTURE(entry.name);
        const auto kernel = entry.prepare.get<Value>()(*layout, host());
        for (const std::uint32_t seed : {1U, 77U}) {  // twice, to detect effects of the first run on the second
            const std::vector<Value> x = test_vector<Value>(matrix.columns, seed);
            const BatteryOracle<Value> oracle(matrix, x);
            std::vector<Value> y(matrix.rows, std::numeric_limits<Value>::quiet_NaN());
            kernel->run(x.data(), y.data(), false);
            CHECK(wrong_rows(y, oracle, 0) == 0);
            std::fill(y.begin(), y.end(), Value{3});
            kernel->run(x.data(), y.data(), true);
            CHECK(wrong_rows(y, oracle, 3) == 0);
        }
    }
}

/// Returns true if the layout accepts the matrix; some refuse too much padding.
bool suits(const Case& one, const StagedMatrix& staged) {
    try {
        (void)one.build<double>(staged);
        return true;
    } catch (const Unsuitable& reason) {
        MESSAGE(one.name << " is unsuitable: " << std::string(reason.what()));
        return false;
    }
}

}  // namespace

TEST_CASE("every layout stores each nonzero of the battery exactly once") {
    for_each_case([](const Case& one, const StagedMatrix& staged) {
        CHECK_NOTHROW(check_layout(*one.build<float>(staged), staged.matrix));
        CHECK_NOTHROW(check_layout(*one.build<double>(staged), staged.matrix));
    });
}

TEST_CASE("every host kernel is right on the battery" * doctest::test_suite(slow)) {
    for_each_case([](const Case& one, const StagedMatrix& staged) {
        check_host_kernels<float>(one, staged);
        check_host_kernels<double>(one, staged);
    });
}

TEST_CASE("rows of any length" * doctest::test_suite(slow)) {
    constexpr Index size = 20000;
    std::vector<Entry> entries;
    for (Index column = 0; column < size; ++column) entries.push_back({size / 2, column, 1.0 + column % 7});
    for (Index row = 0; row < size; row += 3) entries.push_back({row, size - 1 - row, 0.5});
    const CsrMatrix matrix = csr_from_entries(size, size, entries);
    for (const Case& one : all_cases()) {
        CAPTURE(one.name);
        const StagedMatrix staged = one.stage(matrix);
        if (!suits(one, staged)) continue;
        check_host_kernels<float>(one, staged);
        check_host_kernels<double>(one, staged);
    }
}

TEST_CASE("values that are not finite are stored and multiplied like others") {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<Entry> entries{{0, 0, 1}, {0, 2, infinity}, {1, 1, std::nan("")}, {2, 0, 2}, {3, 3, -infinity}};
    const CsrMatrix matrix = csr_from_entries(4, 4, entries);
    for (const Case& one : all_cases()) {
        CAPTURE(one.name);
        const StagedMatrix staged = one.stage(matrix);
        const auto layout = one.build<float>(staged);
        CHECK_NOTHROW(check_layout(*layout, staged.matrix));
        for (const KernelEntry& entry : one.layout.kernels) {
            if (device_of(entry.backend) != DeviceKind::host) continue;
            std::vector<float> stored_y(4, 0);
            entry.prepare.f32(*layout, host())->run(std::vector<float>(4, 1).data(), stored_y.data(), false);
            std::vector<float> y(4);
            for (Index row = 0; row < 4; ++row) y[row] = stored_y[staged.row_order.new_of_old(row)];
            CHECK(y[0] == std::numeric_limits<float>::infinity());
            CHECK(std::isnan(y[1]));
            CHECK(y[2] == 2);
            CHECK(y[3] == -std::numeric_limits<float>::infinity());
        }
    }
}

TEST_CASE("rows without nonzeros: the first, some between, the last") {
    const auto empty = [](const std::vector<Offset>& offsets) {
        return rows_without_nonzeros(HostArray<Offset>(offsets.begin(), offsets.end()));
    };
    CHECK(empty({0}).empty());
    CHECK(empty({0, 2, 3}).empty());
    CHECK(empty({0, 0, 2, 2, 2, 5, 5}) == std::vector<Index>{0, 2, 3, 5});
}

TEST_CASE("a NaN or an infinity in x reaches the rows that have its column, and no others") {
    std::set<std::string> wrong;
    std::set<std::string> foreign;
    for_each_case([&](const Case& one, const StagedMatrix& staged) {
        if (staged.matrix.columns > 100 || !suits(one, staged)) return;
        const auto layout = one.build<double>(staged);
        if (!foreign_padding(*layout, staged.matrix).empty()) foreign.insert(one.layout.name);
        for (const KernelEntry& entry : one.layout.kernels) {
            if (device_of(entry.backend) != DeviceKind::host) continue;
            const auto kernel = entry.prepare.f64(*layout, host());
            const std::string found = wrong_reach_of_nan(*kernel, staged.matrix, host());
            if (!found.empty()) wrong.insert(one.layout.name + " " + entry.name);
        }
    });
    // These would take longer if they looked at their sums.
    const std::set<std::string> exceptions{"bccoo tiles", "bsr block_rows"};
    CHECK(wrong == exceptions);
    // Zeros in blocks have columns of other rows; a row of ehyb may have no column inside its partition.
    CHECK(foreign == std::set<std::string>{"banded_block", "bccoo", "block_sell", "bsr", "dia", "ehyb", "halo"});
}

TEST_CASE("a fault planted in any slot or offset of any layout is detected") {
    for (const Case& one : all_cases()) {
        CAPTURE(one.name);
        const StagedMatrix staged = one.stage(drawn());
        const auto check = [&]<ValueType Value>(const Layout<Value>& layout) {
            CHECK_NOTHROW(check_layout(layout, staged.matrix));
            CHECK(unnoticed_faults(layout, staged.matrix) == std::vector<std::string>());
            CHECK_NOTHROW(check_layout(layout, staged.matrix));
        };
        check(*one.build<float>(staged));
        check(*one.build<double>(staged));
    }
}

TEST_CASE("the threads of every CUDA kernel read each nonzero once, for its row and column, one per step" *
          doctest::test_suite(slow)) {
    for_each_case([](const Case& one, const StagedMatrix& staged) {
        REQUIRE_FALSE(one.layout.schedules.empty());
        const auto narrow = one.build<float>(staged);
        const auto wide = one.build<double>(staged);
        for (const ScheduleEntry& schedule : one.layout.schedules) {
            CAPTURE(schedule.kernel);
            CHECK_NOTHROW(check_schedule(*narrow, schedule.walk.f32));
            CHECK_NOTHROW(check_schedule(*wide, schedule.walk.f64));
        }
    });
}

TEST_CASE("the threads of every CUDA kernel share the work: each reads at most a 32nd of the slots") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 128; ++row) {
        for (Index k = 0; k < 16; ++k) entries.push_back({row, (row + k) % 128, 1.0 + k});
    }
    const CsrMatrix matrix = csr_from_entries(128, 128, entries);
    for (const Case& one : all_cases()) {
        CAPTURE(one.name);
        const auto layout = one.build<double>(matrix);
        for (const ScheduleEntry& schedule : one.layout.schedules) {
            CAPTURE(schedule.kernel);
            std::map<std::pair<std::int64_t, int>, int> reads;  // by warp and lane
            int all = 0;
            int most = 0;
            schedule.walk.f64(*layout, [&](const Read& read) {
                ++all;
                most = std::max(most, ++reads[{read.warp, read.lane}]);
            });
            CHECK(32 * most <= all);
        }
    }
}

TEST_CASE("every CUDA kernel has a schedule, and every schedule a kernel") {
    for (const LayoutRecipe& one : layout_recipes()) {
        std::set<std::string> schedules;
        for (const ScheduleEntry& schedule : one.layout().schedules) schedules.insert(schedule.kernel);
        CHECK(schedules.size() == one.layout().schedules.size());
        if (!WORKBENCH_HAS_CUDA) continue;
        std::set<std::string> kernels;
        for (const KernelEntry& kernel : one.layout().kernels) {
            if (kernel.backend == Backend::cuda) kernels.insert(kernel.name);
        }
        CHECK_MESSAGE(schedules == kernels, one.name);
    }
}

TEST_CASE("a schedule that reads a nonzero never, twice, for another row or column, or two in a step is detected") {
    const auto built = build<double>(sell_entry(), stage_input(drawn()), {});
    const auto slots = [](const Layout<double>& layout, const std::function<void(const Read&)>& visit) {
        sell_entry().schedules.front().walk.f64(layout, visit);
    };
    CHECK_NOTHROW(check_schedule<double>(*built, slots));
    const auto wrong = [&](const char* what, WalkReads<double> walk) {
        const std::string message = message_of<std::logic_error>([&] { check_schedule<double>(*built, walk); });
        CHECK_MESSAGE(message.find(what) != std::string::npos, message);
    };
    using Visit = std::function<void(const Read&)>;
    static const auto change = [](const Layout<double>& layout, const Visit& visit, const auto& of_the_fourth) {
        int number = 0;
        sell_entry().schedules.front().walk.f64(layout, [&](Read read) {
            if (++number == 4) return of_the_fourth(read);
            visit(read);
        });
    };
    wrong("is not read", [](const Layout<double>& layout, const Visit& visit) { change(layout, visit, [](const Read&) {}); });
    wrong("is read twice", [](const Layout<double>& layout, const Visit& visit) {
        change(layout, visit, [&](const Read& read) {
            visit(read);
            visit({read.warp, read.lane, 100, read.array, read.index, read.row, read.column});
        });
    });
    wrong("of an array that does not exist is read twice, or does not exist",
          [](const Layout<double>& layout, const Visit& visit) {
              change(layout, visit, [&](Read read) { visit((read.array = 100, read)); });
          });
    wrong("but its nonzero is in row", [](const Layout<double>& layout, const Visit& visit) {
        change(layout, visit, [&](Read read) { visit((++read.row, read)); });
    });
    wrong("but its nonzero is in row", [](const Layout<double>& layout, const Visit& visit) {
        change(layout, visit, [&](Read read) { visit((++read.column, read)); });
    });
    wrong("in which its lane reads another", [](const Layout<double>& layout, const Visit& visit) {
        change(layout, visit, [&](Read read) { visit((read.lane = 0, read)); });
    });
}

TEST_CASE("values beyond f32 are refused with their count and the largest") {
    const std::vector<Entry> entries{{0, 0, 1e39}, {1, 1, -2e300}, {2, 2, 1}, {3, 3, std::nan("")}};
    const CsrMatrix matrix = csr_from_entries(4, 4, entries);
    for (const Case& one : all_cases()) {
        CAPTURE(one.name);
        const StagedMatrix staged = one.stage(matrix);
        CHECK_NOTHROW(check_layout(*one.build<double>(staged), staged.matrix));
        CHECK(message_of<Unsuitable>([&] { (void)one.build<float>(matrix); }) ==
              "2 of 4 values are finite in f64 but not in f32 (the largest magnitude is 2e+300): use f64");
    }
}

TEST_CASE("the race check runs exactly the CUDA kernels that use shared memory") {
    const std::filesystem::path kernels = std::filesystem::path(WORKBENCH_SOURCE_DIR) / "kernels";
    std::set<std::string> users;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kernels)) {
        const std::string ending = entry.path().extension().string();
        if (ending != ".cu" && ending != ".cuh") continue;
        std::ifstream file(entry.path());
        const std::string text(std::istreambuf_iterator<char>(file), {});
        if (text.find("__shared__") != std::string::npos) users.insert(entry.path().parent_path().filename().string());
    }
    // These are in suite shared_memory of tests/gpu/battery_test.cpp, krylov_test.cpp and on_device_test.cpp.
    // `device_code` has the dictionaries of coded values (loads.cuh), which sell uses.
    CHECK(users == std::set<std::string>{"bccoo", "csr", "csr5", "device_code", "ehyb", "halo", "hbp", "hola", "krylov",
                                         "prepare", "rows"});
}

}  // namespace workbench
