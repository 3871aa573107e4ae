#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/terminal.hpp"

#include <fmt/format.h>

#include "core/input/inline_matrix.hpp"
#include "core/input/npz/read_rows.hpp"
#include "core/input/read_matrix.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

std::string source_of(const MatrixFile& file) {
    return file.path.filename().string() + (file.member.empty() ? "" : " " + file.member);
}

std::string source_of(const GeneratedMatrix& generated) {
    std::string source = generated.generator->name;
    for (const auto& [name, value] : generated.parameters.values()) source += fmt::format(" {}={}", name, to_text(value));
    return source;
}

/// Adds the place that names the matrix to a generator's errors.
template <typename Make>
auto made(const std::string& where, const Make& make) {
    const auto in_its_name = [&where](const std::string& what) { return where + ": " + what; };
    try {
        return make();
    } catch (const ParameterError& error) {
        throw RecipeError(in_its_name(fmt::format("{}: {}", error.parameter, error.what())));
    } catch (const InputError& error) {
        throw InputError(in_its_name(error.what()));
    } catch (const MachineError& error) {
        throw MachineError(in_its_name(error.what()));
    }
}

struct Load {
    MatrixReport& report;
    const std::string& where;

    CsrMatrix operator()(const std::monostate&) const {
        throw RecipeError("no matrix: the recipe has no [matrix]; name one with --matrix FILE or --generate KIND");
    }

    CsrMatrix operator()(const MatrixFile& file) const {
        report.source = printable(source_of(file));
        return read_matrix(file.path, {file.member, [](const std::string& note) { print_error("note: " + note); }});
    }

    CsrMatrix operator()(const InlineMatrix& matrix) const {
        report.source = "inline matrix";
        return csr_from_rows(matrix.rows);
    }

    CsrMatrix operator()(const GeneratedMatrix& generated) const {
        report.source = source_of(generated);
        return made(where, [&] { return generated.generator->generate(generated.parameters); });
    }
};

}  // namespace

std::pair<CsrMatrix, MatrixReport> load_matrix(const MatrixChoice& choice) {
    MatrixReport report;
    const Stopwatch watch;
    CsrMatrix matrix = std::visit(Load{report, choice.where}, choice.from);
    report.read_seconds = watch.seconds();
    report.rows = matrix.rows;
    report.columns = matrix.columns;
    report.nonzeros = matrix.nonzeros();
    return {std::move(matrix), std::move(report)};
}

std::optional<MatrixRows> open_matrix_rows(const MatrixChoice& choice, MatrixReport& report) {
    if (const auto* const file = std::get_if<MatrixFile>(&choice.from)) {
        report.source = printable(source_of(*file));
        const std::shared_ptr<RowReader> reader = open_rows(file->path, file->member);
        if (reader == nullptr) return std::nullopt;
        return MatrixRows{reader->rows(), [reader](RowRange range) { return reader->read(range); }};
    }
    if (const auto* const generated = std::get_if<GeneratedMatrix>(&choice.from)) {
        report.source = source_of(*generated);
        const GeneratorEntry& generator = *generated->generator;
        if (generator.generate_rows == nullptr) return std::nullopt;
        const Index rows = made(choice.where, [&] { return generator.row_count(generated->parameters); });
        return MatrixRows{rows, [&generator, &where = choice.where, &parameters = generated->parameters](RowRange range) {
                              return made(where, [&] { return generator.generate_rows(parameters, range); });
                          }};
    }
    return std::nullopt;
}

}  // namespace workbench
