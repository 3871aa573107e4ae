// NVRTC, the CUDA compiler library: opened when the first kernel needs it, never linked; nvrtc.h is not needed.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <type_traits>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/system/checksum.hpp"
#include "core/system/compile.hpp"
#include "kernels/common/compilation/arrays_header.hpp"
#include "kernels/common/compilation/compile.hpp"
#include "kernels/common/compilation/device_layouts.hpp"
#include "kernels/common/compilation/device_std.hpp"

namespace workbench {
namespace {

using Result = int;  // 0: success
using Program = void*;

/// Function pointers with the signatures of nvrtc.h.
struct Nvrtc {
    Result (*version)(int* major, int* minor) = nullptr;
    Result (*create)(Program*, const char* source, const char* name, int header_count, const char* const* headers,
                     const char* const* header_names) = nullptr;
    Result (*compile)(Program, int option_count, const char* const* options) = nullptr;
    Result (*log_size)(Program, std::size_t*) = nullptr;
    Result (*log)(Program, char*) = nullptr;
    Result (*image_size)(Program, std::size_t*) = nullptr;
    Result (*image)(Program, char*) = nullptr;
    Result (*add_name)(Program, const char* expression) = nullptr;
    Result (*mangled_name)(Program, const char* expression, const char** name) = nullptr;
    Result (*destroy)(Program*) = nullptr;
    const char* (*error_text)(Result) = nullptr;

    std::filesystem::path toolkit;  // the CUDA toolkit that the library belongs to; empty: unknown
    std::string why_not;            // why it cannot be used; empty: it can
};

void* open_library() {
    for (const char* folder : {"", "/usr/local/cuda/lib64/", "/opt/cuda/lib64/"}) {
        for (const char* file : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
            void* const library = dlopen((std::string(folder) + file).c_str(), RTLD_NOW | RTLD_LOCAL);
            if (library != nullptr) return library;
        }
    }
    return nullptr;
}

Nvrtc open_nvrtc() {
    Nvrtc nvrtc;
    void* const library = open_library();
    if (library == nullptr) {
        nvrtc.why_not =
            "NVRTC is not available: neither libnvrtc.so.13 nor libnvrtc.so.12 is where libraries are looked for or in "
            "/usr/local/cuda/lib64; install the CUDA toolkit, or its package cuda-nvrtc, or set LD_LIBRARY_PATH";
        return nvrtc;
    }
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (function == nullptr) nvrtc.why_not = fmt::format("NVRTC is not available: the library has no {}", name);
    };
    find(nvrtc.version, "nvrtcVersion");
    find(nvrtc.create, "nvrtcCreateProgram");
    find(nvrtc.compile, "nvrtcCompileProgram");
    find(nvrtc.log_size, "nvrtcGetProgramLogSize");
    find(nvrtc.log, "nvrtcGetProgramLog");
    find(nvrtc.image_size, "nvrtcGetCUBINSize");
    find(nvrtc.image, "nvrtcGetCUBIN");
    find(nvrtc.add_name, "nvrtcAddNameExpression");
    find(nvrtc.mangled_name, "nvrtcGetLoweredName");
    find(nvrtc.destroy, "nvrtcDestroyProgram");
    find(nvrtc.error_text, "nvrtcGetErrorString");
    Dl_info about{};
    if (nvrtc.why_not.empty() && dladdr(reinterpret_cast<void*>(nvrtc.create), &about) != 0) {
        // TOOLKIT/lib64/libnvrtc.so.13, or TOOLKIT/targets/x86_64-linux/lib/...; the headers are beside that folder.
        std::error_code ignored;
        const std::filesystem::path file = std::filesystem::canonical(about.dli_fname, ignored);
        const std::filesystem::path include = file.parent_path().parent_path() / "include";
        if (!ignored && std::filesystem::exists(include / "cuda_runtime.h", ignored)) nvrtc.toolkit = include;
    }
    return nvrtc;
}

const Nvrtc& nvrtc() {
    static const Nvrtc opened = open_nvrtc();
    return opened;
}

void check(Result result, const char* call) {
    if (result != 0) throw MachineError(fmt::format("NVRTC: {}: {}", call, nvrtc().error_text(result)));
}

std::string version_text() {
    int major = 0;
    int minor = 0;
    check(nvrtc().version(&major, &minor), "nvrtcVersion");
    return fmt::format("NVRTC {}.{}", major, minor);
}

class OneProgram {
public:
    /// name: of the source. Headers are looked for beside it before they are looked for in folders that options name.
    OneProgram(const std::string& source, const std::string& name, std::span<const DeviceHeader> headers) {
        std::vector<const char*> names;
        std::vector<const char*> texts;
        for (const DeviceHeader& header : headers) {
            names.push_back(header.name);
            texts.push_back(header.text);
        }
        check(nvrtc().create(&program_, source.c_str(), name.c_str(), static_cast<int>(headers.size()), texts.data(),
                             names.data()),
              "nvrtcCreateProgram");
    }
    ~OneProgram() { (void)nvrtc().destroy(&program_); }
    OneProgram(const OneProgram&) = delete;
    OneProgram& operator=(const OneProgram&) = delete;

