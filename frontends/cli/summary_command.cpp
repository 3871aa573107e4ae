// workbench summary
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/text/suggestion.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/options.hpp"
#include "frontends/cli/terminal.hpp"
#include "studies/bench/cover.hpp"
#include "studies/bench/plots.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/bench/records.hpp"
#include "studies/bench/rule.hpp"

namespace workbench {
namespace {

struct SummaryArguments {
    std::vector<std::string> files;
    std::string of;
    bool csv = false;
    bool tex = false;
    bool cover = false;
    std::optional<int> rule;
    std::string plots;
    PaperColumn column;
    bool force = false;
    std::vector<std::string> metrics{"nonzeros", "row_length.mean"};
};

void check_metrics(const std::vector<Record>& records, const SummaryArguments& arguments) {
    std::set<std::string> known;
    for (const Record& record : records) {
        for (const auto& [name, value] : record.metrics) known.insert(name);
    }
    for (const std::string& metric : arguments.metrics) {
        if (known.empty() || known.contains(metric)) continue;
        throw RecipeError(
            fmt::format("--metric: unknown metric '{}'{}", metric, expected_one_of(metric, {known.begin(), known.end()})));
    }
}

std::string tables_of(const std::vector<Record>& records, const SummaryArguments& arguments) {
    const TableFormat format = arguments.csv ? TableFormat::csv : arguments.tex ? TableFormat::tex : TableFormat::text;
    if (arguments.cover || arguments.rule) {
        if (arguments.csv && arguments.cover && arguments.rule) {
            throw RecipeError("--csv prints one table; expected --cover or --rule, not both");
        }
        std::string text = arguments.cover ? cover_tables(records, format) : "";
        if (!arguments.rule) return text;
        if (!text.empty() && format == TableFormat::text) text += '\n';
        return text + rule_tables(records, static_cast<std::size_t>(*arguments.rule), format);
    }
    if (arguments.csv) return records_csv(records);
    if (arguments.tex) return ranking_tex(records, arguments.of);
    return ranking_text(records, arguments.of) + prices_text(records);
}

ExitCode summary(const SummaryArguments& arguments) {
    std::vector<Record> records;
    for (const std::string& note : add_records({arguments.files.begin(), arguments.files.end()}, records)) {
        print_error("note: " + note);
    }
    Plots plots;
    std::vector<std::string> files;
    if (!arguments.plots.empty()) {
        check_metrics(records, arguments);
        plots = plots_of(records, arguments.metrics);
        files = files_of(plots, arguments.column);
        for (const std::string& name : files) check_new(std::filesystem::path(arguments.plots) / name, arguments.force);
    }
    print_text("{}{}", arguments.tex ? "% needs \\usepackage{booktabs}\n" : "", tables_of(records, arguments));
    if (arguments.plots.empty()) return ExitCode::ok;
    write_plots(plots, arguments.plots, arguments.column);
    if (!arguments.csv && !arguments.tex) print_text("\n{} written to {}\n", counted(files.size(), "file"), arguments.plots);
    return ExitCode::ok;
}

}  // namespace

void add_summary_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "summary", "Rank recipes by the results of bench and run, and plot them", summary);
    command.add_option("file", arguments.files, "Results of bench (.jsonl) and of run (.json)")->required()->type_name("FILE");
    CLI::Option* of = command.add_option("--of", arguments.of, "Also compare the recipe of this name with each of the others")
                          ->type_name("RECIPE");
    command
        .add_flag("--cover", arguments.cover,
                  "Print the sets of 1, 2, 3 and 5 recipes that serve the matrices best, instead of the ranking")
        ->excludes(of);
    add_number(command, "--rule", arguments.rule, Range{1, 8, "COUNT"},
               "Print the set of at most COUNT recipes that serves the matrices best, and a rule that chooses one of them by "
               "metrics of the matrix, instead of the ranking")
        ->excludes(of);
    CLI::Option* csv = command.add_flag(
        "--csv", arguments.csv,
        "Print CSV; without --cover and --rule a line per recipe, matrix and precision, with reasons for failures");
    command.add_flag("--tex", arguments.tex, "Print the tables in LaTeX")->excludes(csv);
    CLI::Option* plots =
        command.add_option("--plots", arguments.plots, "Folder for plots, each as PNG and SVG")->type_name("FOLDER");
    add_paper_options(command, arguments.column, plots_in_column)->needs(plots);
    add_force_option(command, arguments.force);
    command
        .add_option("--metric", arguments.metrics,
                    "Metrics of the input to plot speed-ups against (default: nonzeros,row_length.mean)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("LIST");
}

}  // namespace workbench
