// The contract room: the layout checker must detect every fault, and device models and catalogue entries are found by name.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/contract/catalogue.hpp"
#include "core/contract/device.hpp"
#include "core/contract/device_plan.hpp"
#include "core/contract/errors.hpp"
#include "core/contract/layout.hpp"
#include "core/contract/value_facts.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "core/system/compile.hpp"
#include "core/system/whole_file.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

// 2 x 3:  5 . 6
//         . 7 .
CsrMatrix small_matrix() {
    const std::vector<Entry> entries{{0, 0, 5}, {0, 2, 6}, {1, 1, 7}};
    return csr_from_entries(2, 3, entries);
}

/// A layout whose slots a test can change. Initially it is a correct ELL of width 2, stored row by row.
struct ToldLayout final : Layout<float> {
    Index row_count = 2;
    Index column_count = 3;
    Offset nonzero_count = 3;
    std::vector<Index> column_array{0, 2, 1, 0};
    std::vector<float> value_array{5, 6, 7, 0};
    std::vector<Slot> slots{{1, 0, 0, 0, 0, 0, 0}, {1, 0, 1, 1, 1, 2, 0}, {1, 0, 2, 2, 2, 1, 1}, {1, 0, 3, 3, -1, 0, 1}};
    ArrayRole value_role = ArrayRole::value;
    std::size_t value_count = 4;

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutField> fields() const override {
        return {{"columns", ArrayRole::column, ElementType::i32, "", column_array.data(), value_count},
                {"values", value_role, ElementType::f32, "", value_array.data(), value_count}};
    }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override {
        for (const Slot& slot : slots) visit(slot);
    }
};

}  // namespace

TEST_CASE("check_layout accepts a correct layout") { CHECK_NOTHROW(check_layout(ToldLayout(), small_matrix())); }

TEST_CASE("check_layout detects every fault") {
    struct Fault {
        std::string name;
        std::string complaint;
        std::function<void(ToldLayout&)> plant;
    };
    const std::vector<Fault> faults{
        {"rows", "not those of the matrix", [](ToldLayout& l) { l.row_count = 3; }},
        {"columns", "not those of the matrix", [](ToldLayout& l) { l.column_count = 2; }},
        {"nonzeros", "not those of the matrix", [](ToldLayout& l) { l.nonzero_count = 4; }},
        {"lost nonzero", "nonzero 1 is not stored", [](ToldLayout& l) { l.slots[1].nonzero = -1, l.value_array[1] = 0; }},
        {"nonzero twice", "stored twice", [](ToldLayout& l) { l.slots[1] = {1, 0, 1, 1, 0, 0, 0}; }},
        {"no such nonzero", "does not exist", [](ToldLayout& l) { l.slots[1].nonzero = 3; }},
        {"negative nonzero", "does not exist", [](ToldLayout& l) { l.slots[1].nonzero = -2; }},
        {"wrong value", "value", [](ToldLayout& l) { l.value_array[2] = 8; }},
        {"wrong column", "reads column 0, but its nonzero is in column 1", [](ToldLayout& l) { l.slots[2].column = 0; }},
        {"wrong row", "adds to row 0", [](ToldLayout& l) { l.slots[2].row = 0; }},
        {"no row", "adds to row -1", [](ToldLayout& l) { l.slots[2].row = -1; }},
        {"row too large", "adds to row 2", [](ToldLayout& l) { l.slots[2].row = 2; }},
        {"padding not zero", "not zero", [](ToldLayout& l) { l.value_array[3] = 1; }},
        {"padding reads beyond x", "reads column 3", [](ToldLayout& l) { l.slots[3].column = 3; }},
        {"padding reads before x", "reads column -2", [](ToldLayout& l) { l.slots[3].column = -2; }},
        {"padding adds beyond y", "adds to row 2", [](ToldLayout& l) { l.slots[3].row = 2; }},
        {"slot left out", "only 3 slots", [](ToldLayout& l) { l.slots.pop_back(); }},
        {"slots out of order", "comes next", [](ToldLayout& l) { std::swap(l.slots[0], l.slots[1]); }},
        {"slot beyond the array", "comes next", [](ToldLayout& l) { l.value_count = 3; }},
        {"values that are none", "holds no values", [](ToldLayout& l) { l.value_role = ArrayRole::structure; }},
        {"columns that are none", "holds no columns", [](ToldLayout& l) { l.slots[0].column_array = 1; }},
        {"column beyond its array", "names column 4", [](ToldLayout& l) { l.slots[0].column_index = 4; }},
        {"column before its array", "names column -1", [](ToldLayout& l) { l.slots[0].column_index = -1; }},
        {"no such array", "holds no values", [](ToldLayout& l) { l.slots[0].array = 2; }},
    };
    for (const Fault& fault : faults) {
        CAPTURE(fault.name);
        ToldLayout layout;
        fault.plant(layout);
        const std::string complaint = message_of<std::logic_error>([&] { check_layout(layout, small_matrix()); });
        CAPTURE(complaint);
        CHECK(complaint.find(fault.complaint) != std::string::npos);
    }
}

