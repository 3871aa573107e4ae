// Formats beside a recipe: what is compiled and loaded, what the trials notice, and what is said.
#include <dlfcn.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/system/beside_program.hpp"
#include "core/system/compile.hpp"
#include "kernels/common/compilation/compile.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/source/format_file.hpp"
#include "kernels/source/run_trial.hpp"
#include "kernels/source/try_format.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"
#include "support/slow.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const std::filesystem::path source_folder = WORKBENCH_SOURCE_DIR;

const LayoutEntry& shipped_format(const std::string& name) {
    return format_from_file(source_folder / "recipes/teaching" / (name + ".hpp"));
}

const LayoutEntry& mistakes() { return format_from_file(source_folder / "tests/kernels/formats/mistakes.hpp"); }

Parameters with_mistake(int number) { return Parameters(mistakes().parameters, {{"mistake", std::int64_t{number}}}); }

/// Compares two arrays that may have other names.
template <typename Element>
std::vector<Element> elements_of(const Layout<double>& layout, const std::string& name) {
    for (const LayoutField& field : layout.fields()) {
        if (field.name != name) continue;
        REQUIRE(field.type == element_type<Element>());
        const auto* const data = static_cast<const Element*>(field.data);
        return {data, data + field.count};
    }
    FAIL("no array " << name);
    return {};
}

std::vector<double> product_of(const LayoutEntry& entry, const CsrMatrix& matrix, const Given& given = {}) {
    const auto layout = entry.build.f64(stage_input(matrix), Parameters(entry.parameters, given));
    const std::unique_ptr<Device> host = make_host_device();
    std::vector<double> x(matrix.columns);
    for (Index i = 0; i < matrix.columns; ++i) x[i] = 1.0 / (i + 3);
    std::vector<double> y(matrix.rows, 5);
    entry.kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
    return y;
}

/// The matrix with five values.
CsrMatrix with_few_values(CsrMatrix matrix) {
    for (Offset k = 0; k < matrix.nonzeros(); ++k) matrix.values[k] = static_cast<double>(k % 5) - 1.5;
    return matrix;
}

void try_mistake(int mistake, Precision precision = Precision::f64) {
    UnfinishedKernels unfinished;
    try_format(mistakes(), stage_input(drawn()), with_mistake(mistake), precision, unfinished);
    CHECK(unfinished.empty());
}

void try_on_battery(int mistake) {
    UnfinishedKernels unfinished;
    try_format_on_battery(mistakes(), with_mistake(mistake), unfinished);
    CHECK(unfinished.empty());
}

template <typename Error = BrokenKernel>
std::string message_of_trial(int mistake) {
    return message_of<Error>([&] { try_mistake(mistake); });
}

std::string message_of_battery(int mistake) {
    return message_of<BrokenKernel>([&] { try_on_battery(mistake); });
}

/// The message without the path of the file.
std::string without_path(const std::string& message) {
    const std::size_t begin = message.find("mistakes.hpp: ");
    return begin == std::string::npos ? message : message.substr(begin + 14);
}

/// A text to replace in a shipped format, and its replacement.
using Change = std::pair<std::string, std::string>;

/// Writes a changed copy of a shipped format.
void write_changed(const std::filesystem::path& file, const std::vector<Change>& changes) {
    std::ifstream stream(source_folder / "recipes/teaching/my_csr16.hpp");
    std::ostringstream all;
    all << stream.rdbuf();
    std::string text = all.str();
    for (const auto& [from, to] : changes) {
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
    }
    std::ofstream(file) << text;
}

std::string message_of_format(const std::filesystem::path& file) {
    return message_of<RecipeError>([&] { (void)format_from_file(file); });
}

