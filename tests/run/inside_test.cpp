// Products timed inside the iterations of a solve: the vectors, the work before each product, and refused cases.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "run/scripted_runs.hpp"
#include "support/message_of.hpp"

namespace workbench {

namespace {

/// A x with x and y in another order: element i of the input's order is at place[i].
template <typename Value>
std::vector<double> permuted_product(const std::vector<double>& x, const std::vector<Index>& place) {
    const CsrMatrix& matrix = example();
    std::vector<double> y(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) {
        Value sum = 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            sum += static_cast<Value>(matrix.values[i]) * static_cast<Value>(x[place[matrix.column_indices[i]]]);
        }
        y[place[row]] = sum;
    }
    return y;
}

/// The iterations whose last product before the rest of the iteration was one of this kernel.
std::vector<Script::Iteration> iterations_of(const std::string& kernel) {
    std::vector<Script::Iteration> found;
    std::string last;
    std::size_t number = 0;
    for (const std::string& event : script().events) {
        if (event.starts_with("run ")) last = event.substr(4);
        if (event != "rest of iteration") continue;
        if (last == kernel) found.push_back(script().iterations.at(number));
        ++number;
    }
    return found;
}

template <typename Value>
void check_iterations(const std::string& stages, const std::string& kernel, const std::vector<Index>& place) {
    CAPTURE(stages);
    CAPTURE(kernel);
    std::vector<Script::Iteration> iterations = iterations_of(kernel);
    REQUIRE(iterations.size() >= 5 + 8);
    iterations.resize(5);  // those of the samples; numbers leave the range of f32 in the runs after them
    const std::vector<double> b = real_vector(4, 1);
    for (Index i = 0; i < 4; ++i) CHECK(iterations.front().x[place[i]] == static_cast<Value>(b[i]));
    for (std::size_t k = 0; k < iterations.size(); ++k) {
        CHECK(iterations[k].y == permuted_product<Value>(iterations[k].x, place));
        if (k > 0) CHECK(iterations[k].x == iterations[k - 1].y);
    }
}

template <typename Value>
void check_orders() {
    RunOptions options = options_of(CacheState::inside_cg);
    options.precisions = {precision_of<Value>};
    const std::vector<Index> as_it_is{0, 1, 2, 3};
    const std::vector<Index> reversed{3, 2, 1, 0};
    for (const std::string stages : {"", "[[stage]]\nuse = 'reverse'\n", "[[stage]]\nuse = 'rotate_rows'\n",
                                     "[[stage]]\nuse = 'reverse'\n[[stage]]\nuse = 'rotate_rows'\n"}) {
        price_everything();
        const RunReport report = run(stages + "[layout]\nuse = 'plain'\n", options);
        CHECK(report.cache == CacheState::inside_cg);
        CHECK(script().count("flush") == 0);
        CHECK(script().count("rest of iteration") >= (5 + 8) * 4);
        check_iterations<Value>(stages, "usual", as_it_is);
        for (const char* kernel : {"fast", "slow", "eigen"}) {
            check_iterations<Value>(stages, kernel, stages.find("reverse") == std::string::npos ? as_it_is : reversed);
        }
    }
}

}  // namespace

TEST_SUITE("inside CG") {
    TEST_CASE("each kernel has a separate solve, in the order of its x and for any order of rows") {
        check_orders<float>();
        check_orders<double>();
    }

    TEST_CASE("only the product is timed, including the permutation of y to the order of x") {
        price_everything();
        script().seconds["rest of iteration"] = {1000};
        const RunReport report =
            run("[[stage]]\nuse = 'rotate_rows'\n[layout]\nuse = 'plain'\n", options_of(CacheState::inside_cg));
        CHECK(kernel_of(report, "fast").timing.samples == std::vector<double>(5, 4.5));
        CHECK(kernel_of(report, "usual").timing.samples == std::vector<double>(5, 16));
        CHECK(to_json(report).find("\"cache\": \"inside cg\"") != std::string::npos);
        CHECK(to_text(report).find("\nKernels (inside CG)\n") != std::string::npos);
    }

    TEST_CASE("a kernel that is alone on its device repeats its products, too") {
        price_everything();
        (void)run("[layout]\nuse = 'csr'\n", options_of(CacheState::inside_cg));
        const int verified = ExactProblem(example()).vector_count() + 3;
        const std::ptrdiff_t after = script().count("run usual") - (verified + 1 + 2 * 5);
        CHECK(after >= 8);
        CHECK(after <= 15);
        CHECK(script().count("rest of iteration") == 5 + after);
    }

    TEST_CASE("a matrix that is not square, and a device that cannot iterate") {
        new_script();
        const CsrMatrix wide = csr_from_entries(1, 2, std::vector<Entry>{{0, 1, 0.5}});
        CHECK(message_of<InputError>([&] {
                  (void)run("[layout]\nuse = 'plain'\n", options_of(CacheState::inside_cg), false, wide);
              }) == "the matrix has 1 row and 2 columns; expected a square one, to time inside CG");
        CHECK(script().count("build plain") == 0);
        script().solves = false;
        CHECK(message_of<MachineError>([] { (void)run("[layout]\nuse = 'plain'\n", options_of(CacheState::inside_cg)); }) ==
              "inside CG: a host cannot iterate");
    }

    TEST_CASE("a whole recipe on this machine, including matrices on which CG does not converge and empty ones") {
        const auto host = make_host_device();
        for (const CsrMatrix& matrix :
             {example(), csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 1}, {1, 1, -2}, {2, 2, 1}}),
              csr_from_entries(2, 2, std::vector<Entry>{}), csr_from_entries(0, 0, std::vector<Entry>{})}) {
            RunOptions options;
            options.precisions = {Precision::f64, Precision::f32};
            options.timing = {CacheState::inside_cg, 5, 0, 1};
            Runner runner(matrix, catalogue(), {*host}, options);
            const RunReport report = runner.run(
                parse_recipe("[[stage]]\nuse = 'row_sort'\napply = 'rows'\n[layout]\nuse = 'sell'\n", "a.toml", catalogue()),
                {});
            CHECK(report.all_verified());
            for (const KernelOutcome& kernel : report.kernels) {
                CAPTURE(kernel.kernel);
                CHECK(kernel.verified());
                CHECK(kernel.timing.samples.size() >= 5);
            }
        }
    }
}

}  // namespace workbench
