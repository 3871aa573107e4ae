// workbench fetch
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/bench/matrices.hpp"
#include "pipeline/cli/commands.hpp"
#include "pipeline/cli/progress.hpp"
#include "pipeline/cli/read_options.hpp"
#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/cli/suite_matrices.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/fetch/fetch_matrix.hpp"
#include "pipeline/recipe/suite.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* address_variable = "WORKBENCH_COLLECTION";

struct Arguments {
    std::vector<std::string> what;
    std::string into = default_matrix_folder;
    std::string from;
    int timeout = 60;
};

struct Wanted {
    SuiteMatrix matrix;
    MatrixFacts facts;
};

struct FetchCount {
    int fetched = 0;
    int there = 0;
    int failed = 0;
    int unknown = 0;  // in no known group
};

std::string address_of(const Arguments& arguments) {
    const char* variable = std::getenv(address_variable);
    const bool by_variable = arguments.from.empty() && variable != nullptr && *variable != '\0';
    std::string address = !arguments.from.empty() ? arguments.from : by_variable ? variable : collection_address;
    const bool good =
        (address.starts_with("http://") && address.size() > 7) || (address.starts_with("https://") && address.size() > 8);
    if (!good) {
        throw RecipeError(fmt::format("{}: found '{}', expected an address as {}", by_variable ? address_variable : "--from",
                                      address, collection_address));
    }
    return address;
}

std::vector<Wanted> wanted_of(const Arguments& arguments) {
    std::vector<Wanted> all;
    const auto add = [&all](Wanted wanted) {
        const bool is_new = std::none_of(
            all.begin(), all.end(), [&](const Wanted& other) { return other.matrix.full_name() == wanted.matrix.full_name(); });
        if (is_new) all.push_back(std::move(wanted));
    };
    for (const std::string& what : arguments.what) {
        const fs::path file = find_recipe(what);
        std::error_code unknown;
        if (what.ends_with(".toml") || fs::is_regular_file(file, unknown)) {
            if (!fs::exists(file, unknown)) throw RecipeError(what + ": no such file; expected a suite, or GROUP/NAME");
            if (!is_suite(file)) throw RecipeError(what + ": no suite, for it has no [suite]; expected a suite, or GROUP/NAME");
            const Suite suite = load_suite(file);
            if (suite.named.empty()) throw RecipeError(what + ": the suite names no matrices; expected named = [...] in it");
            for (const SuiteMatrix& matrix : suite.named) add({matrix, facts_of(suite, matrix)});
            continue;
        }
        const auto matrix = read_matrix_name(what);
        if (!matrix || matrix->group.empty()) {
            throw RecipeError(
                fmt::format("'{}': expected a suite, or GROUP/NAME as the collection has it: Williams/cant", what));
        }
        add({*matrix, {}});
    }
    return all;
}

void complain(const std::string& kind, const std::string& text) {
    (void)std::fflush(stdout);
    (void)std::fputs(fmt::format("{}: {}\n", kind, text).c_str(), stderr);
}

class Fetching {
public:
    explicit Fetching(const Arguments& arguments) : arguments_(arguments), address_(address_of(arguments)) {
        std::error_code unknown;
        if (fs::is_directory(arguments.into, unknown)) there_ = any_matrices_in(arguments.into);
    }

    FetchCount run(const std::vector<Wanted>& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            try {
                take(all[i]);
            } catch (const DownloadError& error) {
                if (error.out_of_reach) fail_for_all(error, all.size() - i - 1);
                complain("error", fmt::format("{}: {}", all[i].matrix.full_name(), error.what()));
                ++count_.failed;
            }
        }
        return count_;
    }

