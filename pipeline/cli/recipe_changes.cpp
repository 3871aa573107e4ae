#include "pipeline/cli/recipe_changes.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/cli/read_options.hpp"

namespace workbench {

void add_recipe_changes(CLI::App& command, RecipeChanges& changes) {
    CLI::Option* matrix =
        command.add_option("--matrix", changes.matrix, fmt::format("Matrix file in place of the recipe's: {}", readable_files))
            ->type_name("FILE");
    add_read_options(command, changes.member);
    command.add_option("--generate", changes.generate, "Generated matrix instead: elasticity3d:nx=40,ny=40,nz=40")
        ->type_name("KIND[:NAME=VALUE,...]")
        ->excludes(matrix);
    command.add_option("--set", changes.overrides, "Override a parameter: stage.ID.NAME=VALUE, layout.NAME=VALUE, ...")
        ->type_name("WHAT=VALUE")
        ->allow_extra_args(false);
}

}  // namespace workbench