    void add_name(const std::string& expression) {
        check(nvrtc().add_name(program_, expression.c_str()), "nvrtcAddNameExpression");
    }
    [[nodiscard]] std::string mangled_name(const std::string& expression) const {
        const char* name = nullptr;
        check(nvrtc().mangled_name(program_, expression.c_str(), &name), "nvrtcGetLoweredName");
        return name;
    }

    /// Throws RecipeError with the compiler's messages on `file`.
    void compile(const std::filesystem::path& file, std::vector<std::string> options) {
        options.push_back("--include-path=" + std::filesystem::absolute(file).parent_path().string());
        if (!nvrtc().toolkit.empty()) options.push_back("--include-path=" + nvrtc().toolkit.string());
        std::vector<const char*> words;
        for (const std::string& option : options) words.push_back(option.c_str());
        const Result result = nvrtc().compile(program_, static_cast<int>(words.size()), words.data());
        constexpr Result compilation_failed = 6;
        if (result == compilation_failed) {
            std::string text = messages();
            while (!text.empty() && text.back() == '\0') text.pop_back();
            throw_compile_error(file, "NVRTC", text);
        }
        check(result, "nvrtcCompileProgram");
    }
    [[nodiscard]] std::string image() const { return fetch(nvrtc().image_size, nvrtc().image, "nvrtcGetCUBIN"); }

private:
    [[nodiscard]] std::string messages() const { return fetch(nvrtc().log_size, nvrtc().log, "nvrtcGetProgramLog"); }
    [[nodiscard]] std::string fetch(Result (*size_of)(Program, std::size_t*), Result (*get)(Program, char*),
                                    const char* call) const {
        std::size_t size = 0;
        check(size_of(program_, &size), call);
        std::string text(size, '\0');
        check(get(program_, text.data()), call);
        return text;
    }

    Program program_ = nullptr;
};

}  // namespace

std::string nvrtc_absence_reason() { return nvrtc().why_not; }

std::string compile_for_gpu(const std::filesystem::path& file, const std::string& header, const std::string& architecture,
                            const std::vector<std::string>& macros) {
    const std::string source = source_behind_header(file);
    if (const std::string why = nvrtc_absence_reason(); !why.empty()) throw MachineError(why);
    const DeviceHeader arrays{arrays_header_name, header.c_str()};
    OneProgram program(source, "kernel.cu", {&arrays, 1});
    std::vector<std::string> options = {"--gpu-architecture=" + architecture, "-std=c++20", "--generate-line-info"};
    for (const std::string& macro : macros) options.push_back("--define-macro=" + macro);
    program.compile(file, std::move(options));
    return program.image();
}

GpuKernelImage compile_instance_for_gpu(const std::filesystem::path& file, const std::filesystem::path& headers,
                                        const std::string& instance, const std::string& architecture) {
    if (const std::string why = nvrtc_absence_reason(); !why.empty()) throw MachineError(why);
    // Compilers print the names of types in the namespace of the function that asks for them without that namespace.
    const std::string source =
        fmt::format("#include \"kernels/common/schedule/vectors_kernel.cuh\"\n#include \"{}\"\nusing namespace workbench;\n",
                    std::filesystem::absolute(file).string());
    std::vector<DeviceHeader> all(std::begin(device_headers), std::end(device_headers));
    for (const char* const name : headers_of_algorithms) all.push_back({name, device_algorithms});
    for (const char* const name : headers_of_layouts) all.push_back({name, device_layouts});
    std::string made_from = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", source, instance, architecture, version_text(),
                                        checksum_of_source(file), checksum_of_headers());
    for (const DeviceHeader& header : all) made_from += header.text;
    const std::string kept = kept_bytes("kernels", checksum_of(made_from), [&] {
        OneProgram program(source, (headers / "kernel.cu").string(), all);
        program.add_name(instance);
        // Schedules are constexpr functions without __device__, because the host also calls them.
        program.compile(file, {"--gpu-architecture=" + architecture, "-std=c++20", "--generate-line-info",
                               "--device-as-default-execution-space", "--include-path=" + headers.string()});
        return program.mangled_name(instance) + '\n' + program.image();
    });
    const std::size_t line = kept.find('\n');
    return {.image = kept.substr(line + 1), .function = kept.substr(0, line)};
}

}  // namespace workbench
