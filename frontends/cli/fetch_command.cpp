// workbench fetch
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/fetch/fetch_matrix.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/text/text_table.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/suite_matrices.hpp"
#include "frontends/cli/terminal.hpp"
#include "pipeline/recipe/suite.hpp"
#include "studies/bench/matrices.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* address_variable = "WORKBENCH_COLLECTION";

struct FetchArguments {
    std::vector<std::string> what;
    std::string into = default_matrix_folder;
    std::string from;
    int timeout = 60;
};

struct WantedMatrix {
    SuiteMatrix matrix;
    MatrixFacts facts;
};

struct FetchCount {
    int fetched = 0;
    int present = 0;
    int failed = 0;
    int unknown = 0;  // without a known group
};

std::string address_of(const FetchArguments& arguments) {
    const char* variable = std::getenv(address_variable);
    const bool by_variable = arguments.from.empty() && variable != nullptr && *variable != '\0';
    std::string address = !arguments.from.empty() ? arguments.from : by_variable ? variable : collection_address;
    const bool good =
        (address.starts_with("http://") && address.size() > 7) || (address.starts_with("https://") && address.size() > 8);
    if (!good) {
        throw RecipeError(fmt::format("{}: found '{}', expected an address such as {}",
                                      by_variable ? address_variable : "--from", address, collection_address));
    }
    return address;
}

std::vector<WantedMatrix> wanted_of(const FetchArguments& arguments) {
    std::vector<WantedMatrix> all;
    const auto add = [&all](WantedMatrix wanted) {
        const bool is_new = std::none_of(all.begin(), all.end(), [&](const WantedMatrix& other) {
            return other.matrix.full_name() == wanted.matrix.full_name();
        });
        if (is_new) all.push_back(std::move(wanted));
    };
    for (const std::string& what : arguments.what) {
        const fs::path file = find_recipe(what);
        std::error_code unknown;
        if (what.ends_with(".toml") || fs::is_regular_file(file, unknown)) {
            if (!fs::exists(file, unknown)) throw RecipeError(what + ": no such file; expected a suite or GROUP/NAME");
            if (!is_suite(file)) throw RecipeError(what + ": this file has no [suite]; expected a suite or GROUP/NAME");
            const Suite suite = load_suite(file);
            if (suite.named.empty()) throw RecipeError(what + ": the suite names no matrices; expected named = [...]");
            for (const SuiteMatrix& matrix : suite.named) add({matrix, facts_of(suite, matrix)});
            continue;
        }
        const auto matrix = read_matrix_name(what);
        if (!matrix || matrix->group.empty()) {
            throw RecipeError(fmt::format(
                "'{}': expected a suite, or GROUP/NAME of a matrix in the collection, such as Williams/cant", what));
        }
        add({*matrix, {}});
    }
    return all;
}

class Fetching {
public:
    explicit Fetching(const FetchArguments& arguments) : arguments_(arguments), address_(address_of(arguments)) {
        std::error_code unknown;
        if (fs::is_directory(arguments.into, unknown)) present_ = any_matrices_in(arguments.into);
    }

    FetchCount run(const std::vector<WantedMatrix>& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            try {
                take(all[i]);
            } catch (const DownloadError& error) {
                if (error.out_of_reach) fail_for_all(error, all.size() - i - 1);
                print_error(fmt::format("error: {}: {}", all[i].matrix.full_name(), error.what()));
                ++count_.failed;
            }
        }
        return count_;
    }

