// Kernels beside a recipe on a GPU. They need NVRTC and are skipped, with a message, if it is missing.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "core/matrix/battery.hpp"
#include "gpu/kernel_checks.hpp"
#include "kernels/common/compilation/compile.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/source/format_file.hpp"
#include "kernels/source/kernel_from_source.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

bool can_compile() {
    const std::string why = nvrtc_absence_reason();
    if (!why.empty()) MESSAGE("skipped: " << why);
    return why.empty();
}

/// From the source tree, or from the package that contains the tests.
fs::path example(const std::string& file) {
    const char* const layouts = std::getenv("WORKBENCH_LAYOUT_RECIPES");
    const fs::path recipes = layouts == nullptr ? fs::path(WORKBENCH_SOURCE_DIR) / "recipes" : fs::path(layouts) / "../recipes";
    return recipes / "teaching" / file;
}

/// The layout with this kernel only.
LayoutEntry with_only(LayoutEntry layout, const KernelSource& source) {
    layout.kernels = {kernel_from_source(source)};
    return layout;
}

KernelSource gpu_source(const fs::path& file, const std::string& layout) {
    return {.file = file, .layout = layout, .backend = Backend::cuda, .limit_seconds = 2};
}

std::string outcome_of(const fs::path& file, Index rows, Device& device, const fs::path& folder, int threads_per_row = 1) {
    std::vector<Entry> entries;
    for (Index i = 0; i < rows; ++i) entries.push_back({i, i, 1.0 + i});
    KernelSource source = gpu_source(file, "csr");
    source.threads_per_row = threads_per_row;
    const StagedMatrix staged = stage_input(csr_from_entries(rows, rows, entries));
    std::string text;
    try {
        const auto outcomes = try_kernels<double>(with_only(csr_entry(), source), Backend::cuda, staged, {}, device);
        text = outcomes.front().verified() ? "fine" : outcomes.front().reason;
    } catch (const std::exception& refusal) {
        text = refusal.what();
    }
    const std::string prefix = folder.string() + "/";
    for (std::size_t at = 0; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
}

}  // namespace

