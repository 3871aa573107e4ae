// Solves on a GPU.
#include <doctest/doctest.h>

#include "core/contract/krylov.hpp"
#include "kernels/gpu/gpu.hpp"
#include "support/layouts/krylov_checks.hpp"

namespace workbench {

TEST_SUITE("krylov") {
    TEST_CASE("solves on the GPU agree with Eigen") {
        const auto device = make_cuda_device();
        for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
            for (const Precision precision : {Precision::f32, Precision::f64}) {
                CAPTURE(name_of(method));
                CAPTURE(name_of(precision));
                check_solves_like_eigen(*device, method, precision);
            }
        }
    }

    TEST_CASE("a solve in pieces, restarted or reordered") {
        const auto device = make_cuda_device();
        for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
            CAPTURE(name_of(method));
            check_limits_and_restarts(*device, method);
            check_reordering(*device, method);
        }
    }

    TEST_CASE("several right-hand sides on the GPU give what each gives alone") {
        const auto device = make_cuda_device();
        check_several_right_sides(*device, Precision::f32, false);
        check_several_right_sides(*device, Precision::f64, false);
    }

    TEST_CASE("solves that cannot converge end with the reason") { check_ends_without_convergence(*make_cuda_device()); }
}

// Without a graph: racecheck crashes on some graphs with loops.
TEST_SUITE("shared_memory") {
    TEST_CASE("iterations with products of the caller") {
        const auto device = make_cuda_device();
        check_iterations_apart(*device, Precision::f32);
        check_iterations_apart(*device, Precision::f64);
    }

    TEST_CASE("several right-hand sides begin and restart") { check_beginnings_of_several(*make_cuda_device()); }
}

}  // namespace workbench
