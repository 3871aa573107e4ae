// Kernels that write their rows to other places of y, directly or through a buffer.
#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/measure/rows_kernel.hpp"
#include "pipeline/run/runner.hpp"
#include "support/given.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {
namespace {

const KernelEntry& kernel_named(const LayoutEntry& layout, const std::string& name) {
    for (const KernelEntry& kernel : layout.kernels) {
        if (kernel.name == name) return kernel;
    }
    throw std::logic_error("no kernel " + name);
}

struct Written {
    std::vector<double> y;
    std::ptrdiff_t scatters = 0;
    std::int64_t bytes = 0;
};

/// Writes the two rows 1 x and 2 x to given rows of a y that was 10, 20, 30, 40.
Written write(const std::string& kernel, const std::vector<Index>& rows, bool accumulate) {
    new_script();
    ScriptedDevice host({.kind = DeviceKind::host, .name = "a host", .processors = 1});
    std::vector<Entry> entries{{0, 0, 1}, {1, 0, 2}};
    const StagedMatrix staged = stage_input(csr_from_entries(2, 1, entries));
    const LayoutEntry& csr = *catalogue().find_layout("csr");
    const auto layout = build<double>(csr, staged);
    const auto prepared = prepare_rows_kernel<double>(kernel_named(csr, kernel), *layout, rows, host);
    const double x = 1;
    Written written{{10, 20, 30, 40}};
    prepared->run(&x, written.y.data(), accumulate);
    written.scatters = script().count("scatter") + script().count("scatter_add");
    written.bytes = prepared->own_bytes_to_move().value_or(layout->bytes_to_move()) - layout->bytes_to_move();
    return written;
}

}  // namespace

TEST_SUITE("rows kernel") {
    TEST_CASE("rows are written to their places and no others, by the kernel or from a buffer") {
        for (const std::string kernel : {"rows", "eigen"}) {
            CAPTURE(kernel);
            const std::ptrdiff_t scatters = kernel == "eigen" ? 1 : 0;
            const Written written = write(kernel, {3, 1}, false);
            CHECK(written.y == std::vector<double>{10, 2, 30, 1});
            CHECK(written.scatters == scatters);
            // A buffer of two results is written and read.
            CHECK(written.bytes == scatters * 2 * 2 * 8);
            const Written added = write(kernel, {2, 0}, true);
            CHECK(added.y == std::vector<double>{12, 20, 31, 40});
            CHECK(added.scatters == scatters);
        }
    }

    TEST_CASE("without a list of rows each row has its own place, and nothing is scattered") {
        for (const std::string kernel : {"rows", "eigen"}) {
            CAPTURE(kernel);
            const Written written = write(kernel, {}, false);
            CHECK(written.y == std::vector<double>{1, 2, 30, 40});
            CHECK(written.scatters == 0);
            CHECK(written.bytes == 0);
        }
    }

    TEST_CASE("a share without nonzeros moves no bytes") {
        std::vector<Entry> entries;
        for (Index i = 0; i < 30; ++i) entries.push_back({i, i, 1.5});
        const CsrMatrix matrix = csr_from_entries(30, 30, entries);
        ScriptedDevice host({.kind = DeviceKind::host, .name = "a host", .processors = 1});
        RunOptions options;
        options.backends = {Backend::kokkos};
        options.timing = {CacheState::warm, 0, 0};
        Runner runner(matrix, catalogue(), {host}, options);
        const std::string recipe =
            "[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 4\n"
            "[[layout]]\nshare = 'long'\nuse = 'csr'\n[[layout]]\nshare = 'short'\nuse = 'csr'\n";
        const RunReport report = runner.run(parse_recipe(recipe, "t.toml", catalogue()), {});
        CHECK(report.all_verified());
        std::vector<std::int64_t> bytes;  // of CSR and of both shares together
        for (const KernelOutcome& kernel : report.kernels) {
            if (kernel.share.empty()) bytes.push_back(kernel.bytes_to_move);
        }
        REQUIRE(bytes.size() == 2);
        CHECK(bytes[0] == bytes[1]);
    }
}

}  // namespace workbench
