// workbench list
#include <array>

#include <fmt/format.h>
#include "core/contract/device.hpp"
#include "core/contract/errors.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/terminal.hpp"
#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Name and summary of stages, layouts or generators.
template <typename Entries>
Rows summaries(const Entries& entries) {
    Rows rows;
    for (const auto& entry : entries) rows.push_back({entry.name, entry.summary});
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

Rows device_rows() {
    Rows rows;
    for (const std::string& name : device_model_names()) {
        const DeviceProperties& model = *find_device_model(name);
        rows.push_back({name, model.name, fmt::format("{}", counted(model.processors, "multiprocessor")),
                        fmt::format("{} per block", byte_count(static_cast<double>(model.shared_memory_per_block))),
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
    Section{"stages", "Stages ([[stage]] use = \"NAME\")", [] { return summaries(catalogue().stages); }},
    Section{"layouts", "Layouts ([layout] use = \"NAME\")", [] { return summaries(catalogue().layouts); }},
    Section{"kernels", "Kernels by layout and backend ([kernel] BACKEND = \"NAME\")", kernel_rows},
    Section{"generators", "Generators ([matrix] generate = \"NAME\")", [] { return summaries(catalogue().generators); }},
    Section{"devices", "Device models (device = \"NAME\")", device_rows},
};

ExitCode list(const std::string& what) {
    bool first = true;
    for (const Section& section : sections) {
        if (!what.empty() && what != section.name) continue;
        TextTable table;
        table.rows = section.rows();
        table.left_columns = 5;
        print_text("{}{}\n{}", first ? "" : "\n", section.title, table.text());
        first = false;
    }
    if (what.empty()) print_text("\n'workbench explain NAME' describes one of them and its parameters.\n");
    return ExitCode::ok;
}

}  // namespace

void add_list_command(CLI::App& app, Action& action) {
    const auto [command, what] =
        add_command(app, action, "list", "List stages, layouts, kernels, generators and device models", list);
    command.add_option("what", what, "stages, layouts, kernels, generators or devices (default: all)")
        ->check(CLI::IsMember({"stages", "layouts", "kernels", "generators", "devices"}))
        ->type_name("WHAT");
}

}  // namespace workbench
