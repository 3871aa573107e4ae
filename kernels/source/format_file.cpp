#include "kernels/source/format_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"
#include "core/system/checksum.hpp"
#include "core/system/compile.hpp"
#include "core/system/process.hpp"
#include "core/system/whole_file.hpp"
#include "kernels/common/compilation/compile.hpp"
#include "kernels/source/format_head.hpp"
#include "kernels/source/run_trial.hpp"
#include "kernels/source/try_format.hpp"

namespace workbench {
namespace {

constexpr const char* head_symbol = "workbench_format_head";
constexpr const char* entry_symbol = "workbench_format_entry";

/// The name of the format, which is that of its file. Throws RecipeError unless it can be part of a function's name.
std::string format_name(const std::filesystem::path& file) {
    const std::string name = file.stem().string();
    const auto is_letter = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    bool good = !name.empty() && name.size() <= 40 && is_letter(name.front());
    for (const char c : name) good = good && (is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0);
    if (good) return name;
    throw RecipeError(fmt::format(
        "{}: the name of a format is that of its file; expected lower-case letters, digits and _, beginning with a letter",
        file.string()));
}

/// The text that is compiled: the author's text behind the headers, and a function that returns its entry.
std::string wrapped(const std::filesystem::path& file, const std::string& name, const std::string& text) {
    return fmt::format(R"(#define WORKBENCH_FORMAT_FILE {0}
#include "kernels/source/format_head.hpp"
{1}{2}
#line 1 "the workbench"
extern "C" __attribute__((visibility("default"))) const workbench::FormatHead {4};
const workbench::FormatHead {4};
extern "C" __attribute__((visibility("default"))) void {5}(workbench::LayoutEntry& entry) {{
    entry = workbench::{3}_entry();
}}
)",
                       to_text(ParameterValue(file.string())), line_directive(file), text, name, head_symbol, entry_symbol);
}

/// Compiles the format, or finds that it was compiled, and returns the shared object.
std::filesystem::path compiled_format(const std::filesystem::path& file, const std::string& name, const WorkFolder& scratch) {
    const std::string text = source_text(file, "the source of a format");
    if (text.find(name + "_entry(") == std::string::npos) {
        throw RecipeError(
            fmt::format("{}: no function of its name; expected inline LayoutEntry {}_entry(), which returns the format",
                        file.string(), name));
    }
    // Optimized as the program is, for any processor, so that the kernels of a format are as fast, and round alike, here and
    // there.
    static const std::vector<std::string> options = {"-march=x86-64",
                                                     "-mtune=generic",
                                                     "-fno-openmp",
                                                     "-DNDEBUG",
                                                     "-ffp-contract=off",
                                                     "-fvisibility=hidden",
                                                     "-fvisibility-inlines-hidden",
                                                     "-DWORKBENCH_HAS_CUDA=0",
                                                     "-fmax-errors=5",
                                                     "-fno-diagnostics-show-caret",
                                                     "-w",
                                                     "-I" + headers_folder().string()};
    return kept_shared_object(file, wrapped(file, name, text), options, "formats",
                              fmt::format("{} {}", format_version, checksum_of_headers()), scratch.path())
        .file;
}

/// A shared object that stays loaded, because layouts and kernels that it made may outlive everything else.
class LoadedFormat {
public:
    LoadedFormat(const std::filesystem::path& file, const std::filesystem::path& library)
        : file_(file), library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw RecipeError(fmt::format("{}: it cannot be loaded: {}", file.string(), dlerror()));
        const auto* const head = static_cast<const FormatHead*>(dlsym(library_, head_symbol));
        if (head == nullptr || !(*head == FormatHead())) {
            throw RecipeError(
                fmt::format("{}: it was compiled with the headers of another version of the workbench ({}); "
                            "install program and headers together",
                            file.string(), headers_folder().string()));
        }
    }

    [[nodiscard]] LayoutEntry entry() const {
        using MakeEntry = void (*)(LayoutEntry&);
        LayoutEntry entry;
        reinterpret_cast<MakeEntry>(dlsym(library_, entry_symbol))(entry);
        entry.file = file_;
        return entry;
    }

private:
    std::filesystem::path file_;
    void* library_;
};

/// Beside a shared object: its checksum once it passed its trials.
std::filesystem::path passed_file(std::filesystem::path library) { return library += ".passed"; }

/// True if a recipe may leave out all parameters.
bool has_defaults(const LayoutEntry& entry) {
    return std::all_of(entry.parameters.begin(), entry.parameters.end(),
                       [](const ParameterDeclaration& one) { return one.optional || one.default_value.has_value(); });
}

