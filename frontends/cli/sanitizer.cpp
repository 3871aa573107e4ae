#include "frontends/cli/sanitizer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/child.hpp"
#include "core/system/process.hpp"

namespace workbench {
namespace {

constexpr int found_errors = 86;  // the exit code that the tool is asked for
constexpr double seconds_of_tool = 900;
constexpr const char* racecheck = "racecheck";
constexpr std::array tools{"memcheck", racecheck};
/// How mangled names of cuSPARSE's kernels begin. They run as baselines, and racecheck reports hazards in them.
constexpr const char* vendor_kernels = "_ZN8cusparse";
/// Equal rows, rows in blocks of nodes, and rows of very different lengths.
constexpr std::array small_matrices{"laplace2d:nx=20", "elasticity3d:nx=4", "random_uniform:rows=500,shortest=1,longest=40"};

/// One kernel for a GPU, or all of a format.
struct BroughtKernel {
    std::string recipe;  // its file
    std::string only;    // the kernel; empty: all of the format
    std::string shown;   // the file of its code
};

std::vector<BroughtKernel> brought_kernels(const std::vector<Recipe>& recipes) {
    std::vector<BroughtKernel> kernels;
    const auto add = [&](const BroughtKernel& kernel) {
        const auto is_same = [&](const BroughtKernel& other) {
            return other.recipe == kernel.recipe && other.only == kernel.only && other.shown == kernel.shown;
        };
        if (std::none_of(kernels.begin(), kernels.end(), is_same)) kernels.push_back(kernel);
    };
    for (const Recipe& recipe : recipes) {
        for (const RecipeLayout& layout : recipe.layouts) {
            if (!layout.entry->file.empty()) add({recipe.file.string(), "", layout.entry->file.string()});
            for (const KernelSource& source : layout.sources) {
                if (source.backend == Backend::cuda) add({recipe.file.string(), source.name(), source.file.string()});
            }
        }
    }
    return kernels;
}

/// What a tool says, without what the program printed between.
std::string lines_of_tool(const std::string& output) {
    constexpr int most_lines = 30;
    std::istringstream stream(output);
    std::string lines;
    int count = 0;
    for (std::string line; std::getline(stream, line) && count < most_lines;) {
        if (!line.starts_with("=========")) continue;
        lines += '\n' + line;
        ++count;
    }
    return lines;
}

std::string last_line(const std::string& output) {
    const std::string text = output.substr(0, output.find_last_not_of('\n') + 1);
    return text.substr(text.rfind('\n') + 1);
}

/// Excludes the vendor's kernels, unless the code that is checked has their name.
std::vector<std::string> exclusion(const BroughtKernel& kernel) {
    std::ostringstream text;
    text << std::ifstream(kernel.shown).rdbuf();
    if (text.str().find("cusparse") != std::string::npos) return {};
    return {"--kernel-name-exclude", std::string("kernel_substring=") + vendor_kernels};
}

/// Returns false if the matrix does not suit the recipe.
bool run_under(const std::string& tool, const BroughtKernel& kernel, const std::string& matrix,
               const std::vector<std::string>& overrides, const Confine& confine) {
    const WorkFolder folder;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<std::string> command = confine ? confine(folder.path()) : std::vector<std::string>();
    const auto add = [&](const std::vector<std::string>& words) { command.insert(command.end(), words.begin(), words.end()); };
    add({sanitizer_program, "--tool", tool, "--error-exitcode", std::to_string(found_errors), "--target-processes", "all"});
    add({"--report-api-errors", "no"});  // the program looks for functions of a kernel that may be absent
    add(exclusion(kernel));
    add({program, "run", kernel.recipe, "--generate", matrix, "--backend", "cuda", "--samples", "1", "--seconds", "0"});
    add({"--cache", "warm", "--no-pictures", "--out", folder.path().string()});
    if (!kernel.only.empty()) add({"--only", kernel.only});
    for (const std::string& override_text : overrides) add({"--set", override_text});
    const Ending end = Child(command, {.output = ChildOutput::returned}).wait(seconds_of_tool);
    const std::string where = fmt::format("--sanitize: {}: {} on {}", kernel.shown, tool, matrix);
    if (!end.not_started.empty()) throw MachineError(fmt::format("--sanitize: {}: {}", sanitizer_program, end.not_started));
    if (end.too_long) throw UnfinishedKernel(fmt::format("{}: not finished in {:g} s", where, seconds_of_tool));
    if (end.exit_code == 0) return true;
    if (end.exit_code == found_errors) {
        throw SanitizerErrors(matrix, tool == racecheck, fmt::format("{} finds errors:{}", where, lines_of_tool(end.output)));
    }
    if (end.exit_code == static_cast<int>(ExitCode::bad_input)) return false;
    const std::string text = fmt::format("{} ends with {}: {}", where, end.text(), last_line(end.output));
    if (end.exit_code == static_cast<int>(ExitCode::wrong_result)) throw UserError(ExitCode::wrong_result, text);
    throw MachineError(text);
}

}  // namespace

std::string sanitize(const std::vector<Recipe>& recipes, const std::vector<std::string>& overrides, const Confine& confine) {
    if (!program_exists(sanitizer_program)) {
        throw MachineError(fmt::format("--sanitize: {}, which is part of the CUDA toolkit, is not on PATH", sanitizer_program));
    }
    const std::vector<BroughtKernel> kernels = brought_kernels(recipes);
    if (kernels.empty()) throw RecipeError("--sanitize: expected a recipe with cuda_source, or with a format beside it");
    std::string texts;
    for (const BroughtKernel& kernel : kernels) {
        std::string matrices;
        for (const char* matrix : small_matrices) {
            bool suits = true;
            for (const char* tool : tools) suits = suits && run_under(tool, kernel, matrix, overrides, confine);
            if (suits) matrices += (matrices.empty() ? "" : ", ") + std::string(matrix);
        }
        if (matrices.empty()) {
            throw InputError(fmt::format("--sanitize: {}: suits none of {}", kernel.shown, fmt::join(small_matrices, ", ")));
        }
        texts += fmt::format("{}{}: {} find nothing on {}", texts.empty() ? "" : "\n", kernel.shown, fmt::join(tools, " and "),
                             matrices);
    }
    return texts;
}

}  // namespace workbench
