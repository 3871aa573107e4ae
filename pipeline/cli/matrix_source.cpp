#include "pipeline/cli/matrix_source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pipeline/input/inline_matrix.hpp"
#include "pipeline/input/read_matrix.hpp"

namespace workbench {
namespace {

struct Load {
    MatrixReport& report;

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
        const auto in_its_name = [&](const std::string& what) { return generated.where + ": " + what; };
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

std::vector<std::string> generator_overrides(const std::string& text) {
    const auto colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    std::vector<std::string> settings;
    for (std::size_t begin = colon; begin < text.size();) {
        const std::size_t end = std::min(text.find(',', begin + 1), text.size());
        settings.push_back(text.substr(begin + 1, end - begin - 1));
        begin = end;
    }
    static_cast<void>(generated_matrix(kind, settings, "--generate ", true));
    std::vector<std::string> overrides{"matrix.generate=" + kind};
    for (const std::string& setting : settings) overrides.push_back("matrix." + setting);
    return overrides;
}

std::pair<CsrMatrix, MatrixReport> load_matrix(const MatrixSource& source) {
    MatrixReport report;
    const Stopwatch watch;
    CsrMatrix matrix = std::visit(Load{report}, source.from);
    report.read_seconds = watch.seconds();
    report.rows = matrix.rows;
    report.columns = matrix.columns;
    report.nonzeros = matrix.nonzeros();
    return {std::move(matrix), std::move(report)};
}

}  // namespace workbench
