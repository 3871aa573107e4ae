#include "pipeline/cli/matrix_source.hpp"

#include <fmt/format.h>

#include "pipeline/input/inline_matrix.hpp"
#include "pipeline/input/read_matrix.hpp"

namespace workbench {
namespace {

struct Load {
    MatrixReport& report;
    const std::string& where;

    CsrMatrix operator()(const std::monostate&) const {
        throw RecipeError("no matrix: the recipe has no [matrix]; name one with --matrix FILE or --generate KIND");
    }

    CsrMatrix operator()(const MatrixFile& file) const {
        report.source = file.path.filename().string() + (file.member.empty() ? "" : " " + file.member);
        return read_matrix(file.path, {file.member});
    }

    CsrMatrix operator()(const InlineMatrix& matrix) const {
        report.source = "inline matrix";
        return csr_from_rows(matrix.rows);
    }

    CsrMatrix operator()(const GeneratedMatrix& generated) const {
        report.source = generated.generator->name;
        for (const auto& [name, value] : generated.parameters.values()) {
            report.source += fmt::format(" {}={}", name, to_text(value));
        }
        const auto in_its_name = [this](const std::string& what) { return where + ": " + what; };
        try {
            return generated.generator->generate(generated.parameters);
        } catch (const ParameterError& error) {
            throw RecipeError(in_its_name(fmt::format("{}: {}", error.parameter, error.what())));
        } catch (const InputError& error) {
            throw InputError(in_its_name(error.what()));
        } catch (const MachineError& error) {
            throw MachineError(in_its_name(error.what()));
        }
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

}  // namespace workbench
