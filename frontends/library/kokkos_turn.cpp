#include "frontends/library/kokkos_turn.hpp"

#include <omp.h>

#include <Kokkos_Core.hpp>

#include "core/contract/errors.hpp"
#include "core/matrix/host_threads.hpp"

namespace workbench {
namespace {

std::mutex turn_of_one_thread;

#if __has_include(<OpenMP/Kokkos_OpenMP_Exec.hpp>)
// Up to version 3.5, Kokkos runs loops only from the thread that initialised it, whose thread-local variable points to the
// pool.
Kokkos::Impl::OpenMPExec* pool = nullptr;

void remember_pool() { pool = Kokkos::Impl::t_openmp_instance; }

/// Also makes this thread a master. Returns false if it already was one.
bool lend_pool() {
    if (Kokkos::Impl::t_openmp_instance != nullptr) return false;
    Kokkos::Impl::t_openmp_instance = pool;
    return true;
}

void return_pool() { Kokkos::Impl::t_openmp_instance = nullptr; }
#else
void remember_pool() {}
bool lend_pool() { return false; }
void return_pool() {}
#endif

}  // namespace

std::shared_ptr<const KokkosRuntime> running_kokkos() {
    const auto stop = [](const KokkosRuntime* runtime) {
        const KokkosTurn turn;  // this thread may not be the one that started Kokkos
        delete runtime;
    };
    static const std::shared_ptr<const KokkosRuntime> runtime = [&] {
        std::shared_ptr<const KokkosRuntime> started;
        if (!Kokkos::is_initialized()) {
            started.reset(new KokkosRuntime, stop);
        } else if (host_threads() < 1) {
            throw MachineError("the Kokkos that this program initialised has no threads; expected at least 1");
        }
        remember_pool();
        return started;
    }();
    return runtime;
}

bool in_parallel_region() { return omp_in_parallel() != 0; }

KokkosTurn::KokkosTurn() {
    if (in_parallel_region()) return;
    lock_ = std::unique_lock(turn_of_one_thread);
    lent_ = lend_pool();
    was_dynamic_ = omp_get_dynamic() != 0;
    if (was_dynamic_) omp_set_dynamic(0);
}

KokkosTurn::~KokkosTurn() {
    if (was_dynamic_) omp_set_dynamic(1);
    if (lent_) return_pool();
}

}  // namespace workbench