private:
    [[noreturn]] static void fail_for_all(const DownloadError& error, std::size_t left) {
        const std::string others = left == 0 ? "" : fmt::format("; {} more not tried", left);
        throw MachineError(fmt::format("{}{}. Check the network, or set another address with --from or ${}.", error.what(),
                                       others, address_variable));
    }

    void take(const WantedMatrix& wanted) {
        const std::string name = wanted.matrix.full_name();
        if (wanted.matrix.group.empty()) {
            print_error(fmt::format("note: {}: its group in the collection is unknown, so it cannot be fetched", name));
            ++count_.unknown;
            return;
        }
        if (is_present(wanted)) return;
        const fs::path target = fetched_file(arguments_.into, wanted.matrix.group, wanted.matrix.name);
        const CheckedMatrix matrix = fetched(name, wanted, target);
        ++count_.fetched;
        std::error_code unknown;
        report(wanted, matrix, "fetched", byte_count(static_cast<double>(fs::file_size(target, unknown))));
    }

    [[nodiscard]] CheckedMatrix fetched(const std::string& name, const WantedMatrix& wanted, const fs::path& target) const {
        const Progress progress;
        using Clock = std::chrono::steady_clock;
        Clock::time_point shown;
        const auto show = [&](std::int64_t received, std::int64_t total) {
            if (received != total && Clock::now() - shown < std::chrono::milliseconds(200)) return;
            shown = Clock::now();
            progress.show(fmt::format("{}: {}{}{}", name, byte_count(static_cast<double>(received)),
                                      total > 0 ? " of " + byte_count(static_cast<double>(total)) : "",
                                      received == total ? ", checking it" : ""));
        };
        const DownloadOptions options{arguments_.timeout, show};
        return fetch_matrix(collection_url(address_, wanted.matrix.group, wanted.matrix.name), target, options);
    }

    /// True if the folder has a complete file of the matrix, at its top level or in its group's folder.
    bool is_present(const WantedMatrix& wanted) {
        const BenchMatrix* found = find_named(present_, wanted.matrix.group, wanted.matrix.name);
        if (found == nullptr) return false;
        const fs::path root = (fs::absolute(arguments_.into) / "").lexically_normal().parent_path();
        const fs::path folder = folder_of(*found);
        if (folder != root && folder.filename() != wanted.matrix.group) return false;
        const fs::path& file = std::get<MatrixFile>(found->choice.from).path;
        try {
            CheckedMatrix matrix;
            {
                const Progress progress;
                progress.show(wanted.matrix.full_name() + ": checking the existing file");
                matrix = check_matrix_file(file);
            }
            ++count_.present;
            report(wanted, matrix, "already present", file.string());
            return true;
        } catch (const InputError& broken) {
            print_error(fmt::format("note: {}: fetched again, as the existing file is broken: {}", wanted.matrix.full_name(),
                                    broken.what()));
            return false;
        }
    }

    static void report(const WantedMatrix& wanted, const CheckedMatrix& matrix, const std::string& what,
                       const std::string& more) {
        const std::string name = wanted.matrix.full_name();
        if (!matrix.unchecked.empty()) {
            print_text("{}: {}, {}\n", name, what, more);
            return print_error(fmt::format("note: {}: not checked: {}", name, matrix.unchecked));
        }
        print_text("{}: {}, {}, {}\n", name, what, size_text(matrix.rows, matrix.columns, matrix.nonzeros), more);
        const std::string warning = contradiction(wanted.facts, matrix.rows, matrix.nonzeros);
        if (!warning.empty()) print_error(fmt::format("warning: {}: {}", name, warning));
    }

    const FetchArguments& arguments_;
    std::string address_;
    std::vector<BenchMatrix> present_;
    FetchCount count_;
};

ExitCode fetch(const FetchArguments& arguments) {
    const std::vector<WantedMatrix> all = wanted_of(arguments);
    const KokkosRuntime kokkos;
    const FetchCount count = Fetching(arguments).run(all);
    if (all.size() > 1) {
        print_text("{} fetched, {} already present, {} failed", count.fetched, count.present, count.failed);
        if (count.unknown > 0) print_text(", {} without a known group", count.unknown);
        print_text("; in {}\n", arguments.into);
    }
    return count.failed > 0 ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace

void add_fetch_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(
        app, action, "fetch", "Download and check matrices of the SuiteSparse collection; downloads can be resumed", fetch);
    command.add_option("what", arguments.what, "Suites that name matrices, or matrices such as Williams/cant")
        ->required()
        ->type_name("SUITE|GROUP/NAME");
    command.add_option("--into", arguments.into, "Folder for the files GROUP/NAME.tar.gz (default: matrices)")
        ->type_name("FOLDER");
    command
        .add_option(
            "--from", arguments.from,
            fmt::format("Address of the collection or a mirror (default: ${}, or {})", address_variable, collection_address))
        ->type_name("URL");
    add_number(command, "--timeout", arguments.timeout, Range{1, 3600, "SECONDS"}, "Give up after this time without data");
    add_memory_option(command);
}

}  // namespace workbench