std::string message_of_changed(const std::string& from, const std::string& to, const std::string& file = "my_csr16.hpp") {
    const TemporaryFolder folder;
    write_changed(folder.path() / file, {{from, to}});
    return message_of_format(folder.path() / file);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// True if later processes do not try the format out again.
bool has_passed(const std::string& format) {
    for (const auto& file : std::filesystem::directory_iterator(cache_folder() / "formats")) {
        const std::string name = file.path().filename().string();
        if (name.starts_with(format + "-") && name.ends_with(".passed")) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("a format in one file has the arrays of its built-in counterpart, and the same products" *
          doctest::test_suite(slow)) {
    const LayoutEntry& own = shipped_format("my_csr16");
    CHECK(own.name == "my_csr16");
    CHECK(own.file == source_folder / "recipes/teaching/my_csr16.hpp");
    CHECK(own.file_checksum.size() == 32);
    CHECK(has_passed("my_csr16"));
    CHECK(&own == &shipped_format("my_csr16"));
    REQUIRE(own.kernels.size() == 2);
    CHECK(own.kernels[0].backend == Backend::kokkos);
    CHECK(own.kernels[1].backend == Backend::cuda);
    REQUIRE(own.schedules.size() == 1);
    CHECK(own.schedules[0].kernel == "lanes");
    const auto layout = own.build.f64(stage_input(drawn()), Parameters());
    const auto built_in = build(csr16_entry(), stage_input(drawn()));
    for (const char* name : {"columns_from_first"}) {
        CHECK(elements_of<std::uint16_t>(*layout, name) == elements_of<std::uint16_t>(*built_in, name));
    }
    CHECK(elements_of<Index>(*layout, "first_columns") == elements_of<Index>(*built_in, "first_columns"));
    CHECK(elements_of<double>(*layout, "values") == elements_of<double>(*built_in, "values"));
    CHECK(layout->bytes_to_move() == built_in->bytes_to_move());
    CHECK(product_of(own, drawn()) == product_of(csr16_entry(), drawn()));

    const LayoutEntry& own_sell = shipped_format("my_sell");
    const LayoutEntry sell = sell_entry();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CHECK(product_of(own_sell, named.matrix) == product_of(sell, named.matrix));
    }
    const auto slices = own_sell.build.f64(stage_input(drawn()), Parameters());
    const auto built_in_slices = sell.build.f64(stage_input(drawn()), Parameters(sell.parameters, {}));
    CHECK(elements_of<Index>(*slices, "column_indices") == elements_of<Index>(*built_in_slices, "column_indices"));
    CHECK(elements_of<double>(*slices, "values") == elements_of<double>(*built_in_slices, "values"));
}

TEST_CASE("sell8: the arrays of the 6 x 6 matrix, a row that waits, and too much padding" * doctest::test_suite(slow)) {
    const LayoutEntry& sell8 = shipped_format("sell8");
    const Parameters parameters(sell8.parameters, {});
    const auto layout = sell8.build.f64(stage_input(drawn()), parameters);
    CHECK(elements_of<Offset>(*layout, "slice_steps") == std::vector<Offset>{0, 3});
    CHECK(elements_of<Index>(*layout, "bases") == std::vector<Index>{0, 1, 2});
    const std::vector<std::uint8_t> columns = elements_of<std::uint8_t>(*layout, "column_offsets");
    CHECK(std::vector<std::uint8_t>(columns.begin(), columns.begin() + 6) == std::vector<std::uint8_t>{0, 1, 2, 3, 0, 5});
    const auto steps_to = [&](Index column) {
        const auto made =
            sell8.build.f64(stage_input(csr_from_entries(2, 300, std::vector<Entry>{{0, 0, 1}, {1, column, 2}})), parameters);
        return elements_of<Offset>(*made, "slice_steps").back();
    };
    CHECK(steps_to(255) == 1);
    CHECK(steps_to(256) == 2);
    std::vector<Entry> diagonal;  // every row waits for all others
    for (Index row = 0; row < 320; ++row) diagonal.push_back({row, row * 300, 1});
    const StagedMatrix far = stage_input(csr_from_entries(320, 320 * 300, diagonal));
    CHECK(message_of<Unsuitable>([&] { (void)sell8.build.f64(far, parameters); }) ==
          "10240 slots for 320 nonzeros, more than slots_per_nonzero; an order of less bandwidth (cuthill_mckee) may help");
}

TEST_CASE("sell_delta: columns far apart are reached by jumps, which read no x" * doctest::test_suite(slow)) {
    const LayoutEntry& sell_delta = shipped_format("sell_delta");
    const auto build_to = [&](Index column) {
        const CsrMatrix matrix = csr_from_entries(2, 600, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}, {1, column, 3}});
        return sell_delta.build.f64(stage_input(matrix), Parameters(sell_delta.parameters, {}));
    };
    const auto differences_to = [&](Index column) {  // of row 1
        const auto layout = build_to(column);
        std::vector<int> found;
        const auto all = elements_of<std::uint8_t>(*layout, "differences");
        for (std::size_t slot = 1; slot < all.size(); slot += 32) found.push_back(all[slot]);
        return found;
    };
    CHECK(differences_to(255) == std::vector<int>{0, 254});
    CHECK(differences_to(256) == std::vector<int>{0, 255, 0});
    CHECK(differences_to(511) == std::vector<int>{0, 255, 255, 0});
    CHECK(elements_of<Index>(*build_to(255), "first_columns") == std::vector<Index>{0, 1});
    const LayoutEntry csr = csr16_entry();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CHECK(product_of(sell_delta, named.matrix, {{"slots_per_nonzero", 1e9}}) == product_of(csr, named.matrix));
    }
}

