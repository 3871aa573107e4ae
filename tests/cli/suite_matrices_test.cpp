// The meaning of options: the matrices of a bench, backends, and the folder of kept results.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "frontends/cli/measuring.hpp"
#include "frontends/cli/options.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/suite_matrices.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

void write_matrix_file(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

/// The names of the matrices of a suite that lists these paths, and "generated" ones.
std::vector<std::string> matrix_names(const std::vector<std::filesystem::path>& paths,
                                      const std::vector<std::string>& generated = {}) {
    Suite suite;
    for (const std::filesystem::path& path : paths) suite.matrices.push_back({path.string(), ""});
    for (const std::string& kind : generated) suite.generated.push_back({kind, ""});
    std::vector<std::string> names;
    for (const BenchMatrix& matrix : matrices_of(suite, "s.toml").here) names.push_back(matrix.name);
    return names;
}

using MatrixNames = std::vector<std::string>;

}  // namespace

TEST_CASE("a matrix that is named by its folder and by itself is measured once") {
    const TemporaryFolder folder;
    const std::filesystem::path mats = folder.path() / "mats";
    write_matrix_file(mats / "a.mtx", "1");
    write_matrix_file(mats / "b.mtx", "22");
    CHECK(matrix_names({mats}) == MatrixNames{"mats/a.mtx", "mats/b.mtx"});
    CHECK(matrix_names({mats, mats / "b.mtx"}) == MatrixNames{"mats/a.mtx", "mats/b.mtx"});
    CHECK(matrix_names({mats / "b.mtx", mats, mats / "." / "a.mtx"}) == MatrixNames{"mats/b.mtx", "mats/a.mtx"});
    CHECK(matrix_names({mats / "b.mtx"}, {"laplace2d:nx=3", "laplace2d:nx=3"}) == MatrixNames{"mats/b.mtx", "laplace2d:nx=3"});
    // Files of one name and different sizes are different matrices.
    write_matrix_file(folder.path() / "other" / "mats" / "a.mtx", "333");
    CHECK(matrix_names({mats, folder.path() / "other" / "mats"}) == MatrixNames{"mats/a.mtx", "mats/b.mtx", "mats/a.mtx"});
}

TEST_CASE("a named matrix has the sizes that its suite states") {
    const TemporaryFolder folder;
    write_matrix_file(folder.path() / "G" / "a.mtx", "1");
    Suite suite;
    suite.source = "a paper";
    suite.matrices = {{folder.path().string(), ""}};
    suite.named = {{.group = "G", .name = "a", .rows = 12, .nonzeros = 34}};
    const SuiteMatrices found = matrices_of(suite, "s.toml");
    REQUIRE(found.here.size() == 1);
    CHECK(found.missing == 0);
    CHECK(found.here[0].name == "G/a");
    CHECK(found.here[0].facts.source == "a paper");
    CHECK(found.here[0].facts.rows == 12);
    CHECK(found.here[0].facts.nonzeros == 34);
}

TEST_CASE("--seconds beyond the limit of a kernel's time doubles that limit") {
    MeasuringArguments arguments;
    arguments.seconds = 0.5;
    CHECK(options_of(arguments).timing.minimum_seconds == 0.5);
    CHECK(options_of(arguments).timing.maximum_seconds == 2);
    arguments.seconds = 5;
    CHECK(options_of(arguments).timing.minimum_seconds == 5);
    CHECK(options_of(arguments).timing.maximum_seconds == 10);
}

TEST_CASE("backends of one device: those of the GPU by default if there is one, and always the baseline's") {
    using Backends = std::vector<Backend>;
    const Backends host{Backend::kokkos, Backend::eigen, Backend::cpu};
    const Backends gpu{Backend::cuda, Backend::cusparse};
    CHECK(backends_of_one_device({}, false) == host);
    CHECK(backends_of_one_device({}, true) == gpu);
    CHECK(backends_of_one_device({"kokkos"}, true) == Backends{Backend::kokkos, Backend::eigen});
    CHECK(backends_of_one_device({"cpu", "kokkos"}, false) == host);
    CHECK(backends_of_one_device({"cuda"}, true) == gpu);
    CHECK(backends_of_one_device({"cusparse"}, true) == Backends{Backend::cusparse});
    CHECK_THROWS_AS((void)backends_of_one_device({"cuda"}, false), MachineError);
    CHECK_THROWS_AS((void)backends_of_one_device({"cuda", "eigen"}, true), RecipeError);
}

TEST_CASE("words of a command line are quoted for a shell") {
    CHECK(quoted_for_shell("plain-1.5/a=b,c:d") == "plain-1.5/a=b,c:d");
    CHECK(quoted_for_shell("") == "''");
    CHECK(quoted_for_shell("two words") == "'two words'");
    CHECK(quoted_for_shell("it's") == R"('it'\''s')");
}

TEST_CASE("the key of kept results contains the program and the machine") {
    const TemporaryFolder folder;
    const CsrMatrix matrix = csr_from_entries(1, 1, std::vector<Entry>{{0, 0, 1}});
    const auto key_on = [&](int threads, const std::string& processor) {
        const ScriptedDevice host({DeviceKind::host, processor, threads, 0, 0, 0});
        return keep_folder((folder.path() / "kept").string(), host)->key_of(matrix).text;
    };
    const std::string key = key_on(8, "a processor");
    CHECK(key.find("workbench ") != std::string::npos);  // its version, beside those of the libraries
    CHECK(key.find(", program " + checksum_of_program() + ", on 8 threads of a processor\n") != std::string::npos);
    CHECK(key != key_on(7, "a processor"));
    CHECK(key != key_on(8, "another processor"));
    CHECK(key == key_on(8, "a processor"));
    CHECK_FALSE(keep_folder("", ScriptedDevice({})).has_value());
}

}  // namespace workbench
