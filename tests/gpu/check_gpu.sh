#!/usr/bin/env bash
# Checks the kernels on a machine with a GPU, from the unpacked package: prints the properties of the machine, runs all GPU tests,
# then memcheck and racecheck of compute-sanitizer on the small ones, and prints a table. Exit code 1 if a step failed, 77 if
# there is no GPU, otherwise 0, even if the sanitizer could not run.
#
#   libexec/spmv-workbench/check_gpu.sh [SECONDS]     limit for each step (default 300; on an H200 the longest takes about 120)
#
# racecheck detects races in shared memory only, so it runs the kernels that use shared memory. The head of each kernels/formats/*/cuda.cu
# explains why its threads cannot race in global memory.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "$here/../.." && pwd)
gpu_test="$here/gpu_test"
limit=${1:-300}
export OMP_PROC_BIND=false
export WORKBENCH_LAYOUT_RECIPES="$prefix/share/spmv-workbench/layouts"
table=()
failed=0
no_gpu=0

step() {  # step NAME COMMAND...: 77 means that the step was skipped
    local name=$1
    shift
    echo "== $name"
    local start=$SECONDS
    "$@"
    local rc=$? word
    case $rc in
        0) word=passed ;;
        77) word="SKIPPED" ;;
        124) word="FAILED: not done in $limit s" failed=1 ;;
        *) word="FAILED: exit code $rc" failed=1 ;;
    esac
    [[ $word == SKIPPED && $1 == timeout ]] && no_gpu=1
    table+=("$(printf '%-36s %5d s  %s' "$name" $((SECONDS - start)) "$word")")
    echo "-- $name: $word"
}

# shellcheck disable=SC2317  # called by step
sanitize() {  # sanitize TOOL DOCTEST_OPTIONS...
    local tool=$1 program
    shift
    if [[ $runtime == gVisor ]]; then
        echo "not run: compute-sanitizer does not support the devices of gVisor"
        return 77
    fi
    if ! program=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer); then
        echo "not run: compute-sanitizer is not installed"
        return 77
    fi
    timeout "$limit" "$program" --tool "$tool" --error-exitcode 1 "$gpu_test" --kokkos-disable-warnings "$@"
}

echo "== machine"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || echo "nvidia-smi does not answer"
kernel=$(uname -r)
if [[ $kernel == 4.4.0* ]] || dmesg 2>/dev/null | grep -qi gvisor; then
    runtime=gVisor
elif [[ $kernel == *-fc-* ]] || dmesg 2>/dev/null | grep -qi firecracker; then
    runtime=Firecracker
else
    runtime="neither Firecracker nor gVisor, according to its name"
fi
echo "kernel $kernel ($runtime), $(ldd --version | head -1), $(nproc) cores"
echo "cuSPARSE module: $(ldd "$prefix/lib/spmv-workbench/libworkbench_cusparse.so" 2>&1 | grep -E 'cusparse|nvJitLink|not found' | tr -s '\t\n ' ' ')"
echo "NCCL module: $(ldd "$prefix/lib/spmv-workbench/libworkbench_nccl.so" 2>&1 | grep -E 'nccl|not found' | tr -s '\t\n ' ' ')"

for suites in battery,shared_memory recorded_reads,device,krylov,timing large prepare,prepare_large kernel_source cusparse nccl; do
    step "GPU tests: $suites" timeout "$limit" "$gpu_test" --kokkos-disable-warnings -ts="$suites"
done
# One test provokes a refused allocation, which memcheck would count as an error.
step "compute-sanitizer memcheck" sanitize memcheck -ts=battery,shared_memory,device,krylov,prepare -tce="too much memory is refused*,every recipe of the layouts*"
step "memcheck: formats in one file" sanitize memcheck -tc="formats in one file*"
step "compute-sanitizer racecheck" sanitize racecheck -ts=shared_memory

echo "== summary"
printf '%s\n' "${table[@]}"
((failed)) && exit 1
((no_gpu)) && exit 77
exit 0
