// Kernels beside a recipe: the header with the fields of their layout, compilation, verification, product.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <fstream>
#include <regex>
#include <string>

#include "core/contract/errors.hpp"
#include "core/system/process.hpp"
#include "kernels/common/compilation/arrays_header.hpp"
#include "kernels/common/compilation/compile.hpp"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/formats/csc/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/ehyb/layout.hpp"
#include "kernels/formats/hbp/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/source/format_file.hpp"
#include "kernels/source/kernel_from_source.hpp"
#include "kernels/source/trial.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

const fs::path project_folder = WORKBENCH_SOURCE_DIR;

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

/// A test file whose name does not appear in any output.
std::string without(std::string text, const std::string& folder) {
    for (std::size_t at = 0; (at = text.find(folder + "/")) != std::string::npos;) text.erase(at, folder.size() + 1);
    return text;
}

/// The message of a kernel for the host that is tried on csr of a diagonal matrix with `rows` rows.
std::string trial_of(const KernelEntry& kernel, Index rows, const std::string& folder) {
    std::vector<Entry> entries;
    for (Index i = 0; i < rows; ++i) entries.push_back({i, i, 1.0 + i});
    const auto layout = build(csr_entry(), stage_input(csr_from_entries(rows, rows, entries)));
    const auto device = make_host_device();
    try {
        kernel.try_out.get<double>()(*layout, *device);
    } catch (const std::exception& refusal) {
        return without(refusal.what(), folder);
    }
    return "fine";
}

TEST_CASE("the header of a layout") {
    const auto header = [](const LayoutEntry& layout, std::size_t list, Precision precision) {
        const FieldLists lists = precision == Precision::f32 ? layout.fields.f32() : layout.fields.f64();
        return arrays_header(layout.name, lists.at(list), precision);
    };
    const fs::path golden = project_folder / "tests" / "golden" / "kernels";
    compare_with_golden(golden / "csr_f64.hpp.txt", header(csr_entry(), 0, Precision::f64));
    compare_with_golden(golden / "csr_f32.hpp.txt", header(csr_entry(), 0, Precision::f32));
    compare_with_golden(golden / "sell_f64.hpp.txt", header(sell_entry(), 0, Precision::f64));
    compare_with_golden(golden / "ehyb_u16_f64.hpp.txt", header(ehyb_entry(), 0, Precision::f64));
    compare_with_golden(golden / "ehyb_u32_f32.hpp.txt", header(ehyb_entry(), 1, Precision::f32));
    compare_with_golden(golden / "hbp_f64.hpp.txt", header(hbp_entry(), 1, Precision::f64));
}

TEST_CASE("every layout lists its fields, with the length of every array") {
    for (const LayoutEntry& layout : catalogue().layouts) {
        CAPTURE(layout.name);
        REQUIRE((layout.fields.f32 != nullptr));
        REQUIRE(layout.fields.f64().size() >= layout.fields.f32().size());  // f64 may also store values in f32
        REQUIRE(!layout.fields.f32().empty());
        for (const std::vector<LayoutField>& fields : layout.fields.f64()) {
            CHECK(fields.front().is_array() == (fields.front().name == "row_lengths"));
            for (const LayoutField& field : fields) {
                CHECK_MESSAGE(field.is_array() != field.length.empty(), field.name);
            }
        }
    }
}

TEST_CASE("the fields of a layout are its arrays and numbers") {
    const auto layout = build<float>(csr_entry(), stage_input(drawn()));
    const std::vector<LayoutField> fields = layout->fields();
    std::string text;
    for (const LayoutField& field : fields) text += fmt::format("{}:{}x{} ", field.name, field.count, bytes_of(field.type));
    CHECK(text == "row_count:1x4 column_count:1x4 row_offsets:7x8 column_indices:13x4 values:13x4 ");
    const auto& csr = full_csr<float>(dynamic_cast<const CsrLayout<float>&>(*layout), "test");
    CHECK(fields[2].data == csr.row_offsets.data());
    CHECK(fields[4].data == csr.values.data());
}