namespace {

/// 5 7
/// 7 6
CsrMatrix symmetric_matrix() { return csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 5}, {0, 1, 7}, {1, 0, 7}, {1, 1, 6}}); }

/// Stores 7 once, for both of its places.
void store_triangle(ToldLayout& layout) {
    layout.column_count = 2;
    layout.nonzero_count = 4;
    layout.column_array = {0, 1, 1};
    layout.value_array = {5, 7, 6};
    layout.value_count = 3;
    layout.slots = {{1, 0, 0, 0, 0, 0, 0}, {1, 0, 1, 1, 1, 1, 0}, {1, 0, 1, 1, 2, 0, 1}, {1, 0, 2, 2, 3, 1, 1}};
}

}  // namespace

TEST_CASE("a slot may store a nonzero and its mirror image, and no other pair") {
    const auto complaint = [](const std::function<void(ToldLayout&)>& plant) {
        ToldLayout layout;
        store_triangle(layout);
        plant(layout);
        return message_of<std::logic_error>([&] { check_layout(layout, symmetric_matrix()); });
    };
    ToldLayout right;
    store_triangle(right);
    CHECK_NOTHROW(check_layout(right, symmetric_matrix()));
    CHECK(complaint([](ToldLayout& l) { l.slots.insert(l.slots.begin() + 3, l.slots[1]); }).find("three times") !=
          std::string::npos);
    CHECK(complaint([](ToldLayout& l) { l.slots.erase(l.slots.begin() + 2); }) == "layout: nonzero 2 is not stored");
    for (const Slot& second : std::vector<Slot>{{1, 0, 1, 1, 3, 1, 1}, {1, 0, 1, 1, 1, 1, 0}, {1, 0, 1, 1, -1, 0, 1}}) {
        CHECK(complaint([&](ToldLayout& l) { l.slots[2] = second; }).find("not for a nonzero and its mirror") !=
              std::string::npos);
    }
    // An entry on the diagonal has no mirror image.
    CHECK(complaint([](ToldLayout& l) {
              l.slots.insert(l.slots.begin(), l.slots[0]);
          }).find("not for a nonzero and its mirror") != std::string::npos);
    CHECK(complaint([](ToldLayout& l) { l.value_array[1] = 8; }).find("value") != std::string::npos);
    // A mirror image with another value.
    CsrMatrix matrix = symmetric_matrix();
    matrix.values[2] = 8;
    CHECK(message_of<std::logic_error>([&] { check_layout(right, matrix); }).find("value") != std::string::npos);
}

TEST_CASE("padding may add to no row") {
    ToldLayout layout;
    layout.slots[3].row = -1;
    CHECK_NOTHROW(check_layout(layout, small_matrix()));
}

TEST_CASE("padding need not read x, and a column may be implied by its place") {
    ToldLayout layout;
    layout.slots[3].column = -1;
    for (Slot& slot : layout.slots) slot.column_array = -1;
    CHECK_NOTHROW(check_layout(layout, small_matrix()));
}

TEST_CASE("bytes to move: arrays, x and y once") { CHECK(ToldLayout().bytes_to_move() == 4 * 4 + 4 * 4 + 4 * (2 + 3)); }

TEST_CASE("a plan refuses sorts of shares by parts that the device did not make") {
    for (const bool within : {false, true}) {
        for (const RowKey key : {RowKey::nonzeros, RowKey::inside_partition}) {
            SortShare sort;
            sort.share = {.kind = ShareKind::outside};
            sort.within_partition = within;
            sort.key = key;
            DevicePlan plan;
            plan.steps = {{"split", SplitNonzeros{.needs_parts = false}}, {"sort", sort}};
            plan.shares = {{{ShareKind::inside}, RowSlices{}, {}, "slices"}, {{ShareKind::outside}, RowSlices{}, {}, "slices"}};
            const bool by_parts = within || key == RowKey::inside_partition;
            CHECK(plan.refusal() == (by_parts ? "sort: rows are sorted by parts that the device did not make" : ""));
        }
    }
}