TEST_CASE("sell_packed: a word has the code of a value and a difference of columns; far columns are reached by jumps" *
          doctest::test_suite(slow)) {
    const LayoutEntry& sell_packed = shipped_format("sell_packed");
    const auto words_of_first_row = [&](const CsrMatrix& matrix) {
        const auto layout =
            sell_packed.build.f64(stage_input(matrix), Parameters(sell_packed.parameters, {{"slots_per_nonzero", 1e9}}));
        std::vector<std::uint32_t> words;
        const auto all = elements_of<std::uint32_t>(*layout, "values_codes");
        for (std::size_t slot = 0; slot < all.size(); slot += 32) words.push_back(all[slot]);
        return words;
    };
    // Three values and the 0 of padding: two bits, and 30 for a difference.
    const std::vector<Entry> three{{0, 2, 7}, {0, 5, 8}, {0, 6, 7}, {1, 0, 9}};
    CHECK(words_of_first_row(csr_from_entries(2, 9, three)) ==
          std::vector<std::uint32_t>{1U << 30, 2U << 30 | 3, 1U << 30 | 1});
    // 1,023 values and the 0: ten bits, and 22 for a difference, of which the largest is a jump.
    std::vector<Entry> many;
    for (Index i = 0; i < 1023; ++i) many.push_back({1, i, 1.0 + i});
    many.insert(many.end(), {{0, 0, 1}, {0, 4194302, 2}, {0, 8388605, 3}});
    CHECK(words_of_first_row(csr_from_entries(2, 8388606, many))[1] == (2U << 22 | 4194302));
    CHECK(words_of_first_row(csr_from_entries(2, 8388606, many))[2] == 4194303);
    CHECK(words_of_first_row(csr_from_entries(2, 8388606, many))[3] == 3U << 22);
    const LayoutEntry csr = csr16_entry();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        const CsrMatrix few = with_few_values(named.matrix);
        CHECK(product_of(sell_packed, few, {{"slots_per_nonzero", 1e9}}) == product_of(csr, few));
    }
}

TEST_CASE("bitmap: the bits of blocks of 8 x 4, also at the edges" * doctest::test_suite(slow)) {
    const LayoutEntry& bitmap = shipped_format("bitmap");
    const CsrMatrix matrix = csr_from_entries(9, 9, std::vector<Entry>{{0, 0, 1}, {0, 5, 2}, {7, 3, 3}, {8, 8, 4}});
    const auto layout = bitmap.build.f64(stage_input(matrix), Parameters());
    CHECK(elements_of<Offset>(*layout, "strip_blocks") == std::vector<Offset>{0, 2, 3});
    CHECK(elements_of<Index>(*layout, "block_columns") == std::vector<Index>{0, 1, 2});
    CHECK(elements_of<std::uint32_t>(*layout, "bitmaps") == std::vector<std::uint32_t>{1U << 31 | 1, 1U << 1, 1});
    CHECK(elements_of<double>(*layout, "values") == std::vector<double>{1, 2, 3, 4});
    const LayoutEntry csr = csr16_entry();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CHECK(product_of(bitmap, named.matrix) == product_of(csr, named.matrix));
    }
}

