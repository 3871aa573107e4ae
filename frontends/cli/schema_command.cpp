// workbench schema
#include <fmt/format.h>

#include "frontends/cli/command.hpp"
#include "frontends/schema/schema.hpp"
#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {
namespace {

ExitCode print_schema(const std::string& kind) {
    const SchemaOf of = kind == "suite" ? SchemaOf::suite : kind == "space" ? SchemaOf::space : SchemaOf::recipe;
    fmt::print("{}", schema_text(of, catalogue()));
    return ExitCode::ok;
}

}  // namespace

void add_schema_command(CLI::App& app, Action& action) {
    const auto [command, kind] =
        add_command(app, action, "schema", "Print the JSON schema of recipes, suites or spaces, for editors", print_schema);
    command.add_option("kind", kind, "recipe, suite or space (default: recipe)")
        ->check(CLI::IsMember({"recipe", "suite", "space"}))
        ->type_name("KIND");
}

}  // namespace workbench