TEST_CASE("the distinct blocks of a matrix are those of the values as they are stored") {
    // [1 0; 0 2], then [1 + 2^-30 0; 0 2]: equal in f32.
    const CsrMatrix matrix =
        csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}, {2, 2, 1 + std::ldexp(1.0, -30)}, {3, 3, 2}});
    CHECK(value_facts(matrix, Precision::f64, 2).distinct_blocks == 2);
    CHECK(value_facts(matrix, Precision::f32, 2).distinct_blocks == 1);
    CHECK(value_facts(matrix, Precision::f32, 1).distinct_blocks == std::nullopt);
}

TEST_CASE("device models") {
    CHECK(device_model_names() == std::vector<std::string>{"k20x", "v100", "a100", "h100", "h200", "gb200"});
    for (const std::string& name : device_model_names()) {
        const DeviceProperties* model = find_device_model(name);
        REQUIRE(model != nullptr);
        CHECK(model->kind == DeviceKind::gpu);
        CHECK(model->name.find("NVIDIA") == 0);
    }
    CHECK(find_device_model("v100")->processors == 80);
    CHECK(find_device_model("v100")->shared_memory_per_block == 98304);
    CHECK(find_device_model("a100")->shared_memory_per_block == 166912);
    CHECK(find_device_model("h200")->processors == 132);
    CHECK(find_device_model("h200")->shared_memory_per_block == 232448);
    CHECK(find_device_model("h200")->last_level_cache == 62914560);
    CHECK(find_device_model("gb200")->processors == 152);
    // A cache consists of whole sets, each of as many sectors as it has ways.
    for (const std::string& name : device_cache_names()) {
        const CacheProperties cache = device_cache(name);
        CHECK_MESSAGE(cache.bytes % (static_cast<std::size_t>(cache.ways) * cache_sector) == 0, name);
        CHECK_MESSAGE(cache.each_processor_has == (cache.name == "read_only" ? 4 : cache.name == "l1" ? 1 : 0), name);
    }
    std::string ways;
    for (const std::string& name : device_cache_names()) ways += std::to_string(device_cache(name).ways) + " ";
    CHECK(ways == "96 16 64 16 64 16 64 16 64 16 64 16 ");  // of the texture cache, and those that are assumed
    CHECK(find_device_model("V100") == nullptr);
    CHECK(&tuned_device_model() == find_device_model("h200"));
}

TEST_CASE("a parameter's word may stand for a number of the device") {
    const std::vector<ParameterDeclaration> declarations{
        {.name = "parts",
         .default_value = std::string("auto"),
         .words = {"auto"},
         .for_device = [](const DeviceProperties& device) { return std::int64_t{2} * device.processors; }},
        {.name = "window", .default_value = std::string("auto"), .words = {"auto"}}};
    const Parameters parameters = Parameters(declarations, {}).on_device(declarations, *find_device_model("a100"));
    CHECK(parameters.integer("parts") == 216);
    CHECK(parameters.is_word("window", "auto"));
    const Parameters given =
        Parameters(declarations, {{"parts", std::int64_t{7}}}).on_device(declarations, tuned_device_model());
    CHECK(given.integer("parts") == 7);
}

TEST_CASE("backends: names and devices") {
    CHECK(name_of(Backend::kokkos) == "kokkos");
    CHECK(name_of(Backend::eigen) == "eigen");
    CHECK(name_of(Backend::cpu) == "cpu");
    CHECK(name_of(Backend::cuda) == "cuda");
    CHECK(name_of(Backend::cusparse) == "cusparse");
    CHECK(device_of(Backend::eigen) == DeviceKind::host);
    CHECK(device_of(Backend::cpu) == DeviceKind::host);
    CHECK(device_of(Backend::cusparse) == DeviceKind::gpu);
}

