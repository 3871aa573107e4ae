// run --sanitize, with a script in place of compute-sanitizer.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// A recipe with a kernel for a GPU, and a tool that notes its arguments, prints this and ends with this code.
struct Sanitized {
    Sanitized(const std::string& printed, int exit_code, const std::string& code = "") {
        const std::filesystem::path& at = folder.path();
        std::ofstream(at / "mine.toml") << "[layout]\nuse = 'csr'\n[kernel]\ncuda_source = 'mine.cu'\n";
        std::ofstream(at / "mine.cu") << code << "\n";
        std::ofstream(at / "compute-sanitizer") << "#!/bin/sh\necho \"$@\" >> '" << (at / "calls").string() << "'\nprintf '"
                                                << printed << "'\nexit " << exit_code << "\n";
        std::filesystem::permissions(at / "compute-sanitizer", std::filesystem::perms::owner_all);
        outcome = workbench_in(at, "run mine.toml --sanitize --generate laplace2d:nx=4 --set kernel.threads_per_row=2" + quick,
                               "PATH='" + at.string() + "':/usr/bin:/bin");
        calls = file_text(at / "calls");
    }
    [[nodiscard]] bool says(const std::string& text) const { return outcome.text.find(text) != std::string::npos; }

    TemporaryFolder folder;
    Outcome outcome;
    std::string calls;
};

}  // namespace

TEST_CASE("--sanitize runs both tools on small matrices, then the recipe") {
    const Sanitized one("========= ERROR SUMMARY: 0 errors\\n", 0);
    CHECK_MESSAGE(one.outcome.exit_code == 0, one.outcome.text);
    CHECK_MESSAGE(
        one.says("mine.cu: memcheck and racecheck find nothing on laplace2d:nx=20, elasticity3d:nx=4, random_uniform"),
        one.outcome.text);
    CHECK(one.says("Kernels"));
    CHECK(std::count(one.calls.begin(), one.calls.end(), '\n') == 6);
    CHECK(one.calls.find("--tool memcheck --error-exitcode 86 --target-processes all --report-api-errors no "
                         "--kernel-name-exclude kernel_substring=_ZN8cusparse ") == 0);
    CHECK(one.calls.find("--tool racecheck ") != std::string::npos);
    CHECK(one.calls.find(" run mine.toml --generate laplace2d:nx=20 --backend cuda ") != std::string::npos);
    CHECK(one.calls.find(" --only mine --set kernel.threads_per_row=2\n") != std::string::npos);
}

TEST_CASE("kernels of the vendor are not checked, unless the code has their name") {
    const Sanitized one("", 0, "namespace cusparse {}");
    CHECK_MESSAGE(one.outcome.exit_code == 0, one.outcome.text);
    CHECK(one.calls.find("--kernel-name-exclude") == std::string::npos);
}

TEST_CASE("what compute-sanitizer finds is an error, with its lines") {
    const Sanitized one("other output\\n========= Invalid __global__ read of size 8 bytes\\n=========     at multiply\\n", 86);
    CHECK(one.outcome.exit_code == 1);
    CHECK_MESSAGE(one.says("mine.cu: memcheck on laplace2d:nx=20 finds errors:\n========= Invalid __global__ read of size 8 "
                           "bytes\n=========     at multiply\n"),
                  one.outcome.text);
    CHECK_FALSE(one.says("other output"));
    CHECK(std::count(one.calls.begin(), one.calls.end(), '\n') == 1);

    const Sanitized no_gpu("error: no CUDA device\\n", 4);
    CHECK(no_gpu.outcome.exit_code == 4);
    CHECK_MESSAGE(no_gpu.says("memcheck on laplace2d:nx=20 ends with exit code 4: error: no CUDA device\n"),
                  no_gpu.outcome.text);
    const Sanitized unsuitable("", 3);
    CHECK(unsuitable.outcome.exit_code == 3);
    CHECK(unsuitable.says("mine.cu: suits none of laplace2d:nx=20, "));
}

TEST_CASE("--sanitize needs the tool, and code for a GPU beside the recipe") {
    const TemporaryFolder folder;
    const std::string command = "run '" + csr_file + "' --sanitize --generate laplace2d:nx=4" + quick;
    const Outcome without_tool = workbench_in(folder.path(), command, "PATH=/usr/bin:/bin");
    CHECK(without_tool.exit_code == 4);
    CHECK(without_tool.text == "error: --sanitize: compute-sanitizer, which is part of the CUDA toolkit, is not on PATH\n");
    std::ofstream(folder.path() / "compute-sanitizer") << "#!/bin/sh\n";
    std::filesystem::permissions(folder.path() / "compute-sanitizer", std::filesystem::perms::owner_all);
    const Outcome without_code = workbench_in(folder.path(), command, "PATH='" + folder.path().string() + "':/usr/bin:/bin");
    CHECK(without_code.exit_code == 2);
    CHECK(without_code.text == "error: --sanitize: expected a recipe with cuda_source, or with a format beside it\n");
}

}  // namespace workbench
