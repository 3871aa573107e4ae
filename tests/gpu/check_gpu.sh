#!/usr/bin/env bash
# Checks the kernels on a machine with a GPU, from the unpacked package: prints what the machine is, runs all GPU tests, then
# compute-sanitizer's memcheck and racecheck over the small ones. Ends with a table. Exit code 1 if anything in it failed, 77 if
# there is no GPU to run the tests on, else 0, also where the sanitizer could not be run.
#
#   libexec/spmv-workbench/check_gpu.sh [SECONDS]     limit for each step (default 300; on an H200 the longest takes about 120)
#
# racecheck detects races in shared memory only, so it runs the kernels that use shared memory. The head of each kernels/*/cuda.cu
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

# shellcheck disable=SC2317  # called by way of step
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
    runtime="neither Firecracker nor gVisor, as far as its name tells"
fi
echo "kernel $kernel ($runtime), $(ldd --version | head -1), $(nproc) cores"
echo "cuSPARSE module: $(ldd "$prefix/lib/spmv-workbench/libworkbench_cusparse.so" 2>&1 | grep -E 'cusparse|nvJitLink|not found' | tr -s '\t\n ' ' ')"
echo "NCCL module: $(ldd "$prefix/lib/spmv-workbench/libworkbench_nccl.so" 2>&1 | grep -E 'nccl|not found' | tr -s '\t\n ' ' ')"

for suites in battery,shared_memory recorded_reads,device,krylov,timing large prepare,prepare_large kernel_source cusparse nccl; do
    step "GPU tests: $suites" timeout "$limit" "$gpu_test" --kokkos-disable-warnings -ts="$suites"
done
# memcheck counts an allocation that is refused as an error, which one of the tests provokes.
step "compute-sanitizer memcheck" sanitize memcheck -ts=battery,shared_memory,device,krylov,prepare -tce="memory that is not there*,every recipe of the layouts*"
step "compute-sanitizer racecheck" sanitize racecheck -ts=shared_memory

echo "== summary"
printf '%s\n' "${table[@]}"
((failed)) && exit 1
((no_gpu)) && exit 77
exit 0
