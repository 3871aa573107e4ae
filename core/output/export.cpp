#include "core/output/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "core/output/matrix_market_writer.hpp"
#include "core/output/numpy_writer.hpp"

namespace workbench {
namespace {

class Exporter {
public:
    Exporter(std::filesystem::path folder, ExportForms forms) : folder_(std::move(folder)), forms_(forms) {}

    using Write = std::function<void(WholeFile&)>;

    /// Writes the data as text and as a numpy file, as far as these forms are wanted.
    void add(const std::string& name, const std::string& holds, const std::string& text_ending, const Write& text,
             const std::string& numpy_ending, const Write& numpy) {
        if (forms_.text) add(name + text_ending, holds, text);
        if (forms_.numpy) add(name + numpy_ending, holds, numpy);
    }

    void add_list(const std::string& name, const std::string& holds, std::span<const Index> numbers) {
        const auto text = [&](WholeFile& file) {
            const auto count = static_cast<Offset>(numbers.size());
            const std::string start = fmt::format("# {}: {}\n", name, holds);
            write_items(file, Compression::none, start, count, 12, [&](Offset first, Offset last, char* place) {
                for (Offset i = first; i < last; ++i) {
                    place = append_number(place, Offset{numbers[i]});
                    *place++ = '\n';
                }
                return place;
            });
        };
        add(name, holds, ".txt", text, ".npy", [&](WholeFile& file) { write_npy(file, numpy_array(numbers)); });
    }

    [[nodiscard]] std::vector<ExportedFile> written() && { return std::move(written_); }

private:
    void add(const std::string& name, const std::string& holds, const Write& write) {
        WholeFile file(folder_ / name);
        write(file);
        file.finish();
        written_.push_back({name, holds});
    }

    std::filesystem::path folder_;
    ExportForms forms_;
    std::vector<ExportedFile> written_;
};

std::string axes_of(CutKind kind) {
    if (!cuts_columns(kind)) return "rows";
    return cuts_rows(kind) ? "rows and columns" : "columns";
}

void write_shares_text(WholeFile& file, const std::vector<Share>& shares, const std::string& holds) {
    std::string start =
        fmt::format("# {}\n# each line: share, row, nonzero; counted from 0, nonzeros numbered by rows\n", holds);
    for (std::size_t i = 0; i < shares.size(); ++i) start += fmt::format("# share {} is '{}'\n", i, name_of(shares[i].id));
    file.write(start);
    for (std::size_t number = 0; number < shares.size(); ++number) {
        const Share& share = shares[number];
        const auto& offsets = share.row_offsets;
        constexpr std::size_t longest_line = 3 * (longest_number + 1);
        write_items(file, Compression::none, "", offsets.back(), longest_line, [&](Offset first, Offset last, char* place) {
            Offset stored = std::upper_bound(offsets.begin(), offsets.end(), first) - offsets.begin() - 1;
            for (Offset i = first; i < last; ++i) {
                while (offsets[stored + 1] <= i) ++stored;
                place = append_number(place, static_cast<Offset>(number));
                *place++ = ' ';
                place = append_number(place, Offset{share.rows[stored]});
                *place++ = ' ';
                place = append_number(place, share.entries[i]);
                *place++ = '\n';
            }
            return place;
        });
    }
}

}  // namespace

void write_shares_numpy(WholeFile& file, const std::vector<Share>& shares) {
    std::size_t longest_name = 1;
    for (const Share& share : shares) longest_name = std::max(longest_name, name_of(share.id).size());
    const auto count = static_cast<std::int64_t>(shares.size());
    std::string names;
    std::vector<std::int64_t> row_begins{0};
    std::vector<std::int64_t> nonzero_begins{0};
    NumpyArray rows{"<i4", {0}, {}};
    NumpyArray nonzeros{"<i8", {0}, {}};
    for (const Share& share : shares) {
        const std::string name = name_of(share.id);
        names += name + std::string(longest_name - name.size(), '\0');
        row_begins.push_back(row_begins.back() + static_cast<std::int64_t>(share.rows.size()));
        const std::int64_t before = nonzero_begins.back();
        for (std::size_t i = 1; i < share.row_offsets.size(); ++i) nonzero_begins.push_back(before + share.row_offsets[i]);
        rows.pieces.push_back(std::as_bytes(std::span(share.rows)));
        nonzeros.pieces.push_back(std::as_bytes(std::span(share.entries)));
    }
    rows.shape = {row_begins.back()};
    nonzeros.shape = {nonzero_begins.back()};
    const std::array<NamedArray, 5> arrays{{
        {"names", {fmt::format("|S{}", longest_name), {count}, {std::as_bytes(std::span(names))}}},
        {"row_begins", numpy_array(std::span<const std::int64_t>(row_begins))},
        {"rows", rows},
        {"nonzero_begins", numpy_array(std::span<const std::int64_t>(nonzero_begins))},
        {"nonzeros", nonzeros},
    }};
    write_npz(file, arrays);
}

std::vector<ExportedFile> write_export(const std::filesystem::path& folder, const StagedMatrix& staged, ExportForms forms) {
    Exporter exporter(folder, forms);
    exporter.add(
        "matrix", "the matrix in its new order",                                     //
        ".mtx", [&](WholeFile& file) { write_matrix_market(file, staged.matrix); },  //
        ".npz", [&](WholeFile& file) { write_scipy_npz(file, staged.matrix); });
    exporter.add_list("row_old_of_new", "entry i is the row of the input that is row i of the matrix here, counted from 0",
                      staged.row_order.old_of_new());
    exporter.add_list("column_old_of_new",
                      "entry i is the column of the input that is column i of the matrix here, counted from 0",
                      staged.column_order.old_of_new());
    for (const Cuts& cuts : staged.cuts) {
        exporter.add_list(
            fmt::format("cuts_{}", name_of(cuts.kind)),
            fmt::format("piece i of the {} begins at entry i and ends before entry i + 1, counted from 0", axes_of(cuts.kind)),
            cuts.boundaries);
    }
    if (!staged.shares.empty()) {
        const std::string holds = "the share of each nonzero; the rows of a share are in storage order";
        exporter.add(
            "shares", holds,                                                                  //
            ".txt", [&](WholeFile& file) { write_shares_text(file, staged.shares, holds); },  //
            ".npz", [&](WholeFile& file) { write_shares_numpy(file, staged.shares); });
    }
    return std::move(exporter).written();
}

}  // namespace workbench
