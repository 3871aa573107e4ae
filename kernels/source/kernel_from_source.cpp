#include "kernels/source/kernel_from_source.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/matrix/permutation.hpp"
#include "core/system/process.hpp"
#include "core/text/words.hpp"
#include "kernels/common/compilation/arrays_header.hpp"
#include "kernels/common/compilation/checked_driver.hpp"
#include "kernels/common/compilation/compile.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/source/run_trial.hpp"

namespace workbench {
namespace {

/// A source file and everything compiled from it.
class CompiledSource {
public:
    explicit CompiledSource(KernelSource source) : source_(std::move(source)) {}

    [[nodiscard]] const KernelSource& source() const { return source_; }
    [[nodiscard]] bool on_gpu() const { return source_.backend == Backend::cuda; }

    /// Compiles the source for a list of fields and returns the shared object.
    [[nodiscard]] const std::filesystem::path& shared_object(const std::vector<LayoutField>& fields, Precision precision) {
        const std::string header = arrays_header(source_.layout, fields, precision);
        const auto known = libraries_.find(header);
        if (known != libraries_.end()) return known->second;
        if (!folder_) folder_.emplace();
        const std::filesystem::path folder = folder_->path() / std::to_string(libraries_.size());
        std::filesystem::create_directory(folder);
        std::filesystem::path library = folder / "kernel.so";
        compile_for_host(source_.file, header, folder, library);
        return libraries_.emplace(header, std::move(library)).first->second;
    }

    /// Compiles the source for a list of fields and returns the image that the driver loads.
    [[nodiscard]] const std::string& image(const std::vector<LayoutField>& fields, Precision precision) {
        const std::string header = arrays_header(source_.layout, fields, precision);
        const auto known = images_.find(header);
        if (known != images_.end()) return known->second;
        return images_.emplace(header, compile_for_gpu(source_.file, header, gpu_architecture(), macros())).first->second;
    }

    /// Notes that the kernel printed something in its trial.
    void note_printing() {
        if (prints_) return;
        prints_ = true;
        const char* const text = on_gpu() ? "remove printf before measuring" : "its later output is discarded, but timed";
        (void)std::fputs(printable(fmt::format("note: {} prints; {}\n", source_.file.filename().string(), text)).c_str(),
                         stderr);
    }
    [[nodiscard]] bool prints() const { return prints_; }

private:
    [[nodiscard]] std::vector<std::string> macros() const {
        return {fmt::format("THREADS_PER_ROW={}", source_.threads_per_row),
                fmt::format("THREADS_PER_BLOCK={}", source_.threads_per_block)};
    }

