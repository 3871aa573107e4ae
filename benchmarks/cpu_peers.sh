#!/bin/sh
# Times the products of docs/results/cpu-peers.md, for each number of cores with as many threads, and PETSc with as many ranks:
#
#     [CORES="1 2 16"] [MPIRUN="mpirun --bind-to none"] benchmarks/cpu_peers.sh PROGRAM [--precision f32] [--repeat 9] > FILE
#     benchmarks/cpu_peers_table.py FILE
#
# PROGRAM: cpu_peers_benchmark. Numbers of cores that the machine lacks are left out.
set -eu
program=$1
shift
set -- "$program" --tuned "$@" \
    "laplace3d:nx=140" \
    "elasticity3d:nx=40; node_blocks" \
    "delaunay:nx=1000,scramble=1" \
    "delaunay:nx=1000,scramble=1; cuthill_mckee" \
    "finite_volume:nx=80" \
    "rmat:scale=19" \
    "random_uniform:rows=1000000,shortest=16,longest=16"
for cores in ${CORES:-1 2 16}; do
    if [ "$cores" -gt "$(nproc)" ]; then
        echo "left out: $cores cores, of which the machine has $(nproc)" >&2
        continue
    fi
    OMP_NUM_THREADS=$cores OMP_PROC_BIND=false "$@"
    case " $* " in
        *" f32 "*) continue ;;
    esac
    [ "$cores" -eq 1 ] || OMP_NUM_THREADS=1 OMP_PROC_BIND=false ${MPIRUN:-mpirun --bind-to none} -n "$cores" "$@"
done
