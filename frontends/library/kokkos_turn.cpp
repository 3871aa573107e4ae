#include "frontends/library/kokkos_turn.hpp"

#include <omp.h>
#include <pthread.h>

#include <Kokkos_Core.hpp>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

std::mutex turn_of_one_thread;
thread_local bool has_turn = false;
thread_local bool locked_for_fork = false;
bool forked_during_turn = false;  // of another thread, which does not exist in this process

/// A child has only the thread that forks. OpenMP would wait for the other threads of its pool, so that it has none across a
/// fork; the next loop starts them again, in the parent and in the child.
void before_fork() {
    locked_for_fork = !has_turn && turn_of_one_thread.try_lock();
    if (omp_in_parallel() == 0) (void)omp_pause_resource_all(omp_pause_hard);
}
void after_fork_in_parent() {
    if (locked_for_fork) turn_of_one_thread.unlock();
}
void after_fork_in_child() {
    forked_during_turn = !locked_for_fork;
    after_fork_in_parent();
}

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
        if (forked_during_turn) return;  // Kokkos runs in the parent
        const KokkosTurn turn;           // this thread may not be the one that started Kokkos
        delete runtime;
    };
    static const std::shared_ptr<const KokkosRuntime> runtime = [&] {
        std::shared_ptr<const KokkosRuntime> started;
        if (!Kokkos::is_initialized()) started.reset(new KokkosRuntime, stop);
        remember_pool();
        (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        return started;
    }();
    return runtime;
}

bool in_parallel_region() { return omp_in_parallel() != 0; }

KokkosTurn::KokkosTurn() {
    if (in_parallel_region() || has_turn) return;
    if (forked_during_turn) {
        throw MachineError(
            "this process was forked while another thread of its parent used or made an operator; expected a fork "
            "while none is in use, or a new process (of Python's multiprocessing: the method spawn)");
    }
    lock_ = std::unique_lock(turn_of_one_thread);
    has_turn = true;
    lent_ = lend_pool();
    was_dynamic_ = omp_get_dynamic() != 0;
    if (was_dynamic_) omp_set_dynamic(0);
}

KokkosTurn::~KokkosTurn() {
    if (lock_.owns_lock()) has_turn = false;
    if (was_dynamic_) omp_set_dynamic(1);
    if (lent_) return_pool();
}

}  // namespace workbench