TEST_CASE("the catalogue finds entries by their full name") {
    Catalogue catalogue;
    catalogue.stages.resize(2);
    catalogue.stages[1].name = "split";
    catalogue.layouts.resize(1);
    catalogue.layouts[0].name = "csr";
    CHECK(catalogue.find_stage("split") == &catalogue.stages[1]);
    CHECK(catalogue.find_stage("spli") == nullptr);
    CHECK(catalogue.find_layout("csr") == catalogue.layouts.data());
    CHECK(catalogue.find_layout("split") == nullptr);
}

TEST_CASE("a signal that ends the program removes unfinished files, and no others") {
    const TemporaryFolder folder;
    write_whole_file(folder.path() / "whole", "text");
    WholeFile one(folder.path() / "one");
    WholeFile two(folder.path() / "two");
    one.write("1");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);
    two.finish();
    remove_partial_files();
    CHECK_FALSE(std::filesystem::exists(folder.path() / "one"));
    CHECK(std::filesystem::exists(folder.path() / "two"));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
    CHECK_THROWS_AS(one.finish(), MachineError);
}

TEST_CASE("a file is complete or absent") {
    const TemporaryFolder folder;
    write_whole_file(folder.path() / "a" / "b.txt", "text");
    CHECK(std::filesystem::file_size(folder.path() / "a" / "b.txt") == 4);
    std::filesystem::create_directory(folder.path() / "taken");
    CHECK_THROWS_AS(write_whole_file(folder.path() / "taken", "text"), MachineError);
    CHECK_THROWS_AS(write_whole_file(folder.path() / "a" / "b.txt" / "c", "text"), MachineError);
    std::filesystem::create_symlink(folder.path() / "a" / "b.txt", folder.path() / "link");
    write_whole_file(folder.path() / "link", "through a link");
    CHECK(std::filesystem::is_symlink(folder.path() / "link"));
    CHECK(std::filesystem::file_size(folder.path() / "a" / "b.txt") == 14);
    std::filesystem::remove(folder.path() / "link");
    CHECK_THROWS_AS(write_whole_file("/dev/full", "text"), MachineError);
    CHECK(std::filesystem::is_character_file("/dev/full"));
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
        files += entry.is_regular_file() ? 1 : 0;
    }
    CHECK(files == 1);
    write_whole_file(folder.path() / "empty", {});  // the address of an empty text may be null
    CHECK(std::filesystem::file_size(folder.path() / "empty") == 0);
}

TEST_CASE("a link as an output is followed, whether or not what it names exists") {
    const TemporaryFolder folder;
    const auto at = [&](const char* name) { return folder.path() / name; };
    std::filesystem::create_directory(at("elsewhere"));
    std::filesystem::create_symlink("elsewhere/file", at("relative"));
    std::filesystem::create_symlink("relative", at("second"));
    std::filesystem::create_symlink(at("missing") / "deep" / "file", at("absolute"));
    for (const auto& [link, target] :
         {std::pair(at("second"), at("elsewhere") / "file"), std::pair(at("absolute"), at("missing") / "deep" / "file")}) {
        CAPTURE(link);
        check_writable(link);
        CHECK_FALSE(std::filesystem::exists(target));
        CHECK_FALSE(std::filesystem::exists(at("missing")));
        for (const char* text : {"1", "22"}) {
            write_whole_file(link, text);
            CHECK(std::filesystem::is_symlink(link));
            CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(target)));
            CHECK(std::filesystem::file_size(target) == std::string(text).size());
        }
    }
    CHECK(std::filesystem::is_symlink(at("relative")));
    std::filesystem::create_symlink("loop", at("loop"));
    CHECK_THROWS_AS(write_whole_file(at("loop"), "text"), MachineError);
    CHECK(std::filesystem::is_symlink(at("loop")));
    std::filesystem::create_symlink("/dev/full", at("device"));
    CHECK_THROWS_AS(write_whole_file(at("device"), "text"), MachineError);
    CHECK(std::filesystem::is_symlink(at("device")));
    std::array<int, 2> ends{};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
    write_whole_file("/proc/self/fd/" + std::to_string(ends[1]), "text");  // as /dev/stdout
    std::array<char, 5> text{};
    CHECK(read(ends[0], text.data(), text.size()) == 4);
    for (const int end : ends) close(end);
}