TEST_CASE("arrays are packed as a compiler lays them out") {
    struct Expected {
        char narrow;
        std::int32_t number;
        const void* wide;
        long long wide_size;
        short last;
        void* prepared;
    };
    const signed char narrow = 7;
    const std::int32_t number = -3;
    const std::int16_t last = 9;
    const std::vector<LayoutField> fields{
        {.name = "narrow", .role = ArrayRole::number, .type = ElementType::i8, .data = &narrow},
        {.name = "number", .role = ArrayRole::number, .type = ElementType::i32, .data = &number},
        {.name = "wide", .type = ElementType::f64, .count = 11},
        {.name = "last", .role = ArrayRole::number, .type = ElementType::i16, .data = &last}};
    PackedArrays packed = pack_arrays(fields);
    packed.point(0, &packed);
    packed.set_prepared(&narrow);
    Expected expected{};
    REQUIRE(packed.bytes.size() == sizeof(expected));
    std::memcpy(&expected, packed.bytes.data(), sizeof(expected));
    CHECK(expected.narrow == 7);
    CHECK(expected.number == -3);
    CHECK(expected.wide == &packed);
    CHECK(expected.wide_size == 11);
    CHECK(expected.last == 9);
    CHECK(expected.prepared == &narrow);
}

TEST_CASE("every failure of a kernel for the host is reported") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "faults.cpp";
    write(file, R"(#include "arrays.hpp"
#include <cstdlib>
#include <unistd.h>
int deep(const volatile int* above) {
    volatile int room[4096];
    room[0] = *above;
    return room[0] == 0 ? deep(room) + room[0] : 1;
}
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
    volatile int zero = 0;
    const Index rows = arrays.row_count;
    for (Index row = rows == 16 ? 1 : 0; row < rows; ++row) y[row] = (accumulate ? y[row] : 0) + arrays.values[row] * x[row];
    switch (rows) {
        case 2: while (zero == 0) {} break;
        case 3: y[3] = 1; break;
        case 4: y[1000] = 1; break;
        case 5: const_cast<Value*>(arrays.values)[2] = 1; break;
        case 6: std::abort();
        case 7: y[-1] = 1; break;
        case 8: _exit(3);
        case 9: while (accumulate && zero == 0) {} break;
        case 10: y[0] = x[16]; break;
        case 11: y[0] = rows / zero; break;
        case 12: y[-1000] = 1; break;
        case 13: *reinterpret_cast<volatile int*>(16L) = 1; break;
        case 14: y[0] = arrays.row_offsets[-8192]; break;
        case 17: y[0] = deep(&zero); break;
        default: break;
    }
}
)");
    const KernelEntry kernel = kernel_from_source({.file = file, .layout = "csr", .limit_seconds = 0.3});
    CHECK(kernel.name == "faults");
    CHECK(kernel.backend == Backend::cpu);
    const auto found = [&](Index rows) { return trial_of(kernel, rows, folder.path().string()); };
    CHECK(found(0) == "fine");
    CHECK(found(1) == "fine");
    CHECK(found(2) == "faults.cpp: not finished in 0.3 s (limit: limit_seconds)");
    CHECK(found(3) == "faults.cpp writes outside y, before its beginning or behind its end");
    CHECK(found(4) == "faults.cpp reaches behind the end of y (element 1000 of 4, counted from 0)");
    CHECK(found(5) == "faults.cpp writes to values (element 2), which is only to be read");
    CHECK(found(6) == "faults.cpp ends with a signal: Aborted");
    CHECK(found(7) == "faults.cpp writes outside y, before its beginning or behind its end");
    CHECK(found(8) == "faults.cpp ends the program, with exit code 3");
    CHECK(found(9) == "faults.cpp: not finished in 0.3 s (limit: limit_seconds) (adding to a y that was there)");
    CHECK(found(10) == "faults.cpp reaches behind the end of x (element 16 of 10, counted from 0)");
    CHECK(found(11) == "faults.cpp ends with a signal: Floating point exception");
    CHECK(found(12) == "faults.cpp reaches before the beginning of y, by 8000 bytes");
    CHECK(found(13) == "faults.cpp reads or writes at address 0x10, where nothing is");
    CHECK(found(14) == "faults.cpp reaches before the beginning of row_offsets, by 65536 bytes");
    CHECK(found(15) == "fine");
    CHECK(found(16).starts_with("faults.cpp does not write y[0]"));
    CHECK(found(17).starts_with("faults.cpp reads or writes at address 0x"));  // the end of the stack
    CHECK(found(100) == "fine");
}

