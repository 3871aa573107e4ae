// workbench storage
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/command.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/precision.hpp"
#include "pipeline/contract/storage_size.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

struct StorageArguments {
    std::string file;
    std::string member;  // of an archive
    std::vector<Index> slice_heights{32, 512};
    std::vector<double> alphas{0.01};
    bool json = false;
};

/// Sizes of the same formats in both precisions.
struct Storage {
    std::vector<StorageSize> f32;
    std::vector<StorageSize> f64;
};

double padding(const StorageSize& size, Offset nonzeros) {
    return size.slots == 0 ? 0 : 1 - static_cast<double>(nonzeros) / static_cast<double>(size.slots);
}

void print_table(const MatrixReport& matrix, const Storage& storage) {
    fmt::print("{}: {}\n\n", matrix.source, size_text(matrix.rows, matrix.columns, matrix.nonzeros));
    TextTable table;
    table.header = {"format", "height", "alpha", "slots", "padding", "f32 bytes", "f64 bytes", "f64 B/nonzero"};
    for (std::size_t i = 0; i < storage.f64.size(); ++i) {
        const StorageSize& size = storage.f64[i];
        const double each = static_cast<double>(size.bytes) / static_cast<double>(matrix.nonzeros);
        table.rows.push_back({size.format, size.height == 0 ? "-" : std::to_string(size.height),
                              size.alpha ? fmt::format("{}", *size.alpha) : "-", with_commas(size.slots),
                              fmt::format("{:.1f} %", 100 * padding(size, matrix.nonzeros)), with_commas(storage.f32[i].bytes),
                              with_commas(size.bytes), matrix.nonzeros == 0 ? "-" : significant(each)});
    }
    fmt::print("{}\nheight: rows per slice or block; alpha: minimum fraction of a length group. Indices have 32 bits.\n",
               table.text());
}

void print_json(const MatrixReport& matrix, const Storage& storage) {
    using Json = nlohmann::ordered_json;
    Json formats = Json::array();
    for (std::size_t i = 0; i < storage.f64.size(); ++i) {
        const StorageSize& size = storage.f64[i];
        formats.push_back({{"format", size.format},
                           {"height", size.height == 0 ? Json(nullptr) : Json(size.height)},
                           {"alpha", size.alpha ? Json(*size.alpha) : Json(nullptr)},
                           {"slots", size.slots},
                           {"padding", padding(size, matrix.nonzeros)},
                           {"bytes_f32", storage.f32[i].bytes},
                           {"bytes_f64", size.bytes}});
    }
    const Json all{{"source", matrix.source},
                   {"rows", matrix.rows},
                   {"columns", matrix.columns},
                   {"nonzeros", matrix.nonzeros},
                   {"storage", formats}};
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

ExitCode storage(const StorageArguments& arguments) {
    for (const double alpha : arguments.alphas) {
        if (alpha >= 0 && alpha <= 1) continue;  // false for NaN
        throw RecipeError(fmt::format("--alpha: found {}, expected a number from 0 to 1", alpha));
    }
    const KokkosRuntime kokkos;
    const auto [matrix, report] = load_matrix({MatrixFile{arguments.file, arguments.member}});
    const auto sizes = [&, &matrix = matrix](Precision precision) {
        return storage_sizes(catalogue(), matrix, arguments.slice_heights, arguments.alphas, {.value = value_bytes(precision)});
    };
    const Storage found{sizes(Precision::f32), sizes(Precision::f64)};
    arguments.json ? print_json(report, found) : print_table(report, found);
    return ExitCode::ok;
}

}  // namespace

void add_storage_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "storage", "Show the storage size of a matrix in common formats", storage);
    command.add_option("matrix", arguments.file, fmt::format("Matrix file: {}", readable_files))
        ->required()
        ->type_name("MATRIX");
    command
        .add_option("--slice-height", arguments.slice_heights, "Slice heights for SELL and Staircase SELL (default: 32,512)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(1, 65536))
        ->type_name("ROWS");
    command
        .add_option("--alpha", arguments.alphas,
                    "Minimum fraction of the rows in a length group of Staircase SELL (default: 0.01)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("SHARE");
    command.add_flag("--json", arguments.json, "Print one JSON object");
    add_read_options(command, arguments.member);
}

}  // namespace workbench
