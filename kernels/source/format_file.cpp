#include "kernels/source/format_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "kernels/common/entry/format_head.hpp"
#include "kernels/source/compile.hpp"
#include "kernels/source/forked_trial.hpp"
#include "kernels/source/headers_folder.hpp"
#include "kernels/source/process.hpp"
#include "kernels/source/try_format.hpp"
#include "pipeline/contract/checksum.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/whole_file.hpp"

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

/// What is compiled: the author's file behind the headers, and how the program gets at its entry.
std::string wrapper_of(const std::filesystem::path& file, const std::string& name) {
    std::string quoted;
    for (const char character : file.string()) {
        if (character == '"' || character == '\\') quoted += '\\';
        quoted += character;
    }
    return fmt::format(R"(#define WORKBENCH_FORMAT_FILE "{0}"
#include "kernels/common/entry/format_head.hpp"
#include "{0}"

#line 1 "the workbench"
extern "C" __attribute__((visibility("default"))) const workbench::FormatHead {2};
const workbench::FormatHead {2};
extern "C" __attribute__((visibility("default"))) void {3}(workbench::LayoutEntry& entry) {{
    entry = workbench::{1}_entry();
}}
)",
                       quoted, name, head_symbol, entry_symbol);
}

/// The files that a compilation read according to the dependency file that the compiler wrote, except the system's.
std::vector<std::filesystem::path> read_by_compiler(const std::filesystem::path& dependencies) {
    std::ifstream stream(dependencies);
    std::vector<std::filesystem::path> files;
    std::string word;
    stream >> word;  // the target
    while (stream >> word) {
        if (word != "\\") files.emplace_back(word);
    }
    return files;
}

/// "checksum path", line by line.
std::string checksums_of(const std::vector<std::filesystem::path>& files) {
    std::string lines;
    for (const std::filesystem::path& file : files) {
        std::ifstream stream(file, std::ios::binary);
        std::ostringstream text;
        text << stream.rdbuf();
        lines += fmt::format("{} {}\n", checksum_of(text.str()), file.string());
    }
    return lines;
}

/// True if the files that a compilation read are as they were.
bool is_current(const std::filesystem::path& recorded) {
    std::ifstream stream(recorded);
    std::vector<std::filesystem::path> files;
    std::string lines;
    for (std::string line; std::getline(stream, line);) {
        lines += line + "\n";
        if (line.size() > checksum_letters + 1) files.emplace_back(line.substr(checksum_letters + 1));
    }
    return !files.empty() && checksums_of(files) == lines;
}

const std::vector<std::string>& compiler_options() {
    // Those of the program, so that the kernels of a format are as fast, and round alike, here and there.
    static const std::vector<std::string> options = {"-std=c++20",
                                                     "-O3",
                                                     "-DNDEBUG",
                                                     "-ffp-contract=off",
                                                     "-fPIC",
                                                     "-shared",
                                                     "-fvisibility=hidden",
                                                     "-fvisibility-inlines-hidden",
                                                     "-DWORKBENCH_HAS_CUDA=0",
                                                     "-fmax-errors=5",
                                                     "-fno-diagnostics-show-caret",
                                                     "-fdiagnostics-color=never",
                                                     "-w"};
    return options;
}

/// Compiles the format, or finds that it was compiled, and returns the shared object.
std::filesystem::path compiled_format(const std::filesystem::path& file, const std::string& name) {
    if (source_text(file).find(name + "_entry(") == std::string::npos) {
        throw RecipeError(
            fmt::format("{}: no function of its name; expected inline LayoutEntry {}_entry(), which returns the format",
                        file.string(), name));
    }
    const std::string wrapper = wrapper_of(file, name);
    std::string key = fmt::format("{}\n{}\n{}\n", format_version, wrapper, headers_folder().string());
    for (const std::string& option : compiler_options()) key += option + "\n";
    const std::filesystem::path kept = compiled_folder() / fmt::format("{}-{}", name, checksum_of(key));
    std::filesystem::path library = kept;
    library += ".so";
    std::filesystem::path recorded = kept;
    recorded += ".files";
    std::error_code ignored;
    if (std::filesystem::exists(library, ignored) && is_current(recorded)) return library;

    const WorkFolder scratch;
    const std::filesystem::path source = scratch.path() / "format.cpp";
    const std::filesystem::path made = scratch.path() / "format.so";
    const std::filesystem::path dependencies = scratch.path() / "format.d";
    write_whole_file(source, wrapper);
    std::vector<std::string> options = compiler_options();
    for (const std::string& word :
         {std::string("-MMD"), std::string("-MF"), dependencies.string(), "-I" + headers_folder().string(), source.string()}) {
        options.push_back(word);
    }
    run_host_compiler(file, options, made, scratch.path());
    std::vector<std::filesystem::path> files = read_by_compiler(dependencies);
    std::erase(files, source);
    write_whole_file(library, source_text(made));
    write_whole_file(recorded, checksums_of(files));
    return library;
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

std::string text_of_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// True if a recipe may leave out all parameters.
bool has_defaults(const LayoutEntry& entry) {
    return std::all_of(entry.parameters.begin(), entry.parameters.end(),
                       [](const ParameterDeclaration& one) { return one.optional || one.default_value.has_value(); });
}

LayoutEntry load(const std::filesystem::path& file) {
    const std::string name = format_name(file);
    const std::filesystem::path library = compiled_format(file, name);
    const std::string checksum = checksum_of(text_of_file(library));
    std::filesystem::path tried = library;
    tried += ".tried";
    if (text_of_file(tried) != checksum) {
        constexpr double limit = 20;
        const TrialEnd end = run_in_child(limit, [&](TrialSteps& steps) {
            steps.begin("loading it");
            require_complete(LoadedFormat(file, library).entry(), name);
        });
        if (end.kind != TrialEnd::Kind::fine) {
            throw RecipeError(end.kind == TrialEnd::Kind::failed && end.text.starts_with(file.string())
                                  ? end.text
                                  : fmt::format("{}: {}", file.string(), in_words(end, limit)));
        }
    }
    LayoutEntry entry = LoadedFormat(file, library).entry();
    entry.file_checksum = checksum;
    if (text_of_file(tried) != checksum) {
        try {
            if (has_defaults(entry)) try_format_on_battery(entry, Parameters(entry.parameters, {}));
        } catch (const BrokenKernel& fault) {
            throw RecipeError(fault.what());
        }
        write_whole_file(tried, checksum);
    }
    return entry;
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

std::filesystem::path compiled_folder() {
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    const std::filesystem::path base = cache != nullptr && *cache != '\0' ? std::filesystem::path(cache)
                                       : home != nullptr && *home != '\0' ? std::filesystem::path(home) / ".cache"
                                                                          : std::filesystem::temp_directory_path();
    return base / "spmv-workbench" / "compiled";
}

const LayoutEntry& format_from_file(const std::filesystem::path& file) {
    static std::map<std::filesystem::path, std::unique_ptr<const LayoutEntry>> loaded;
    (void)source_text(file);  // throws if it cannot be read
    const std::filesystem::path absolute = std::filesystem::canonical(file);
    std::unique_ptr<const LayoutEntry>& known = loaded[absolute];
    if (known == nullptr) {
        LayoutEntry entry = load(absolute);
        auto made = std::make_unique<LayoutEntry>(std::move(entry));
        const LayoutEntry* const itself = made.get();
        made->try_out = [itself](const StagedMatrix& staged, const Parameters& parameters, Precision precision) {
            try_format(*itself, staged, parameters, precision);
        };
        known = std::move(made);
    }
    return *known;
}

}  // namespace workbench
