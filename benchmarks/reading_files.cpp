#include "benchmarks/reading_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/output/matrix_market_writer.hpp"

namespace workbench {
namespace {

/// Fields of equal width, a fixed number in each line.
struct FieldList {
    Offset count;
    int width;
    int a_line;

    [[nodiscard]] Offset lines() const { return (count + a_line - 1) / a_line; }

    template <typename FormatField>
    void write(WholeFile& file, const FormatField& format_field) const {
        const auto format = [&](Offset first, Offset last, char* place) {
            for (Offset i = first; i < last; ++i) {
                place = format_field(i, place);
                if ((i + 1) % a_line == 0 || i + 1 == count) *place++ = '\n';
            }
            return place;
        };
        write_items(file, Compression::none, "", count, width + 1, format);
    }
};

}  // namespace

void write_rutherford_boeing(const std::filesystem::path& path, const CsrMatrix& matrix) {
    const CsrMatrix columns = transpose(matrix);
    const FieldList pointers{static_cast<Offset>(columns.row_offsets.size()), 12, 6};
    const FieldList indices{columns.nonzeros(), 10, 8};
    const FieldList values{columns.nonzeros(), 25, 3};
    WholeFile file(path);
    file.write(fmt::format("{:72}{:8}\n", "Written by reading_benchmark", "reading"));
    file.write(fmt::format("{:14} {:13} {:13} {:13}\n", pointers.lines() + indices.lines() + values.lines(), pointers.lines(),
                           indices.lines(), values.lines()));
    file.write(fmt::format("rua{:11} {:13} {:13} {:13} {:13}\n", "", matrix.rows, matrix.columns, matrix.nonzeros(), 0));
    file.write(fmt::format("{:16}{:16}{:20}\n", "(6I12)", "(8I10)", "(3E25.16)"));
    pointers.write(file, [&](Offset i, char* place) { return fmt::format_to(place, "{:12}", columns.row_offsets[i] + 1); });
    indices.write(file, [&](Offset i, char* place) { return fmt::format_to(place, "{:10}", columns.column_indices[i] + 1); });
    values.write(file, [&](Offset i, char* place) { return fmt::format_to(place, "{:25.16E}", columns.values[i]); });
    file.finish();
}

void write_metis_graph(const std::filesystem::path& path, const CsrMatrix& matrix) {
    Offset neighbours = 0;
    Offset longest = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index column : matrix.row_columns(row)) neighbours += column == row ? 0 : 1;
        longest = std::max(longest, matrix.row_length(row));
    }
    const auto format = [&matrix](Offset first, Offset last, char* place) {
        for (Offset row = first; row < last; ++row) {
            for (const Index column : matrix.row_columns(static_cast<Index>(row))) {
                if (column == row) continue;
                place = append_number(place, Offset{column} + 1);
                *place++ = ' ';
            }
            *place++ = '\n';
        }
        return place;
    };
    WholeFile file(path);
    constexpr std::size_t longest_word = 11;
    write_items(file, Compression::none, fmt::format("{} {}\n", matrix.rows, neighbours / 2), matrix.rows,
                static_cast<std::size_t>(longest) * longest_word + 1, format);
    file.finish();
}

}  // namespace workbench
