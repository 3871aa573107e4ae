// workbench_stage LIBRARY NAME: runs a stage beside a recipe, the function NAME_stage() of a shared object, in the current
// folder (stages/beside/code_stage.hpp). Only the workbench starts it. A failure of the stage ends this process alone.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/input/npz/scipy_npz.hpp"
#include "core/output/export.hpp"
#include "core/output/numpy_writer.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/text/suggestion.hpp"
#include "stages/beside/code_stage.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

template <typename... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) {
    throw std::runtime_error(fmt::format(text, std::forward<Values>(values)...));
}

StageEntry load_stage(const char* library, const std::string& file_name) {
    void* const loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) refuse("cannot be loaded: {}", dlerror());
    const std::string name = file_name + "_stage";
    // The mangled names of a function without parameters, in the namespace workbench and outside of it.
    for (const std::string& symbol :
         {fmt::format("_ZN9workbench{}{}Ev", name.size(), name), fmt::format("_Z{}{}v", name.size(), name)}) {
        if (void* const function = dlsym(loaded, symbol.c_str())) return reinterpret_cast<StageEntry (*)()>(function)();
    }
    refuse("found no function {0}(); expected 'workbench::StageEntry {0}()', named like the file", name);
}

CutKind kind_of(const std::string& name) {
    for (const CutKind kind : {CutKind::partition, CutKind::row_block, CutKind::length_group, CutKind::segment}) {
        if (name == name_of(kind)) return kind;
    }
    refuse("found cuts of an unknown kind {}", name);
}

ParameterValue value_of(const Json& json) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    return json.get<std::string>();
}

/// The recipe's values for the parameters that the stage declares.
Parameters check_values(const StageEntry& entry, const Json& given) {
    std::map<std::string, ParameterValue> values;
    std::vector<std::string> names;
    for (const ParameterDeclaration& declaration : entry.parameters) names.push_back(declaration.name);
    for (const auto& [name, json] : given.items()) {
        const auto declaration = std::find(names.begin(), names.end(), name) - names.begin();
        if (declaration == std::ssize(names)) refuse("the stage has no parameter '{}'{}", name, expected_one_of(name, names));
        const ParameterValue value = value_of(json);
        const std::string reason = reason_to_refuse(entry.parameters[static_cast<std::size_t>(declaration)], value);
        if (!reason.empty()) refuse("parameter {}: {}", name, reason);
        values.emplace(name, value);
    }
    for (const ParameterDeclaration& declaration : entry.parameters) {
        if (declaration.optional || declaration.default_value || values.contains(declaration.name)) continue;
        refuse("the stage needs parameter '{}': {}", declaration.name, accepted_values(declaration));
    }
    return {entry.parameters, std::move(values)};
}

/// The contract of the stage must say what the recipe says, by which the recipe was checked.
void check_contract(const StageContract& contract, const Json& request, const StagedMatrix& staged) {
    const std::string& gives = request["gives"].get_ref<const std::string&>();
    const char* found = contract.acts ? "order" : "nothing";
    if (!contract.gives_shares.empty()) found = "shares";
    if (!contract.gives_cuts.empty())
        found = contract.gives_cuts == std::vector{CutKind::partition} ? "partition" : "other cuts";
    if (found != gives) refuse("its contract gives {}, but the recipe has gives = \"{}\"; expected the same", found, gives);
    if (gives == "order" && request["apply"] != name_of(*contract.acts)) {
        refuse("its contract has acts = {}, but the recipe has apply = \"{}\"; expected the same", name_of(*contract.acts),
               request["apply"].get<std::string>());
    }
    if (gives == "partition" && contract.acts != Acts::symmetric)
        refuse("its contract must have acts = symmetric, as it gives a partition");
    if (contract.needs.square && !staged.matrix.square()) refuse("it needs a square matrix");
    if (!contract.needs.shares.empty()) refuse("it needs shares, which stages beside a recipe do not see");
    if (contract.depends_on_precision) refuse("it depends on the precision; expected a stage that does not");
    for (const CutKind kind : contract.needs.cuts) {
        if (staged.find_cuts(kind) == nullptr) refuse("it needs cuts of kind {}, which no earlier stage made", name_of(kind));
    }
}

template <typename Write>
void write_file(const std::string& name, const Write& write) {
    WholeFile file(name);
    write(file);
    file.finish();
}

void write_change(const StageResult& result, const std::string& gives) {
    const StageChange& change = result.change;
    if (change.node_size || !change.storage.empty())
        refuse("it changes the nodes or the storage of shares; expected {} alone", gives);
    if (change.order.has_value() != (gives != "shares") || change.cuts.empty() != (gives != "partition") ||
        change.shares.has_value() != (gives == "shares")) {
        refuse("it gave another change than its contract states; expected {}", gives);
    }
    if (change.order) {
        write_file("order.npy", [&](WholeFile& file) { write_npy(file, numpy_array(change.order->order.old_of_new())); });
    }
    for (const Cuts& cuts : change.cuts) {
        write_file(fmt::format("cuts_{}.npy", name_of(cuts.kind)),
                   [&](WholeFile& file) { write_npy(file, numpy_array(std::span<const Index>(cuts.boundaries))); });
    }
    if (change.shares) write_file("shares.npz", [&](WholeFile& file) { write_shares_numpy(file, *change.shares); });
    Json notes = Json::object();
    for (const auto& [name, text] : result.notes) notes[name] = text;
    write_whole_file(code_notes_file, notes.dump(2, ' ', false, Json::error_handler_t::replace));
}

void run_stage(const char* library, const std::string& name) {
    const KokkosRuntime kokkos;
    std::ifstream stream(code_parameters_file);
    const Json request = Json::parse(stream);
    StagedMatrix staged = stage_input(read_scipy_npz(code_matrix_file), request["node_size"].get<Index>());
    for (const auto& [kind, boundaries] : request["cuts"].items()) {
        staged.cuts.push_back({kind_of(kind), boundaries.get<std::vector<Index>>()});
    }
    const StageEntry entry = load_stage(library, name);
    if (entry.contract == nullptr || entry.run == nullptr) refuse("its StageEntry has no contract or no run; expected both");
    const Parameters parameters = check_values(entry, request["parameters"]);
    check_contract(entry.contract(parameters), request, staged);
    const Precision precision = request["precision"] == "f32" ? Precision::f32 : Precision::f64;
    write_change(entry.run(staged, parameters, {nullptr, precision}), request["gives"].get<std::string>());
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    if (argc != 3) {
        (void)std::fputs("workbench_stage is started by the workbench\n", stderr);
        return 2;
    }
    try {
        workbench::run_stage(argv[1], argv[2]);
        return 0;
    } catch (const workbench::ParameterError& wrong) {
        fmt::print(stderr, "parameter {}: {}\n", wrong.parameter, wrong.what());
    } catch (const std::exception& wrong) {
        fmt::print(stderr, "{}\n", wrong.what());
    } catch (...) {
        fmt::print(stderr, "it throws something that is not a std::exception\n");
    }
    return workbench::code_says_why;
}