TEST_CASE("a kernel for the host multiplies with the arrays of the layout") {
    const auto device = make_host_device();
    const KernelEntry kernel =
        kernel_from_source({.file = project_folder / "recipes/teaching/my_csr_kernel.cpp", .layout = "csr"});
    const auto layout = build<float>(csr_entry(), stage_input(drawn()));
    const auto prepared = kernel.prepare.get<float>()(*layout, *device);
    const std::vector<float> x{1, 10, 100, 1000, 10000, 100000};
    std::vector<float> y(6, -1);
    prepared->run(x.data(), y.data(), false);
    const std::vector<float> product{321, 60540, 700, 908000, 1310010, 1300000};
    CHECK(y == product);
    prepared->run(x.data(), y.data(), true);
    CHECK(y.front() == 642);
    // The file is compiled once for all kernels with the same header.
    const auto again = kernel.prepare.get<float>()(*layout, *device);
    again->run(x.data(), y.data(), false);
    CHECK(y == product);
}

TEST_CASE("a kernel is tried on matrices that are wide or tall") {
    const auto device = make_host_device();
    const KernelEntry kernel =
        kernel_from_source({.file = project_folder / "recipes/teaching/my_csr_kernel.cpp", .layout = "csr"});
    const CsrMatrix wide = csr_from_entries(2, 5, std::vector<Entry>{{0, 4, 1}, {1, 0, 2}, {1, 4, 3}});
    for (const CsrMatrix& matrix : {wide, transpose(wide)}) {
        const auto layout = build(csr_entry(), stage_input(matrix));
        CHECK_NOTHROW(kernel.try_out.get<double>()(*layout, *device));
    }
}

TEST_CASE("a kernel that adds to y gets a y of zeros") {
    const TemporaryFolder folder;
    write(folder.path() / "adds.cpp", R"(#include "arrays.hpp"
void multiply(const Arrays& arrays, const Value* x, Value* y, bool) {
    for (Index row = 0; row < arrays.row_count; ++row) y[row] += x[row];
}
)");
    const auto device = make_host_device();
    const auto layout = build(csr_entry(), stage_input(drawn()));
    const auto result = [&](bool zero_y, bool accumulate) {
        const KernelEntry kernel = kernel_from_source({.file = folder.path() / "adds.cpp", .layout = "csr", .zero_y = zero_y});
        const std::vector<double> x{1, 2, 3, 4, 5, 6};
        std::vector<double> y(6, 10);
        kernel.prepare.get<double>()(*layout, *device)->run(x.data(), y.data(), accumulate);
        return y.back();
    };
    CHECK(result(true, false) == 6);
    CHECK(result(true, true) == 16);
    CHECK(result(false, false) == 16);
}

TEST_CASE("a kernel that computes y = A x alone adds through a buffer, and is never asked to add") {
    const TemporaryFolder folder;
    write(folder.path() / "plain.cpp", R"(#include "arrays.hpp"
#include <cstdlib>
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
    if (accumulate) std::abort();
    for (Index row = 0; row < arrays.row_count; ++row) y[row] = x[row];
}
)");
    const auto device = make_host_device();
    const auto layout = build(csr_entry(), stage_input(drawn()));
    const KernelEntry kernel = kernel_from_source({.file = folder.path() / "plain.cpp", .layout = "csr", .accumulate = false});
    CHECK_NOTHROW(kernel.try_out.get<double>()(*layout, *device));
    const auto prepared = kernel.prepare.get<double>()(*layout, *device);
    const std::vector<double> x{1, 2, 3, 4, 5, 6};
    std::vector<double> y(6, 10);
    prepared->run(x.data(), y.data(), true);
    CHECK(y == std::vector<double>{11, 12, 13, 14, 15, 16});
    prepared->run(x.data(), y.data(), false);
    CHECK(y == x);
}

