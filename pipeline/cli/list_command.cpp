// workbench list
#include <array>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/contract/device.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows stage_rows() {
    Rows rows;
    for (const StageEntry& stage : catalogue().stages) rows.push_back({stage.name, stage.summary});
    return rows;
}

Rows layout_rows() {
    Rows rows;
    for (const LayoutEntry& layout : catalogue().layouts) rows.push_back({layout.name, layout.summary});
    return rows;
}

Rows kernel_rows() {
    Rows rows;
    for (const LayoutEntry& layout : catalogue().layouts) {
        for (const KernelEntry& kernel : layout.kernels) {
            rows.push_back({layout.name, std::string(name_of(kernel.backend)), kernel.name, kernel.summary});
        }
    }
    return rows;
}

Rows generator_rows() {
    Rows rows;
    for (const GeneratorEntry& generator : catalogue().generators) rows.push_back({generator.name, generator.summary});
    return rows;
}

Rows device_rows() {
    Rows rows;
    for (const std::string& name : device_model_names()) {
        const DeviceProperties& model = *find_device_model(name);
        rows.push_back({name, model.name, fmt::format("{} multiprocessors", model.processors),
                        fmt::format("{} a block", byte_count(static_cast<double>(model.shared_memory_per_block))),
                        fmt::format("L2 {}", byte_count(static_cast<double>(model.last_level_cache)))});
    }
    return rows;
}

struct Section {
    const char* name;
    const char* title;
    Rows (*rows)();
};

constexpr std::array sections{
    Section{"stages", "Stages: [[stage]] use = \"NAME\"", stage_rows},
    Section{"layouts", "Layouts: [layout] use = \"NAME\"", layout_rows},
    Section{"kernels", "Kernels: layout, backend, name: [kernel] BACKEND = \"NAME\"", kernel_rows},
    Section{"generators", "Generators: [matrix] generate = \"NAME\"", generator_rows},
    Section{"devices", "Device models: device = \"NAME\"", device_rows},
};

ExitCode list(const std::string& what) {
    bool first = true;
    for (const Section& section : sections) {
        if (!what.empty() && what != section.name) continue;
        TextTable table;
        table.rows = section.rows();
        table.left_columns = 5;
        fmt::print("{}{}\n{}", first ? "" : "\n", section.title, table.text());
        first = false;
    }
    if (what.empty()) fmt::print("\n'workbench explain NAME' tells what one of them does and takes.\n");
    return ExitCode::ok;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
    const auto what = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("list", "List stages, layouts, kernels, generators and device models");
    command->add_option("what", *what, "stages, layouts, kernels, generators or devices; all of them if not given")
        ->check(CLI::IsMember({"stages", "layouts", "kernels", "generators", "devices"}))
        ->type_name("WHAT");
    command->callback([what, &action] { action = [what] { return list(*what); }; });
}

}  // namespace workbench