TEST_SUITE("kernel_source") {
    TEST_CASE_TEMPLATE("the examples give correct products on the battery", Value, float, double) {
        if (!can_compile()) return;
        const auto device = make_cuda_device();
        for (const int threads_per_row : {1, 8, 32}) {
            KernelSource csr = gpu_source(example("my_csr_kernel.cu"), "csr");
            csr.threads_per_row = threads_per_row;
            const LayoutEntry layout = with_only(csr_entry(), csr);
            for (const NamedMatrix& named : battery()) {
                check_cuda_kernels<Value>(layout, named.name, stage_input(named.matrix), {}, *device);
            }
        }
        for (const char* name : {"bitmap", "sell_delta"}) {
            KernelSource own = gpu_source(example(std::string(name) + ".hpp"), name);  // the file of the format
            own.threads_per_row = own.layout == "bitmap" ? 4 : 1;
            const LayoutEntry format = with_only(format_from_file(own.file), own);
            const Given any_padding = format.parameters.empty() ? Given{} : Given{{"slots_per_nonzero", 1e9}};
            for (const NamedMatrix& named : battery()) {
                check_cuda_kernels<Value>(format, named.name, stage_input(named.matrix), any_padding, *device);
            }
        }
        const LayoutEntry layout = with_only(sell_entry(), gpu_source(example("my_sell_kernel.cu"), "sell"));
        for (const NamedMatrix& named : battery()) {
            check_cuda_kernels<Value>(layout, named.name, stage_input(named.matrix), slice_height(7), *device);
        }
    }

    TEST_CASE_TEMPLATE("formats in one file give correct products on the battery, and in the rows of a share", Value, float,
                       double) {
        if (!can_compile()) return;
        const auto device = make_cuda_device();
        for (const char* file :
             {"my_csr16.hpp", "my_sell.hpp", "sell8.hpp", "sell_delta.hpp", "sell_packed.hpp", "bitmap.hpp"}) {
            const LayoutEntry& entry = format_from_file(example(file));
            const Given any_padding = entry.parameters.empty() ? Given{} : Given{{"slots_per_nonzero", 1e9}};
            for (const NamedMatrix& named : battery()) {
                CsrMatrix matrix = named.matrix;
                if (std::string_view(file) == "sell_packed.hpp") {  // has a dictionary
                    for (Offset k = 0; k < matrix.nonzeros(); ++k) matrix.values[k] = static_cast<double>(k % 5) - 1;
                }
                check_cuda_kernels<Value>(entry, named.name, stage_input(std::move(matrix)), any_padding, *device);
            }
            const StagedMatrix three = stage_input(csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 2}, {1, 2, 3}, {2, 1, 4}}));
            const auto layout = build<Value>(entry, three, {});
            const std::vector<Index> rows{4, 0, 2};
            const std::vector<Value> x{1, 10, 100};
            const std::vector<Value> before{1, 2, 3, 4, 5};
            DeviceMemory y = to_device<Value>(*device, before, "y");
            const DeviceMemory x_on_device = to_device<Value>(*device, x, "x");
            for (const KernelEntry& kernel : entry.kernels) {
                if (kernel.backend != Backend::cuda) continue;
                const auto prepared = kernel.prepare_rows.template get<Value>()(*layout, rows, *device);
                prepared->run(x_on_device.as<Value>(), y.as<Value>(), false);
                std::vector<Value> after(5);
                device->download(y, std::as_writable_bytes(std::span(after)));
                CHECK(after == std::vector<Value>{300, 2, 40, 4, 2});
            }
        }
    }

    TEST_CASE("a kernel that adds to y gets a y of zeros, and kernels get the requested shared memory") {
        if (!can_compile()) return;
        const auto device = make_cuda_device();
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "adds.cu") << R"(#include "arrays.hpp"
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    extern __shared__ Value shared[];
    const Offset slot = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    if (slot >= arrays.values_size) return;
    Index row = 0;
    while (arrays.row_offsets[row + 1] <= slot) ++row;
    Value& product = shared[threadIdx.x + 12000];
    product = arrays.values[slot] * x[arrays.column_indices[slot]];
    atomicAdd(y + row, product);
}
)";
        KernelSource source = gpu_source(folder.path() / "adds.cu", "csr");
        source.threads = "slots";
        source.zero_y = true;
        source.shared_bytes = 100000;
        const LayoutEntry layout = with_only(csr_entry(), source);
        for (const NamedMatrix& named : battery()) {
            check_cuda_kernels<double>(layout, named.name, stage_input(named.matrix), {}, *device);
        }
    }

    TEST_CASE("a kernel finds the memory that its file prepares") {
        if (!can_compile()) return;
        const auto device = make_cuda_device();
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "doubled.cu") << R"(#include "arrays.hpp"
extern "C" __global__ void prepare(Arrays arrays) {
    const Offset row = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= arrays.row_count) return;
    Value* const doubled = static_cast<Value*>(arrays.prepared);
    for (Offset k = arrays.row_offsets[row]; k < arrays.row_offsets[row + 1]; ++k) doubled[k] += 2 * arrays.values[k];
}
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    const Offset row = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= arrays.row_count) return;
    Value sum = 0;
    const Value* const doubled = static_cast<const Value*>(arrays.prepared);
    for (Offset k = arrays.row_offsets[row]; k < arrays.row_offsets[row + 1]; ++k) sum += doubled[k] * x[arrays.column_indices[k]];
    y[row] = (accumulate ? y[row] : 0) + sum / 2;
}
)";
        KernelSource source = gpu_source(folder.path() / "doubled.cu", "csr");
        source.prepared_bytes = "8 * slots";
        const LayoutEntry layout = with_only(csr_entry(), source);
        for (const NamedMatrix& named : battery()) {
            check_cuda_kernels<double>(layout, named.name, stage_input(named.matrix), {}, *device);
        }
        // 2 * 3 vectors and 3 doubled values in the place of the arrays.
        const auto three =
            build<double>(layout, stage_input(csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}, {2, 2, 3}})), {});
        const auto prepared = layout.kernels.front().prepare.get<double>()(*three, *device);
        CHECK(prepared->own_bytes_to_move() == 6 * 8 + 3 * 8);

        std::ofstream(folder.path() / "behind.cu") << R"(#include "arrays.hpp"
