// --prepare: where stages and layouts have their work done.
#pragma once

#include <memory>
#include <string>

#include "pipeline/matrix/preparer.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Adds --prepare. `where` must live until the command line is parsed; it is "cpu" where nothing is said.
void add_prepare_option(CLI::App& command, std::string& where);

/// Null for "cpu". Throws MachineError where there is no GPU for "gpu".
[[nodiscard]] std::unique_ptr<Preparer> preparer_for(const std::string& where);

}  // namespace workbench