TEST_CASE("a kernel finds what its file has prepared, whose bytes a product moves") {
    const TemporaryFolder folder;
    const auto device = make_host_device();
    const auto layout = build(csr_entry(), stage_input(drawn()));
    const auto with = [&](const std::string& name, int doubles, const std::string& fill) {
        write(folder.path() / (name + ".cpp"), fmt::format(R"(#include "arrays.hpp"
#include <cstdlib>
void* prepare(const Arrays& arrays) {{
    Value* own = static_cast<Value*>(std::malloc({} * sizeof(Value)));
    {}
    return own;
}}
void release(void* own) {{ std::free(own); }}
void multiply(const Arrays& arrays, const Value* x, Value* y, bool) {{
    const Value* own = static_cast<const Value*>(arrays.prepared);
    for (Index row = 0; row < arrays.row_count; ++row) y[row] = own[row % 2] * x[row];
}}
)",
                                                           doubles, fill));
        return kernel_from_source({.file = folder.path() / (name + ".cpp"), .layout = "csr", .accumulate = false});
    };
    const std::vector<double> x{1, 2, 3, 4, 5, 6};
    const std::int64_t vectors = 2 * 6 * sizeof(double);
    const std::int64_t arrays = layout->bytes_to_move() - vectors;
    const std::string twos = "own[0] = own[1] = 2;";
    const auto small = with("small", 2, twos).prepare.get<double>()(*layout, *device);
    std::vector<double> y(6, 10);
    small->run(x.data(), y.data(), false);
    CHECK(y == std::vector<double>{2, 4, 6, 8, 10, 12});
    REQUIRE(small->own_bytes_to_move());
    // 16 bytes, with what malloc adds, are less than a quarter of the arrays of CSR, and 8000 more.
    CHECK(*small->own_bytes_to_move() >= arrays + vectors);
    CHECK(*small->own_bytes_to_move() < arrays + vectors + 64);
    const auto large = with("large", 1000, twos).prepare.get<double>()(*layout, *device);
    CHECK(*large->own_bytes_to_move() >= vectors + 8000);
    CHECK(*large->own_bytes_to_move() < vectors + 8000 + 64);
    CHECK(trial_of(with("fine", 2, twos), 6, folder.path().string()) == "fine");
    const std::string forgets = trial_of(with("forgets", 2, ""), 6, folder.path().string());
    CHECK_MESSAGE(forgets.find("or on memory that was never written") != std::string::npos, forgets);
    const std::string behind =
        trial_of(with("behind", 2, "own[0] = arrays.values[arrays.values_size + 8];"), 6, folder.path().string());
    CHECK(behind == "behind.cpp reaches behind the end of values (element 14 of 6, counted from 0) (preparing)");
}

TEST_CASE("NVRTC is missing only where there is none") {
    const std::string why = nvrtc_absence_reason();
    CAPTURE(why);
    if (fs::exists("/usr/local/cuda/lib64/libnvrtc.so.13")) CHECK(why.empty());
}

TEST_CASE("names of types for NVRTC are those of the source code") {
    CHECK(type_name<CompressedRows<8>>() == "CompressedRows<8>");
    CHECK(type_name<double>() == "double");
}