TEST_CASE("NVRTC is not missing where the program loader finds it") {
    const bool is_found = dlopen("libnvrtc.so.13", RTLD_LAZY) != nullptr || dlopen("libnvrtc.so.12", RTLD_LAZY) != nullptr;
    const std::string reason = nvrtc_absence_reason();
    CHECK_FALSE((is_found && contains(reason, "neither libnvrtc.so.13 nor libnvrtc.so.12")));
    CHECK((is_found || !reason.empty() || std::filesystem::exists("/usr/local/cuda") || std::filesystem::exists("/opt/cuda")));
}

TEST_CASE("NVRTC compiles the kernels of the shipped formats" * doctest::test_suite(slow)) {
    if (const std::string why = nvrtc_absence_reason(); !why.empty()) {
        MESSAGE("skipped: " << why);
        return;
    }
    const auto function_of = [](const std::string& name, const std::string& types) {
        const GpuKernelImage image =
            compile_instance_for_gpu(source_folder / "recipes/teaching" / (name + ".hpp"), headers_folder(),
                                     "workbench::multiply_rows<" + types + ">", "sm_90");
        CHECK(image.image.size() > 1000);
        return image.function;
    };
    // As compilers print names, without or with the namespace.
    CHECK(contains(function_of("my_csr16", "MyCsr16Rows<8>, MyCsr16<double, ArrayView>, double"), "MyCsr16Rows"));
    CHECK(contains(function_of("my_sell", "workbench::MySellRows<2>, workbench::MySell<float, workbench::ArrayView>, float"),
                   "MySellRows"));
    CHECK(contains(function_of("sell8", "Sell8Rows, Sell8<double, ArrayView>, double"), "Sell8Rows"));
    CHECK(contains(function_of("sell_delta", "SellDeltaRows, SellDelta<double, ArrayView>, double"), "SellDeltaRows"));
    CHECK(contains(function_of("sell_packed", "SellPackedRows, SellPacked<Coded<double, unsigned int>, ArrayView>, double"),
                   "SellPackedRows"));
    CHECK(contains(function_of("bitmap", "BitmapRows, Bitmap<float, ArrayView>, float"), "BitmapRows"));
}

TEST_CASE("the trial on the recipe's matrix notices code that crashes, hangs, exits, throws, or leaves its arrays" *
          doctest::test_suite(slow)) {
    REQUIRE(setenv("WORKBENCH_TRIAL_SECONDS", "1", 1) == 0);
    CHECK_NOTHROW(try_mistake(0));
    CHECK(without_path(message_of_trial(1)) == "building (f64): it ends with a signal: Aborted");
    CHECK(without_path(message_of_trial(2)) == "building (f64): it ends the program, with exit code 3");
    const std::string endless = message_of_trial<UnfinishedKernel>(3);
    CHECK(contains(endless, "building (f64): not finished in 1"));
    CHECK(endless.ends_with(" s (limit: WORKBENCH_TRIAL_SECONDS)"));
    CHECK(without_path(message_of_trial(4)) == "building (f64): no such luck");
    CHECK(without_path(message_of_trial(5)) == "building (f64): it reads or writes directly behind the end of an array");
    CHECK(without_path(message_of_trial(6)) == "building (f64): it throws something that is not a std::exception");
    CHECK(without_path(message_of_trial(23)) == "schedule of kernel lanes (f64): a row's slots lie outside their array of 13");
    CHECK(without_path(message_of_trial(27)) == "kernel rows (f64): it reads or writes directly behind the end of y");
    // A matrix that the format refuses is no fault, and output is cut.
    CHECK_NOTHROW(try_mistake(11));
    CHECK_NOTHROW(try_mistake(12, Precision::f32));
    REQUIRE(unsetenv("WORKBENCH_TRIAL_SECONDS") == 0);
}