    KernelSource source_;
    std::optional<WorkFolder> folder_;  // created by the first compilation
    std::map<std::string, std::filesystem::path> libraries_;
    std::map<std::string, std::string> images_;
    bool prints_ = false;
};

std::vector<LayoutField> fields_for_kernel(const auto& layout) {
    std::vector<LayoutField> fields = layout.fields();
    if (fields.empty()) throw Unsuitable("the layout has no list of fields that a kernel beside the recipe could take");
    return fields;
}

Launch launch_of(const KernelSource& source, const std::vector<LayoutField>& fields, const auto& layout) {
    Launch launch{.threads_per_block = static_cast<std::uint32_t>(source.threads_per_block),
                  .shared_bytes = static_cast<std::uint32_t>(source.shared_bytes),
                  .zero_y = source.zero_y};
    if (source.backend != Backend::cuda) return launch;
    const Offset count = thread_count(source.threads, launch_names(fields, layout.rows(), layout.columns()));
    const Offset each = source.threads_per_row;
    const Offset block = source.threads_per_block;
    constexpr Offset most_blocks = std::numeric_limits<std::int32_t>::max();
    if (count > most_blocks * block / each) {
        throw Unsuitable(
            fmt::format("threads = \"{}\" is {}, with threads_per_row = {} and threads_per_block = {} more than {} "
                        "blocks",
                        source.threads, count, each, block, most_blocks));
    }
    launch.blocks = static_cast<std::uint32_t>((count * each + block - 1) / block);
    return launch;
}

std::optional<Offset> prepared_bytes_of(const KernelSource& source, const std::vector<LayoutField>& fields,
                                        const auto& layout) {
    if (source.backend != Backend::cuda || source.prepared_bytes == KernelSource().prepared_bytes) return {};
    return thread_count(source.prepared_bytes, launch_names(fields, layout.rows(), layout.columns()));
}

/// The bytes that a product moves: what is prepared takes the place of the layout's arrays if it has a quarter of their bytes,
/// and otherwise adds to them.
template <ValueType Value>
std::int64_t bytes_with_prepared(const Layout<Value>& layout, std::int64_t prepared) {
    const std::int64_t vectors = (std::int64_t{layout.rows()} + layout.columns()) * std::int64_t{sizeof(Value)};
    const std::int64_t arrays = layout.bytes_to_move() - vectors;
    return vectors + prepared + (4 * prepared < arrays ? arrays : 0);
}

template <ValueType Value>
class HostSourceKernel final : public Kernel<Value> {
public:
    HostSourceKernel(CompiledSource& compiled, const Layout<Value>& layout)
        : zero_y_(compiled.source().zero_y), prints_(compiled.prints()), rows_(layout.rows()) {
        const std::vector<LayoutField> fields = fields_for_kernel(layout);
        arrays_ = pack_arrays(fields);
        std::size_t number = 0;
        for (const LayoutField& field : fields) {
            if (field.has_memory()) arrays_.point(number++, field.data);
        }
        // Never closed, because OpenMP threads may still be executing its code.
        void* const library = dlopen(compiled.shared_object(fields, precision_of<Value>).c_str(), RTLD_NOW | RTLD_LOCAL);
        void* const function = library == nullptr ? nullptr : dlsym(library, kernel_function);
        if (function == nullptr) throw RecipeError(fmt::format("{}: {}", compiled.source().file.string(), dlerror()));
        multiply_ = reinterpret_cast<Multiply>(function);
        release_ = reinterpret_cast<Release>(dlsym(library, release_function));
        if (void* const prepare = dlsym(library, prepare_function); prepare != nullptr) {
            prepare_own(reinterpret_cast<Prepare>(prepare), layout);
        }
    }
    HostSourceKernel(const HostSourceKernel&) = delete;
    HostSourceKernel& operator=(const HostSourceKernel&) = delete;
    ~HostSourceKernel() override {
        if (prepared_ != nullptr && release_ != nullptr) release_(prepared_);
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (zero_y_ && !accumulate) std::fill(y, y + rows_, Value{0});
        std::optional<NoOutput> no_output;  // costs time only if the kernel prints, which takes longer
        if (prints_) no_output.emplace();
        multiply_(arrays_.bytes.data(), x, y, accumulate);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_; }

private:
    using Multiply = void (*)(const void* arrays, const Value* x, Value* y, bool accumulate);
    using Prepare = void* (*)(const void* arrays);
    using Release = void (*)(void* prepared);

    void prepare_own(Prepare prepare, const Layout<Value>& layout) {
        std::optional<NoOutput> no_output;
        if (prints_) no_output.emplace();
        const std::int64_t before = bytes_of_malloc();
        prepared_ = prepare(arrays_.bytes.data());
        const std::int64_t own = std::max<std::int64_t>(0, bytes_of_malloc() - before);
        arrays_.set_prepared(prepared_);
        own_bytes_ = bytes_with_prepared(layout, own);
    }

    static std::int64_t bytes_of_malloc() {
        const auto now = mallinfo2();
        return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
    }

    bool zero_y_;
    bool prints_;
    Index rows_;
    PackedArrays arrays_;
    Multiply multiply_ = nullptr;
    Release release_ = nullptr;
    void* prepared_ = nullptr;
    std::optional<std::int64_t> own_bytes_;
};

template <ValueType Value>
class GpuSourceKernel final : public Kernel<Value> {
public:
    GpuSourceKernel(CompiledSource& compiled, const Layout<Value>& layout, Device& device)
        : rows_(layout.rows()), stream_(stream_of(device)) {
        const std::vector<LayoutField> fields = fields_for_kernel(layout);
        launch_ = launch_of(compiled.source(), fields, layout);
        arrays_ = pack_arrays(fields);
        for (const LayoutField& field : fields) {
            if (!field.has_memory()) continue;
            const std::span<const std::byte> bytes(static_cast<const std::byte*>(field.data), field.bytes());
            memory_.push_back(to_device(device, bytes, field.name));
            arrays_.point(memory_.size() - 1, memory_.back().address());
        }
        function_.emplace(compiled.image(fields, precision_of<Value>), kernel_function);
        check_driver(allow_shared_memory(checked_driver(), launch_, function_->get()), "cuFuncSetAttribute");
        if (const Offset bytes = prepared_bytes_of(compiled.source(), fields, layout).value_or(0); bytes > 0) {
            prepared_ = device.allocate(static_cast<std::size_t>(bytes), "what the kernel prepares");
            arrays_.set_prepared(prepared_.address());
            own_bytes_ = bytes_with_prepared(layout, bytes);
            prepare_own();
        }
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        check_driver(launch_product(checked_driver(), launch_, function_->get(), arrays_.bytes.data(),
                                    reinterpret_cast<DriverAddress>(x), reinterpret_cast<DriverAddress>(y),
                                    static_cast<std::size_t>(rows_) * sizeof(Value), accumulate, stream_),
                     "cuLaunchKernel");
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return own_bytes_; }

private:
    void prepare_own() {
        const CudaDriver& driver = checked_driver();
        const auto memory = reinterpret_cast<DriverAddress>(prepared_.address());
        check_driver(driver.fill_on_stream(memory, 0, prepared_.bytes(), stream_), "cuMemsetD8Async");
        void* const prepare = function_->other(prepare_function);
        if (prepare == nullptr) return;
        check_driver(allow_shared_memory(driver, launch_, prepare), "cuFuncSetAttribute");
        check_driver(launch_prepare(driver, launch_, prepare, arrays_.bytes.data(), stream_), "cuLaunchKernel");
        check_driver(driver.synchronise(), "cuCtxSynchronize");
    }