TEST_CASE("the trial repeats products with other threads, so that races show") {
    const TemporaryFolder folder;
    const auto trial = [&](const std::string& name, const std::string& product) {
        write(folder.path() / (name + ".cpp"),
              "#include \"arrays.hpp\"\nvoid multiply(const Arrays& arrays, const Value* x, Value* y, bool) {\n" + product +
                  "}\n");
        std::vector<Entry> entries;  // a row that all columns add to
        constexpr Index size = 2000;
        for (Index i = 1; i < size; ++i) entries.push_back({i, i, 2.0});
        for (Index i = 0; i < size; ++i) entries.push_back({0, i, 1.0 + i % 7});
        const auto layout = build(csc_entry(), stage_input(csr_from_entries(size, size, entries)));
        const KernelEntry kernel =
            kernel_from_source({.file = folder.path() / (name + ".cpp"), .layout = "csc", .zero_y = true});
        const auto device = make_host_device();
        try {
            kernel.try_out.get<double>()(*layout, *device);
        } catch (const BrokenKernel& reason) {
            return without(reason.what(), folder.path().string());
        }
        return std::string("fine");
    };
    CHECK(trial("atomic", R"(
#pragma omp parallel for
    for (Index column = 0; column < arrays.column_count; ++column) {
        for (Offset k = arrays.column_offsets[column]; k < arrays.column_offsets[column + 1]; ++k) {
#pragma omp atomic
            y[arrays.row_indices[k]] += arrays.values[k] * x[column];
        }
    }
)") == "fine");
    // All threads read y[0] before one of them writes it, however busy the machine is.
    const std::string races = trial("races", R"(
#pragma omp parallel
    {
        Value first = y[0];
#pragma omp barrier
#pragma omp for
        for (Index column = 0; column < arrays.column_count; ++column) {
            for (Offset k = arrays.column_offsets[column]; k < arrays.column_offsets[column + 1]; ++k) {
                const Index row = arrays.row_indices[k];
                (row == 0 ? first : y[row]) += arrays.values[k] * x[column];
            }
        }
        y[0] = first;
    }
)");
    CHECK_MESSAGE(races.find("races.cpp gives another result for the same x: y[0] is ") == 0, races);
    CHECK(races.find(" threads, so its threads race, or a product depends on earlier ones") != std::string::npos);
}

TEST_CASE("files that cannot be compiled or loaded for the host") {
    const TemporaryFolder folder;
    const auto found = [&](const std::string& name, const std::string& text) {
        write(folder.path() / name, text);
        const KernelEntry kernel = kernel_from_source({.file = folder.path() / name, .layout = "csr"});
        return trial_of(kernel, 1, folder.path().string());
    };
    const std::string wrong = found("wrong.cpp", "#include \"arrays.hpp\"\n\nint nothing = unknown_name;\n");
    CHECK(wrong.find("wrong.cpp: ") == 0);
    CHECK(wrong.find(" cannot compile it\n") != std::string::npos);
    CHECK(wrong.find("wrong.cpp:3:15: error: ") != std::string::npos);
    const std::string other =
        found("other.cpp", "#include \"arrays.hpp\"\nint multiply(const Arrays&, const Value*, Value*, bool);");
    CHECK(other.find("other.cpp:2:5: error: ") != std::string::npos);
    CHECK(found("none.cpp", "#include \"arrays.hpp\"\nvoid multiplied() {}") ==
          "none.cpp: no function 'multiply'; expected\nextern \"C\" void multiply(const Arrays& arrays, const Value* x, Value* "
          "y, "
          "bool accumulate)");
    CHECK(found("overload.cpp", "#include \"arrays.hpp\"\nvoid multiply(const Arrays&, const Value*, Value*) {}") ==
          "overload.cpp: 'multiply' takes other parameters than expected:\nextern \"C\" void multiply(const Arrays& arrays, "
          "const Value* x, Value* y, bool accumulate)");
    const std::string missing = found("missing.cpp", R"(#include "arrays.hpp"
void helper();
void multiply(const Arrays&, const Value*, Value*, bool) { helper(); })");
    CHECK(missing.find("missing.cpp: cannot be loaded: ") == 0);
    CHECK(missing.find("undefined symbol: _Z6helperv") != std::string::npos);
    const KernelEntry absent = kernel_from_source({.file = folder.path() / "absent.cpp", .layout = "csr"});
    CHECK(trial_of(absent, 1, folder.path().string()) ==
          "absent.cpp: No such file or directory; expected the source of a kernel");
    // The file's own headers are found, and an outdated copy of the program's header is not used.
    write(folder.path() / "mine.hpp", "inline constexpr int mine = 1;\n");
    write(folder.path() / "arrays.hpp", "#error stale\n");
    CHECK(found("includes.cpp", R"(#include "mine.hpp"
#include "arrays.hpp"
void multiply(const Arrays& a, const Value*, Value* y, bool accumulate) {
    static_assert(mine == 1 && sizeof(Value) == 8);
    for (Index row = 0; row < a.row_count; ++row) y[row] = accumulate ? y[row] : 0;
})") == "fine");
}

TEST_CASE("a format is compiled again if a header of its folders has changed, for the host or a GPU, but not for other files") {
    const TemporaryFolder folder;
    for (const char* name : {"core/contract", "core/forecast", "core/matrix", "core/text", "core/system",
                             "kernels/common/entry", "kernels/device", "kernels/formats"}) {
        fs::create_directories(folder.path() / name);
    }
    const auto with = [&folder](const char* file) {
        write(folder.path() / file, file);
        return checksum_of_headers_in(folder.path());
    };
    std::string before = with("kernels/formats/sell.cpp");
    CHECK(with("kernels/common/entry/rows.cu") == before);
    for (const char* header :
         {"kernels/format.hpp", "kernels/common/entry/rows.hpp", "kernels/device/rows.cuh", "core/text/a.hpp"}) {
        CAPTURE(header);
        const std::string after = with(header);
        CHECK(after != before);
        before = after;
    }
}

TEST_CASE("a long list of messages is cut") {
    const auto text = [](int lines) {
        std::string messages;
        for (int i = 1; i <= lines; ++i) messages += fmt::format("line {}\n", i);
        try {
            throw_compile_error("a.cu", "NVRTC", messages);
        } catch (const RecipeError& error) {
            return std::string(error.what());
        }
    };
    CHECK(text(2) == "a.cu: NVRTC cannot compile it\nline 1\nline 2");
    CHECK(text(41).ends_with("\nline 40\n... and 1 line more"));
}

TEST_CASE("the examples compile for a GPU") {
    if (!nvrtc_absence_reason().empty()) {
        MESSAGE("skipped: " << nvrtc_absence_reason());
        return;
    }
    const TemporaryFolder folder;
    const auto compiled = [](const fs::path& file, const LayoutEntry& layout) {
        const std::string header = arrays_header(layout.name, layout.fields.f32().front(), Precision::f32);
        return compile_for_gpu(file, header, "sm_90", {"THREADS_PER_ROW=8", "THREADS_PER_BLOCK=256"});
    };
    const fs::path teaching = project_folder / "recipes" / "teaching";
    CHECK(compiled(teaching / "my_csr_kernel.cu", csr_entry()).substr(0, 4) ==
          "\x7f"
          "ELF");
    CHECK(compiled(teaching / "my_sell_kernel.cu", sell_entry()).find("multiply") != std::string::npos);
    // The file of a format, which also has a kernel.
    CHECK(compiled(teaching / "bitmap.hpp", format_from_file(teaching / "bitmap.hpp")).find("multiply") != std::string::npos);

    const auto refusal = [&](const std::string& text) {
        write(folder.path() / "wrong.cu", text);
        try {
            return compiled(folder.path() / "wrong.cu", csr_entry());
        } catch (const RecipeError& error) {
            return without(error.what(), folder.path().string());
        }
    };
    CHECK(refusal("#include \"arrays.hpp\"\n\nint nothing = unknown_name;\n")
              .find("wrong.cu: NVRTC cannot compile it\nwrong.cu(3): error: ") == 0);
    // A function other than the one that the header declares.
    CHECK(refusal("#include \"arrays.hpp\"\nextern \"C\" __global__ void multiply(Arrays, const Value*, Value*, bool*) {}")
              .find("wrong.cu(2): error: ") != std::string::npos);
    // The file's own headers are found, and an outdated copy of the program's header is not used.
    write(folder.path() / "mine.hpp", "#define MINE\n");
    write(folder.path() / "arrays.hpp", "#error stale\n");
    CHECK(refusal(R"(#include "mine.hpp"
#include "arrays.hpp"
#ifdef MINE
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    static_assert(sizeof(Value) == 4 && THREADS_PER_ROW == 8);
}
#endif
)")
              .find("multiply") != std::string::npos);
}

TEST_CASE("a text of a trial replaces a longer one, and is cut if it is too long") {
    std::array<char, 8> text{};
    copy_text(text, "multiplied");
    CHECK(text_of(text) == "multipl");
    copy_text(text, "read");
    CHECK(text_of(text) == "read");
}

}  // namespace
}  // namespace workbench