TEST_CASE("the trial on small matrices notices arrays and schedules that are wrong" * doctest::test_suite(slow)) {
    CHECK_NOTHROW(try_on_battery(0));
    CHECK(contains(message_of_battery(7), "its slots (f64, matrix '"));
    CHECK(contains(message_of_battery(8), "does not hold its nonzero's value"));
    CHECK(contains(message_of_battery(9), "reads a column that does not exist"));
    CHECK(contains(message_of_battery(10), "its rows, columns or nonzeros are not those of the matrix"));
    CHECK(contains(message_of_battery(20), "schedule of kernel lanes (f64, matrix '"));
    CHECK(contains(message_of_battery(21), "read twice, or does not exist"));
    CHECK(contains(message_of_battery(22), "of 'values' is read for row"));
    // Threads of the last block of a CUDA kernel, behind those of the schedule.
    CHECK(contains(message_of_battery(24), "schedule of kernel lanes (f64, matrix '"));
    CHECK(contains(message_of_battery(24), "behind the end of row_offsets"));
    CHECK(contains(message_of_battery(25), " has a row, but there are "));
    // A crash with a planted fault names its place.
    const std::string divides = message_of_battery(26);
    CHECK(contains(divides, "with the fault column_indices ["));
    CHECK(contains(divides, "] - 1 (f64, matrix '"));
    CHECK(contains(divides, "it ends with a signal: Floating point exception"));
}

TEST_CASE("a kernel that does not end is the only one that is not tried" * doctest::test_suite(slow)) {
    REQUIRE(setenv("WORKBENCH_TRIAL_SECONDS", "1", 1) == 0);
    const LayoutEntry& entry = format_from_file(source_folder / "tests/kernels/formats/endless.hpp");
    const std::unique_ptr<Device> host = make_host_device();
    const auto layout = entry.build.f64(stage_input(drawn()), Parameters());
    REQUIRE(entry.kernels.size() == 2);
    const std::string message = message_of<UnfinishedKernel>([&] { entry.kernels[0].try_out.f64(*layout, *host); });
    CHECK(contains(message, "endless.hpp: kernel endless (f64, matrix '"));
    CHECK(message.ends_with("not finished in 1 s (limit: WORKBENCH_TRIAL_SECONDS)"));
    CHECK_NOTHROW(entry.kernels[1].try_out.f64(*layout, *host));
    CHECK_NOTHROW(entry.try_out(stage_input(drawn()), Parameters(), Precision::f64));
    CHECK_FALSE(has_passed("endless"));
    REQUIRE(unsetenv("WORKBENCH_TRIAL_SECONDS") == 0);
}

TEST_CASE("memory that nobody has written is not zero in a trial") {
    const TrialEnd end = try_in_copy(5, [] {
        constexpr std::size_t bytes = 100'000;
        const HostArray<double> array = unwritten_array<double>(bytes / sizeof(double));
        const std::unique_ptr<unsigned char, void (*)(void*)> memory(static_cast<unsigned char*>(std::malloc(bytes)),
                                                                     std::free);
        if (!std::isnan(array.front()) || !std::isnan(array.back())) throw std::logic_error("an array of numbers");
        if (memory.get()[bytes / 2] == 0) throw std::logic_error("memory of malloc");
    });
    CHECK(end.words == "");
}

TEST_CASE("a file that does not compile, has no entry, or another name: the line and what was expected" *
          doctest::test_suite(slow)) {
    const std::string semicolon = message_of_changed("Array<Offset> row_offsets;", "Array<Offset> row_offsets");
    CHECK(contains(semicolon, "my_csr16.hpp: "));
    CHECK(contains(semicolon, "cannot compile it"));
    CHECK(contains(semicolon, "my_csr16.hpp:1"));
    const std::string hook = message_of_changed(".own_columns = true", ".own_columns = false");
    CHECK(contains(hook, "my_csr16.hpp:"));
    CHECK(contains(hook, ": MyCsr16Rows<"));
    CHECK(hook.ends_with(
        ">: schedule: hook own_columns requires a function columns(arrays), and the function requires the hook"));
    CHECK(std::count(hook.begin(), hook.end(), '\n') == 1);
    const std::string misspelt = message_of_changed(".own_columns = true", ".own_column_s = true");
    CHECK(contains(misspelt, "has no non-static data member named"));
    CHECK(std::count(misspelt.begin(), misspelt.end(), '\n') == 1);
    const std::string reserved = message_of_changed("first_columns", "columns");
    CHECK(contains(reserved, "my_csr16.hpp:"));
    CHECK_FALSE(contains(reserved, "required from"));
    const std::string no_walk = message_of_changed("CompressedLayout<Value, MyCsr16<Value, HostArray>, MyCsr16Rows<1>>",
                                                   "StoredLayout<Value, MyCsr16<Value, HostArray>>");
    CHECK(contains(no_walk, "my_csr16.hpp:"));
    CHECK(contains(no_walk, "::for_each_slot(const std::function"));
    CHECK(std::count(no_walk.begin(), no_walk.end(), '\n') < 8);
    CHECK(contains(message_of_changed("LayoutEntry my_csr16_entry", "LayoutEntry other_entry"),
                   "expected inline LayoutEntry my_csr16_entry(), which returns the format"));
    CHECK(contains(message_of_changed("// CSR", "// CSR", "My-format.hpp"), "expected lower-case letters, digits and _"));
    CHECK(contains(message_of_format(source_folder / "absent.hpp"), "absent.hpp"));
}

