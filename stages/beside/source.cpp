// A stage from a C++ file beside the recipe, compiled when it runs.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"
#include "core/system/checksum.hpp"
#include "core/system/compile.hpp"
#include "core/system/process.hpp"
#include "stages/beside/beside.hpp"
#include "stages/beside/code_stage.hpp"

namespace workbench {
namespace {

constexpr const char* helper_program = "workbench_stage";

std::vector<ParameterDeclaration> source_parameters_of_stage() {
    return parameters_of_code(declare("source", ParameterType::source, required, {},
                                      "a C++ file relative to the recipe with the function NAME_stage(), where NAME is that of "
                                      "the file; other keys of the stage are its parameters"));
}

StageResult run_source(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    const std::filesystem::path file = parameters.text("source");
    const auto helper = find_beside_program(helper_program);
    if (!helper) {
        throw MachineError(fmt::format("{} is not in lib/spmv-workbench beside the folder of the program, {}", helper_program,
                                       program_folder().string()));
    }
    const std::string text = line_directive(file) + source_text(file, "the source of a stage");
    const WorkFolder folder;
    const auto begin = std::chrono::steady_clock::now();
    const KeptObject library =
        kept_shared_object(file, text, {"-I" + headers_folder().string()}, "stages", checksum_of_file(*helper), folder.path());
    const std::chrono::duration<double> compiling = std::chrono::steady_clock::now() - begin;
    StageResult result = run_code({.command = {helper->string(), library.file.string(), file.stem().string()},
                                   .shown = file.string(),
                                   .staged = staged,
                                   .parameters = parameters,
                                   .declared = source_parameters_of_stage(),
                                   .precision = context.precision});
    result.untimed_seconds = compiling.count();
    if (library.compiled) {
        result.notes.emplace_back("compiled",
                                  fmt::format("in {:.3g} s, which are not part of the stage's time", compiling.count()));
    }
    return result;
}

}  // namespace

StageEntry source_stage() {
    return {.name = "source",
            .summary = "Run a stage from a C++ file beside the recipe: source = \"my_order.cpp\"",
            .source = "",
            .parameters = source_parameters_of_stage(),
            .takes_other_keys = true,
            .contract = [](const Parameters& parameters) { return contract_of_code(parameters, "program"); },
            .run = run_source};
}

}  // namespace workbench