private:
    [[noreturn]] static void fail_for_all(const DownloadError& error, std::size_t left) {
        const std::string others = left == 0 ? "" : fmt::format("; {} more were not tried", left);
        throw MachineError(fmt::format("{}{}. Is there a network? --from and {} name another address.", error.what(), others,
                                       address_variable));
    }

    void take(const Wanted& wanted) {
        const std::string name = wanted.matrix.full_name();
        if (wanted.matrix.group.empty()) {
            complain("note", name + ": in no known group of the collection, so it cannot be fetched");
            ++count_.unknown;
            return;
        }
        if (is_there(wanted)) return;
        const fs::path target = fetched_file(arguments_.into, wanted.matrix.group, wanted.matrix.name);
        const CheckedMatrix matrix = fetched(name, wanted, target);
        ++count_.fetched;
        std::error_code unknown;
        tell(wanted, matrix, "fetched", byte_count(static_cast<double>(fs::file_size(target, unknown))));
    }

    [[nodiscard]] CheckedMatrix fetched(const std::string& name, const Wanted& wanted, const fs::path& target) const {
        const Progress progress;
        using Clock = std::chrono::steady_clock;
        Clock::time_point shown;
        DownloadOptions options{arguments_.timeout, [&](std::int64_t there, std::int64_t all) {
                                    if (there != all && Clock::now() - shown < std::chrono::milliseconds(200)) return;
                                    shown = Clock::now();
                                    const std::string of = all > 0 ? " of " + byte_count(static_cast<double>(all)) : "";
                                    progress.show(fmt::format("{}: {}{}{}", name, byte_count(static_cast<double>(there)), of,
                                                              there == all ? ", reading it" : ""));
                                }};
        return fetch_matrix(collection_url(address_, wanted.matrix.group, wanted.matrix.name), target, options);
    }

    /// A file of the matrix that is whole, in its group's folder or in no other's.
    bool is_there(const Wanted& wanted) {
        const BenchMatrix* found = find_named(there_, wanted.matrix.group, wanted.matrix.name);
        if (found == nullptr) return false;
        const fs::path root = (fs::absolute(arguments_.into) / "").lexically_normal().parent_path();
        const fs::path folder = folder_of(*found);
        if (folder != root && folder.filename() != wanted.matrix.group) return false;
        const fs::path& file = std::get<MatrixFile>(found->choice.from).path;
        try {
            CheckedMatrix matrix;
            {
                const Progress progress;
                progress.show(wanted.matrix.full_name() + ": reading what is there");
                matrix = check_matrix_file(file);
            }
            ++count_.there;
            tell(wanted, matrix, "there already", file.string());
            return true;
        } catch (const InputError& broken) {
            complain("note", fmt::format("{}: fetched anew, for what is there is broken: {}", wanted.matrix.full_name(),
                                         broken.what()));
            return false;
        }
    }

    static void tell(const Wanted& wanted, const CheckedMatrix& matrix, const std::string& what, const std::string& more) {
        const std::string name = wanted.matrix.full_name();
        if (!matrix.unchecked.empty()) {
            fmt::print("{}: {}, {}\n", name, what, more);
            return complain("note", fmt::format("{}: not read to its end: {}", name, matrix.unchecked));
        }
        fmt::print("{}: {}, {} x {}, {} nonzeros, {}\n", name, what, with_commas(matrix.rows), with_commas(matrix.columns),
                   with_commas(matrix.nonzeros), more);
        const std::string warning = contradiction(wanted.facts, matrix.rows, matrix.nonzeros);
        if (!warning.empty()) complain("warning", fmt::format("{}: {}", name, warning));
    }

    const Arguments& arguments_;
    std::string address_;
    std::vector<BenchMatrix> there_;
    FetchCount count_;
};

ExitCode fetch(const Arguments& arguments) {
    const std::vector<Wanted> all = wanted_of(arguments);
    const KokkosRuntime kokkos;
    const FetchCount count = Fetching(arguments).run(all);
    if (all.size() > 1) {
        fmt::print("{} fetched, {} there already, {} failed", count.fetched, count.there, count.failed);
        if (count.unknown > 0) fmt::print(", {} in no known group", count.unknown);
        fmt::print("; in {}\n", arguments.into);
    }
    return count.failed > 0 ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace

void add_fetch_command(CLI::App& app, Action& action) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("fetch", "Bring matrices from the SuiteSparse collection, checked, resumable");
    command->add_option("what", arguments->what, "Suites that name matrices, and matrices: Williams/cant")
        ->required()
        ->type_name("SUITE|GROUP/NAME");
    command->add_option("--into", arguments->into, "Folder that they go into, as GROUP/NAME.tar.gz; matrices if not given")
        ->type_name("FOLDER");
    command
        ->add_option("--from", arguments->from,
                     fmt::format("Address of the collection or of a copy; ${}, or {} if not given", address_variable,
                                 collection_address))
        ->type_name("URL");
    command->add_option("--timeout", arguments->timeout, "Give up where nothing comes for so long; 60 if not given")
        ->check(CLI::Range(1, 3600))
        ->type_name("SECONDS");
    add_memory_option(*command);
    command->callback([arguments, &action] { action = [arguments] { return fetch(*arguments); }; });
}

}  // namespace workbench
