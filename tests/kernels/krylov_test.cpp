// Solves on the host.
#include <doctest/doctest.h>

#include "kernels/device/host_device.hpp"
#include "support/layouts/krylov_checks.hpp"

namespace workbench {

TEST_CASE("solves on the host agree with Eigen") {
    const auto host = make_host_device();
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
        for (const Precision precision : {Precision::f32, Precision::f64}) {
            CAPTURE(name_of(method));
            CAPTURE(name_of(precision));
            check_solves_like_eigen(*host, method, precision);
        }
        check_limits_and_restarts(*host, method);
        check_reordering(*host, method);
    }
    check_ends_without_convergence(*host);
}

TEST_CASE("iterations on the host with products of the caller") {
    const auto host = make_host_device();
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        CAPTURE(name_of(precision));
        check_iterations_apart(*host, precision);
    }
}

}  // namespace workbench