extern "C" __global__ void prepare(Arrays arrays) { static_cast<char*>(arrays.prepared)[3] = 1; }
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {}
)";
        KernelSource behind = gpu_source(folder.path() / "behind.cu", "csr");
        const auto failure = [&](const char* bytes) {
            behind.prepared_bytes = bytes;
            const StagedMatrix one = stage_input(csr_from_entries(1, 1, std::vector<Entry>{{0, 0, 1}}));
            const std::string text =
                try_kernels<double>(with_only(csr_entry(), behind), Backend::cuda, one, {}, *device).front().reason;
            return text.substr(text.find("behind.cu"));
        };
        CHECK(failure("3") == "behind.cu writes outside prepared, before its beginning or behind its end (preparing)");
        CHECK(failure("0") == "behind.cu fails on the device: prepare has no memory to fill: prepared_bytes is 0 (preparing)");
    }

    TEST_CASE("failures of a kernel for a GPU are reported, and the device remains usable") {
        if (!can_compile()) return;
        const auto device = make_cuda_device();
        const TemporaryFolder folder;
        const fs::path file = folder.path() / "faults.cu";
        std::ofstream(file) << R"(#include "arrays.hpp"
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    const Index rows = arrays.row_count;
    const Offset row = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row < rows) y[row] = (accumulate ? y[row] : 0) + arrays.values[row] * x[row];
    if (row != 0) return;
    const volatile Value* const here = y;  // what is volatile stays in a loop
    switch (rows) {
        case 2: while (*here == *here) {} break;
        case 3: y[3] = 1; break;
        case 4: y[-1] = 1; break;
        case 5: const_cast<Value*>(arrays.values)[2] = 1; break;
        case 6: *reinterpret_cast<volatile int*>(16L) = 1; break;
        case 7: const_cast<Value*>(x)[7] = 1; break;
        case 8: __trap();
        case 9: while (accumulate && *here == *here) {} break;
        case 10: y[7] = 0; break;
        default: break;
    }
}
)";
        const auto found = [&](Index rows) { return outcome_of(file, rows, *device, folder.path()); };
        CHECK(found(0) == "fine");
        CHECK(found(1) == "fine");
        CHECK(found(2) == "faults.cu: not finished in 2 s (limit: limit_seconds)");
        CHECK(found(3) == "faults.cu writes outside y, before its beginning or behind its end");
        CHECK(found(4) == "faults.cu writes outside y, before its beginning or behind its end");
        CHECK(found(5) == "faults.cu writes to values, which is only to be read");
        CHECK(found(6) == "faults.cu fails on the device: CUDA_ERROR_ILLEGAL_ADDRESS");
        CHECK(found(7) == "faults.cu writes outside x, before its beginning or behind its end");
        CHECK(found(8).starts_with("faults.cu fails on the device: CUDA_ERROR_"));
        CHECK(found(9) == "faults.cu: not finished in 2 s (limit: limit_seconds) (adding to a y that was there)");
        CHECK(found(10).starts_with("row 7: y = 0, expected exactly "));
        CHECK(found(11) == "fine");
        CHECK(found(1000) == "fine");
    }

    TEST_CASE("a kernel that races, and one that stops multiplying when it is timed, are wrong") {
        if (!can_compile()) return;
        const auto device = make_cuda_device();
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "stops.cu") << R"(#include "arrays.hpp"
__device__ unsigned calls;
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    __shared__ unsigned call;
    if (threadIdx.x == 0) call = x[0] == x[1] ? 0 : atomicAdd(&calls, 1);  // in the trial x is 1
    __syncthreads();
    const Index row = threadIdx.x;
    if (row >= arrays.row_count || call >= 3) return;
    y[row] = (accumulate ? y[row] : 0) + arrays.values[row] * x[row];
}
)";
        // The exact check has a module of its own; of the real one two products are verified, and one precedes the samples.
        const std::string stops = outcome_of(folder.path() / "stops.cu", 3, *device, folder.path());
        CHECK_MESSAGE(stops.find("was never written (in timed run 1, the kernel was right before)") != std::string::npos,
                      stops);
        std::ofstream(folder.path() / "races.cu") << R"(#include "arrays.hpp"
extern "C" __global__ void multiply(Arrays arrays, const Value* x, Value* y, bool accumulate) {
    const Offset row = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= arrays.row_count) return;
    y[row] = (accumulate ? y[row] : 0) + arrays.values[row] * x[row];
    *const_cast<volatile Value*>(y) += 1;
}
)";
        CHECK(outcome_of(folder.path() / "races.cu", 100000, *device, folder.path()) != "fine");
    }

    TEST_CASE("sources without a kernel") {
        if (!can_compile()) return;
        const auto device = make_cuda_device();
        const TemporaryFolder folder;
        const auto found = [&](const std::string& text) {
            std::ofstream(folder.path() / "wrong.cu") << "#include \"arrays.hpp\"\n" << text;
            return outcome_of(folder.path() / "wrong.cu", 1, *device, folder.path());
        };
        CHECK(found("int nothing = unknown_name;").starts_with("wrong.cu: NVRTC cannot compile it\nwrong.cu(2): error: "));
        CHECK(
            found("extern \"C\" __global__ void multiplied() {}") ==
            "wrong.cu: no function 'multiply'; expected\nextern \"C\" __global__ void multiply(Arrays arrays, const Value* x, "
            "Value* y, bool accumulate)");
        CHECK(
            found("__global__ void multiply(Arrays, const Value*, Value*) {}") ==
            "wrong.cu: 'multiply' takes other parameters than expected:\nextern \"C\" __global__ void multiply(Arrays arrays, "
            "const Value* x, Value* y, bool accumulate)");
    }
}

}  // namespace workbench