    Index rows_;
    void* stream_;
    Launch launch_;
    PackedArrays arrays_;
    std::vector<DeviceMemory> memory_;
    DeviceMemory prepared_;
    std::optional<LoadedFunction> function_;
    std::optional<std::int64_t> own_bytes_;
};

/// Adds the result of a kernel that computes y = A x alone from a buffer.
template <ValueType Value>
class AddedFromBuffer final : public Kernel<Value> {
public:
    AddedFromBuffer(std::unique_ptr<Kernel<Value>> kernel, Index rows, Device& device)
        : kernel_(std::move(kernel)), rows_(rows), device_(device) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) return kernel_->run(x, y, false);
        kernel_->run(x, buffer_.template as<Value>(), false);
        device_.scatter_add(buffer_.template as<const Value>(), places_.template as<const Index>(), rows_, y);
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return kernel_->own_bytes_to_move(); }

private:
    std::unique_ptr<Kernel<Value>> kernel_;
    Index rows_;
    Device& device_;
    DeviceMemory buffer_ = device_.allocate(static_cast<std::size_t>(rows_) * sizeof(Value), "y before it is added");
    DeviceMemory places_ = to_device(device_, Permutation::identity(rows_).old_of_new(), "the rows of y");
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(CompiledSource& compiled, const Layout<Value>& layout, Device& device) {
    std::unique_ptr<Kernel<Value>> kernel;
    if (compiled.on_gpu()) {
        kernel = std::make_unique<GpuSourceKernel<Value>>(compiled, layout, device);
    } else {
        kernel = std::make_unique<HostSourceKernel<Value>>(compiled, layout);
    }
    if (compiled.source().accumulate) return kernel;
    return std::make_unique<AddedFromBuffer<Value>>(std::move(kernel), layout.rows(), device);
}

template <ValueType Value>
void try_out(CompiledSource& compiled, const Layout<Value>& layout) {
    const KernelSource& source = compiled.source();
    const std::vector<LayoutField> fields = fields_for_kernel(layout);
    TrialSetUp set_up{.file = source.file,
                      .on_gpu = compiled.on_gpu(),
                      .launch = launch_of(source, fields, layout),
                      .limit_seconds = source.limit_seconds,
                      .accumulates = source.accumulate,
                      .prepared_bytes = prepared_bytes_of(source, fields, layout),
                      .precision = precision_of<Value>,
                      .rows = layout.rows(),
                      .columns = layout.columns()};
    if (compiled.on_gpu()) {
        set_up.image = compiled.image(fields, precision_of<Value>);
    } else {
        set_up.shared_object = compiled.shared_object(fields, precision_of<Value>);
    }
    if (try_kernel(set_up, fields)) compiled.note_printing();
}

template <ValueType Value>
PrepareKernel<Value> preparing(const std::shared_ptr<CompiledSource>& compiled) {
    return [compiled](const Layout<Value>& layout, Device& device) { return prepare<Value>(*compiled, layout, device); };
}

template <ValueType Value>
TryKernel<Value> trying(const std::shared_ptr<CompiledSource>& compiled) {
    return [compiled](const Layout<Value>& layout, Device&) { try_out<Value>(*compiled, layout); };
}

}  // namespace

KernelEntry kernel_from_source(const KernelSource& source) {
    const auto compiled = std::make_shared<CompiledSource>(source);
    return {.name = source.name(),
            .backend = source.backend,
            .summary = fmt::format("beside the recipe, in {}", source.file.filename().string()),
            .prepare = {preparing<float>(compiled), preparing<double>(compiled)},
            .try_out = {trying<float>(compiled), trying<double>(compiled)}};
}

}  // namespace workbench