LayoutEntry load(const std::filesystem::path& file, UnfinishedKernels& unfinished) {
    const std::string name = format_name(file);
    const WorkFolder scratch;
    const std::filesystem::path library = compiled_format(file, name, scratch);
    const std::string checksum = checksum_of_file(library);
    std::ifstream recorded(passed_file(library));
    std::string passed;
    std::getline(recorded, passed);
    if (passed != checksum) {
        constexpr double limit_seconds = 20;
        const TrialEnd end = try_in_copy(limit_seconds, [&] {
            begin_trial_step("loading it");
            require_complete(LoadedFormat(file, library).entry(), name);
        });
        if (end.kind != TrialKind::fine) {
            const bool names_file = end.kind == TrialKind::failed && end.text.starts_with(file.string());
            throw RecipeError(names_file ? end.text : fmt::format("{}: {}", file.string(), end.words));
        }
    }
    LayoutEntry entry = LoadedFormat(file, library).entry();
    entry.file_checksum = checksum;
    if (passed == checksum) return entry;
    try {
        if (has_defaults(entry)) try_format_on_battery(entry, Parameters(entry.parameters, {}), unfinished);
    } catch (const BrokenKernel& fault) {
        throw RecipeError(fault.what());
    }
    if (unfinished.empty()) write_whole_file(passed_file(library), checksum);
    return entry;
}

/// What tries a kernel of the format out, unless it did not end the trial of the format.
template <ValueType Value>
TryKernel<Value> unless_unfinished(const KernelEntry& kernel, const std::shared_ptr<const UnfinishedKernels>& unfinished) {
    const bool on_host = device_of(kernel.backend) == DeviceKind::host;
    return [name = kernel.name, on_host, try_out = kernel.try_out.template get<Value>(), unfinished](
               const Layout<Value>& layout, Device& device) {
        const auto found = unfinished->find(name);
        if (on_host && found != unfinished->end()) throw UnfinishedKernel(found->second);
        if (try_out) try_out(layout, device);
    };
}

}  // namespace

void require_complete(const LayoutEntry& entry, const std::string& name) {
    const auto require = [](bool good, const std::string& what) {
        if (!good) throw std::logic_error(what);
    };
    require(entry.name == name, fmt::format("the layout is named '{}'; expected the name of the file, '{}'", entry.name, name));
    require(!entry.summary.empty(), "its entry has no summary");
    require(entry.build.f32 != nullptr && entry.build.f64 != nullptr, "its entry has no function that builds the layout");
    require(!entry.kernels.empty(), "it has no kernels; expected .host<SCHEDULE>(...) or .cuda<SCHEDULE>(...)");
    std::set<std::string> names;
    for (const KernelEntry& kernel : entry.kernels) {
        require(names.insert(fmt::format("{} {}", name_of(kernel.backend), kernel.name)).second,
                fmt::format("it has two {} kernels '{}'", name_of(kernel.backend), kernel.name));
    }
    names = {"use", "source", "share", "kernel", "id"};
    for (const ParameterDeclaration& parameter : entry.parameters) {
        require(names.insert(parameter.name).second,
                fmt::format("a parameter cannot be named '{}': the name is taken", parameter.name));
        require(!parameter.help.empty(), fmt::format("parameter '{}' has no help", parameter.name));
        if (!parameter.default_value) continue;
        const std::string why = reason_to_refuse(parameter, *parameter.default_value);
        require(why.empty(), fmt::format("the default of parameter '{}': {}", parameter.name, why));
    }
}

const LayoutEntry& format_from_file(const std::filesystem::path& file) {
    static std::map<std::filesystem::path, std::unique_ptr<const LayoutEntry>> loaded;
    (void)source_text(file, "the source of a format");  // throws if it cannot be read
    const std::filesystem::path absolute = std::filesystem::canonical(file);
    std::unique_ptr<const LayoutEntry>& known = loaded[absolute];
    if (known == nullptr) {
        const auto unfinished = std::make_shared<UnfinishedKernels>();
        auto made = std::make_unique<LayoutEntry>(load(absolute, *unfinished));
        const LayoutEntry* const itself = made.get();
        made->try_out = [itself, unfinished](const StagedMatrix& staged, const Parameters& parameters, Precision precision) {
            try_format(*itself, staged, parameters, precision, *unfinished);
        };
        for (KernelEntry& kernel : made->kernels) {
            kernel.try_out = {unless_unfinished<float>(kernel, unfinished), unless_unfinished<double>(kernel, unfinished)};
        }
        known = std::move(made);
    }
    return *known;
}

}  // namespace workbench