TEST_CASE("what killed processes have left of a file is removed when the file is written again") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "a.txt").string();
    const pid_t child = fork();
    if (child == 0) {
        WholeFile half(file);
        half.write("half");
        (void)raise(SIGKILL);
    }
    REQUIRE(waitpid(child, nullptr, 0) == child);
    const std::string left = file + ".partial-" + std::to_string(child);
    REQUIRE(std::filesystem::exists(left));

    // Only that is removed: not files of other names, of a process that lives, or locked on another machine.
    const std::vector<std::string> others{file + ".partial-",
                                          file + ".partial-x",
                                          left + "x",
                                          file + ".partial--1",
                                          file + ".partial-" + std::to_string(getppid()),
                                          (folder.path() / ("b.txt.partial-" + std::to_string(child))).string()};
    for (const std::string& other : others) std::ofstream(other) << "kept";
    const int locked = open(left.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(flock(locked, LOCK_EX) == 0);
    write_whole_file(file, "whole");
    CHECK(std::filesystem::exists(left));
    close(locked);
    write_whole_file(file, "whole");
    CHECK_FALSE(std::filesystem::exists(left));
    for (const std::string& other : others) CHECK_MESSAGE(std::filesystem::exists(other), other);
}

TEST_CASE("compiled code is kept only in a folder that nobody else can write to") {
    const TemporaryFolder folder;
    const std::filesystem::path cache = folder.path() / "cache";
    const auto variable = [](const char* name) { return std::string(std::getenv(name) == nullptr ? "" : std::getenv(name)); };
    const std::string home = variable("HOME");
    const std::string before = variable("XDG_CACHE_HOME");
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    CHECK(cache_folder().filename() == "spmv-workbench-" + std::to_string(geteuid()));
    setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    const std::filesystem::path outer = cache_folder();
    const std::filesystem::path inner = outer / "kind";
    const auto is_kept = [&] {
        const KeptObject object = kept_shared_object(folder.path() / "a.cpp", "int a = 1;", {}, "kind", "", folder.path());
        CHECK(std::filesystem::exists(object.file));
        CHECK(object.compiled == (object.file.parent_path() != inner));
        return !object.compiled;
    };
    using std::filesystem::perms;
    const auto mode = [](const std::filesystem::path& of) { return std::filesystem::status(of).permissions(); };
    const KeptObject first = kept_shared_object(folder.path() / "a.cpp", "int a = 1;", {}, "kind", "", folder.path());
    CHECK(first.compiled);
    CHECK(first.file.parent_path() == std::filesystem::canonical(inner));
    CHECK(mode(inner) == perms::owner_all);
    CHECK(is_kept());
    // Code with a header beside it is compiled again if the header changes.
    for (const char* const number : {"1", "1", "2"}) {
        const bool is_new = !std::filesystem::exists(folder.path() / "b.hpp") || *number == '2';
        std::ofstream(folder.path() / "b.hpp") << "constexpr int b = " << number << ";\n";
        const char* const text = "#include \"b.hpp\"\nint a = b;";
        CHECK(kept_shared_object(folder.path() / "c.cpp", text, {}, "kind", "", folder.path()).compiled == is_new);
    }
    // Other results are kept there likewise, whatever their bytes.
    int made = 0;
    const auto bytes = [&] {
        return kept_bytes("kind", "name", [&] { return std::string("a\0\n", 3) + std::to_string(++made); });
    };
    for (int turn = 0; turn < 2; ++turn) CHECK(bytes() == std::string("a\0\n1", 4));
    CHECK(kept_bytes("kind", "other", [] { return std::string(); }).empty());
    for (const perms others : {perms::others_write, perms::group_write}) {
        std::filesystem::permissions(inner, perms::owner_all | others);
        CHECK(bytes() != std::string("a\0\n1", 4));
        CHECK_FALSE(is_kept());
        std::filesystem::permissions(inner, perms::owner_all);
        std::filesystem::permissions(outer, perms::owner_all | others);
        CHECK(is_kept());
        CHECK(mode(outer) == perms::owner_all);
    }
    if (geteuid() == 0) {  // others cannot give a folder away
        for (const std::filesystem::path& each : {inner, outer}) {
            REQUIRE(chown(each.c_str(), 12345, getegid()) == 0);
            CHECK_FALSE(is_kept());
            REQUIRE(chown(each.c_str(), geteuid(), getegid()) == 0);
        }
        CHECK(is_kept());
    }
    if (!home.empty()) setenv("HOME", home.c_str(), 1);
    before.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before.c_str(), 1);
}

}  // namespace workbench