TEST_CASE("a file that compiles with a fault: what its entry, its arrays or its walk lack" * doctest::test_suite(slow)) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "my_csr16.hpp";
    const std::string entry = "inline LayoutEntry my_csr16_entry() {";
    const std::string first_column = "layout.first_columns[row] = columns.front();";
    // A variable chooses the fault, so that one compilation serves all.
    write_changed(file, {{"#pragma once", "#pragma once\n#include <cstdlib>\n#include <string_view>"},
                         {entry,
                          "inline bool has_fault(const char* name) {\n"
                          "    return std::string_view(std::getenv(\"WORKBENCH_TEST_FAULT\")) == name;\n}\n" +
                              entry + "\n    if (has_fault(\"aborts\")) std::abort();"},
                         {"{.summary", "{.name = has_fault(\"name\") ? \"other\" : \"my_csr16\", .summary"},
                         {first_column, "if (!has_fault(\"no columns\")) " + first_column},
                         {"make_zeros(layout.first_columns, matrix.rows)",
                          "make_zeros(layout.first_columns, matrix.rows + (has_fault(\"one more\") ? 1 : 0))"}});
    const auto message_with = [&](const char* fault) {
        REQUIRE(setenv("WORKBENCH_TEST_FAULT", fault, 1) == 0);
        return message_of_format(file);
    };
    CHECK(contains(message_with("name"), "the layout is named 'other'; expected the name of the file, 'my_csr16'"));
    CHECK(contains(message_with("aborts"), "loading it: it ends with a signal: Aborted"));
    CHECK(contains(message_with("no columns"), "its slots (f64, matrix '"));
    const std::string unnoticed = message_with("one more");
    CHECK(contains(unnoticed, "with a planted fault (f64, matrix '"));
    CHECK(contains(unnoticed, "the walk over its slots does not notice first_columns ["));
    REQUIRE(unsetenv("WORKBENCH_TEST_FAULT") == 0);
}

TEST_CASE("an entry without what every layout has is refused") {
    LayoutEntry entry = csr16_entry();
    CHECK_NOTHROW(require_complete(entry, "csr16"));
    const auto message = [&](const LayoutEntry& wrong) {
        return message_of<std::logic_error>([&] { require_complete(wrong, "csr16"); });
    };
    LayoutEntry no_kernels = entry;
    no_kernels.kernels.clear();
    CHECK(contains(message(no_kernels), "it has no kernels"));
    LayoutEntry twice = entry;
    twice.kernels.push_back(twice.kernels.front());
    CHECK(message(twice) == "it has two kokkos kernels 'rows'");
    LayoutEntry taken = entry;
    taken.parameters = {integer_parameter("source", not_required, {}, "help")};
    CHECK(message(taken) == "a parameter cannot be named 'source': the name is taken");
    LayoutEntry default_too_large = entry;
    default_too_large.parameters = {integer_parameter("height", by_default(std::int64_t{9}), between(1, 8), "help")};
    CHECK(contains(message(default_too_large), "the default of parameter 'height': found 9"));
}

}  // namespace workbench
