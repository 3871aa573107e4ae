// A stage that another program computes.
#include "stages/beside/beside.hpp"
#include "stages/beside/code_stage.hpp"

namespace workbench {
namespace {

std::vector<ParameterDeclaration> program_parameters() {
    return parameters_of_code(
        declare("program", ParameterType::command, required, {},
                "the program and its arguments; those that are files are relative to the recipe; other keys of the stage "
                "are parameters of the program"));
}

StageResult run_program(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    const std::vector<std::string> command = command_words(parameters.text("program")).value();
    return run_code({.command = command,
                     .shown = "program " + command_of(command),
                     .staged = staged,
                     .parameters = parameters,
                     .declared = program_parameters(),
                     .precision = context.precision});
}

}  // namespace

StageEntry program_stage() {
    return {.name = "program",
            .summary = "Let another program find an order, a partition or shares: program = [\"python3\", \"my_order.py\"]",
            .source = "",
            .parameters = program_parameters(),
            .takes_other_keys = true,
            .contract = [](const Parameters& parameters) { return contract_of_code(parameters, "source"); },
            .run = run_program};
}

}  // namespace workbench
